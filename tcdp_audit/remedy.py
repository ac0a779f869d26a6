"""What a remedy is: registered code that changes a release so that it passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A way to repair a release.

    Args:
        name: snake_case name, unique among all plugins.
        title: what a person calls it.
        summary: one sentence on what it changes.
        source: paper and definition number.
        apply: changes the table of a release under its parameters.
    """

    name: str
    title: str
    summary: str
    source: str
    apply: Callable[..., Any]
