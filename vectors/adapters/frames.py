"""What the adapters of tools for pandas have in common: a table as text, and its declared numbers as numbers."""

from __future__ import annotations

from typing import Any

from vectors.adapters import LacksError
from vectors.reading import Vector
from vectors.reference.classes import missing, roles

NO_CONVENTION = {
    "missing_quasi_identifier": "no choice of what a missing quasi-identifier is",
    "missing_sensitive": "no choice of what a missing sensitive value is",
    "suppressed": "no suppressed records that are exempt",
    "reference": "no reference distribution but the table's own",
    "known_rows": "no people with several rows",
}


def frame(vector: Vector) -> Any:
    """The table, every cell as text, missing cells as NaN, and columns of numbers as numbers."""
    import pandas as pd  # noqa: PLC0415 - only the tool's environment has it

    table = pd.read_csv(vector.path, dtype=str, keep_default_na=False, na_values=missing(vector))
    for name, one in vector.declared["attributes"].items():
        if one.get("scale") == "numeric" and one["role"] == "sensitive":
            table[name] = pd.to_numeric(table[name])
        elif one.get("scale") == "ordinal":
            table[name] = table[name].map({value: rank for rank, value in enumerate(one["order"])})
    return table


def require_plain(vector: Vector, *, others_known: bool = False) -> None:
    """Raise LacksError for a convention that tools for single tables have not."""
    for name, reason in NO_CONVENTION.items():
        if name in vector.conventions:
            raise LacksError(reason)
    multiple = vector.conventions.get("multiple_sensitive", "per_attribute")
    if multiple == "joint" or (multiple != "per_attribute" and not others_known):
        raise LacksError("no secrets that are joined")
    if "unit" in vector.declared:
        raise LacksError("no people with several rows")
    if "population" in vector.declared:
        raise LacksError("no population")


def quasi(vector: Vector) -> list[str]:
    """The quasi-identifiers."""
    return roles(vector, "quasi_identifier")
