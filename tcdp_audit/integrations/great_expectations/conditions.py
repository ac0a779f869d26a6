"""A row condition in words; what it says was written by whoever wrote the suite."""

from __future__ import annotations

from typing import Any

from great_expectations.expectations.row_conditions import deserialize_row_condition


def condition_text(condition: Any) -> str:
    """The condition as Great Expectations writes it; nothing where there is none."""
    if condition is None:
        return ""
    return condition if isinstance(condition, str) else repr(deserialize_row_condition(condition))
