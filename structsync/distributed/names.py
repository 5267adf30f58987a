"""What a name of something shared is."""

from __future__ import annotations


def check_name(name: object) -> None:
    """Raise TypeError or ValueError unless this is a name with a prefix."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {name!r}")
    if not name.partition("/")[0]:
        raise ValueError(f"name must begin with a prefix that is not empty, not {name!r}")
    check_encodable("name", name)


def check_encodable(what: str, text: str) -> None:
    """Raise ValueError unless an engine can store this as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{what} must be encodable as UTF-8, not {text!r}; replace the lone surrogate "
            f"{text[error.start]!r} at index {error.start}"
        ) from None
