"""One run of an explored program: the engines, its handle, its oracles."""
