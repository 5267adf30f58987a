"""What a name of something shared is."""

from __future__ import annotations


def check_name(name: object) -> None:
    """Raise TypeError or ValueError unless this is a name with a prefix."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {name!r}")
    if not name.partition("/")[0]:
        raise ValueError(f"name must begin with a prefix that is not empty, not {name!r}")
