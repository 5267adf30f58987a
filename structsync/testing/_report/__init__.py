"""A failure as people read it."""
