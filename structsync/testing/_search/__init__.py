"""Which runs are tried, and what decides in each of them."""
