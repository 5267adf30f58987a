"""Calls of objects in other processes: messages of data, each of which is carried out at most once."""
