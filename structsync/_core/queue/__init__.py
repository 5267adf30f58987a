"""Which task waits for what, in which order, and which is granted next: the discipline behind every primitive."""
