"""The public classes: docstrings, checks of arguments, no decisions."""
