"""The command line: ``structsync explore``."""
