"""Which runs are tried, and who decides in each of them."""
