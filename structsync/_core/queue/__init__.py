"""Who waits for what, in which order, and who is granted next: the discipline behind every primitive."""
