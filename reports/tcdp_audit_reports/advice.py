"""A step of what to do next."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Advice:
    """A step: what to do, why, and lines of a policy and a command where there are any."""

    head: str
    text: str
    command: str = ""
    lines: str = ""
