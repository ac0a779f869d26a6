"""Other documented definitions of a measure: an answer by one of them is a difference of convention, not a mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vectors.reading import Vector
from vectors.reference.answers import answer

ABSENT = "values that a class lacks are ignored (ARX, pyCANON)"


def readings(vector: Vector) -> Mapping[str, Any]:
    """The answers under other definitions, where they differ."""
    if vector.measure == "delta_disclosure" and "absent_values" not in vector.parameters:
        other = answer(replace(vector, parameters={**vector.parameters, "absent_values": "ignored"}))
        if other[0] != vector.answer:
            return {ABSENT: {"answer": other[0], **({"verdict": other[1]} if other[1] else {})}}
    return {}
