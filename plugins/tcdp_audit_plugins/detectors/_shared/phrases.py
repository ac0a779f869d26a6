"""What columns are called, written as a list with commas."""

from __future__ import annotations


def phrases(listed: str) -> tuple[str, ...]:
    """The phrases of a text, separated by commas.

    Example:
        >>> phrases("phone, phone number")
        ('phone', 'phone number')
    """
    return tuple(" ".join(one.split()) for one in listed.split(","))
