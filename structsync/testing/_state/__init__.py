"""What a state is made of, and when two are the same."""
