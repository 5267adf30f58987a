"""What structsync promises, as specifications that a person reads and `structsync check` runs."""
