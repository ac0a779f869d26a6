"""Printing to stdout where the terminal may lack a character."""

from __future__ import annotations

import io
import sys


def write(text: str) -> None:
    """Print a text as it is; a character that the encoding lacks is written as its escape."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text)
