"""A failure, told to people."""
