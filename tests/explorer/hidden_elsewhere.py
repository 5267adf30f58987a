"""What a function imports when it runs."""

last = 0
