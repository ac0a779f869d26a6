"""tcdp-audit: a policy for each vector."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vectors.adapters import RefusesError, Reply, digits
from vectors.reading import Vector, rows
from vectors.reference.answers import threshold_of

PACKAGE = "tcdp-audit"
SITE = ""
WHOLE = {"k", "p", "l", "at_least", "m", "n", "max_size", "points", "at"}
DECIMAL = {
    ("entropy_l_diversity", "l"),
    ("dominance", "k"),
    ("p_percent", "p"),
    ("sd_interval_disclosure", "p"),
    ("rank_interval_disclosure", "p"),
}
DISTANCE = "t_closeness_"
DETAIL = {"suda_score": ("suda", "highest_score"), "singling_out": ("singling_out", "success")}
COMPANIONS = ("original", "population")


def answer(vector: Vector) -> Reply:
    """The outcome of the vector's expectation."""
    from tcdp_audit import audit  # noqa: PLC0415 - only its own environment has it
    from tcdp_audit.core.base.errors import DataError  # noqa: PLC0415

    if "attributes" not in vector.declared:
        return _of_cells(vector)
    tables = {name: vector.folder / vector.declared[name]["table"] for name in COMPANIONS if name in vector.declared}
    try:
        result = audit(vector.path, policy(vector), **tables)
    except DataError as error:
        raise RefusesError(str(error)) from error
    return reply(vector, result.expectations[0])


def _of_cells(vector: Vector) -> Reply:
    from tcdp_audit import audit  # noqa: PLC0415

    declared = vector.declared
    with TemporaryDirectory() as folder:
        if vector.measure == "cell_frequency":
            labels: dict[str, Any] = {name: {} for name in declared["labels"]}
            table = {
                "file": str(vector.path),
                "dimensions": labels,
                "measures": {declared["count"]: {"counts": "people"}},
            }
            more: dict[str, Any] = {}
        else:
            file = Path(folder) / "cells.csv"
            file.write_text(_sums(vector), encoding="utf-8")
            measures = {"total": {"sum": declared["value"], "decimals": "exact"}}
            table = {"file": str(file), "dimensions": {declared["cell"]: {}}, "measures": measures}
            more = {"microdata": {"file": str(vector.path), "unit": declared["unit"]}}
        question = {"version": 1, "tables": {"cells": table}, **more, "expect": [expectation(vector)]}
        return reply(vector, audit(None, question).expectations[0])


def _sums(vector: Vector) -> str:
    sums: dict[str, Fraction] = {}
    for row in rows(vector.path):
        cell = row[vector.declared["cell"]]
        sums[cell] = sums.get(cell, Fraction(0)) + Fraction(row[vector.declared["value"]])
    lines = [f"{vector.declared['cell']},total", *(f"{cell},{total}" for cell, total in sums.items())]
    return "\n".join(lines) + "\n"


def policy(vector: Vector) -> dict[str, Any]:
    """The vector's question as a policy."""
    declared = {name: one for name, one in vector.declared.items() if name not in COMPANIONS}
    return {"version": 1, **declared, "conventions": dict(vector.conventions), "expect": [expectation(vector)]}


def expectation(vector: Vector) -> dict[str, Any]:
    """The vector's measure as an expectation."""
    name = DETAIL.get(vector.measure, (vector.measure, ""))[0]
    given = {key: _number(vector.measure, key, one) for key, one in vector.parameters.items()}
    if name.startswith(DISTANCE):
        name, given = "t_closeness", {**given, "distance": name.removeprefix(DISTANCE)}
    if "count" in vector.declared.get("population", {}):
        given["count"] = vector.declared["population"]["count"]
    return {name: given}


def _number(measure: str, key: str, value: Any) -> Any:
    whole = (key in WHOLE and (measure, key) not in DECIMAL) or (measure, key) == ("age_cap", "at_most")
    return int(value) if whole else value


def reply(vector: Vector, outcome: Any) -> Reply:
    """An outcome as an answer; raises RefusesError for an error."""
    status = outcome.status.value
    if status == "error":
        raise RefusesError(outcome.message)
    detail = DETAIL.get(vector.measure, ("", ""))[1]
    figure = outcome.details[detail] if detail else outcome.observed
    verdicts: Mapping[str, str] = {"passed": "pass", "failed": "fail"}
    demanded = threshold_of(vector.measure)[0] in vector.parameters  # what nothing can fail is measured: it is kept
    return Reply(digits(figure), verdicts.get(status, "pass") if demanded else "")
