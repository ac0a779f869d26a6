"""ACRO: a table of sums or counts, and the status that it gives each cell."""

from __future__ import annotations

import logging
from fractions import Fraction
from typing import Any

from vectors.adapters import LacksError, Reply
from vectors.reading import Vector, rows

PACKAGE = "acro"
CHECKS = {"dominance": "NKCheck", "p_percent": "PPercentCheck", "cell_frequency": "MinimumThresholdCheck"}
READINGS = {"dominance": "a share of exactly k percent is unsafe"}


def answer(vector: Vector) -> Reply:
    """Whether no cell fails the one rule that is asked; the others are switched off by their parameters."""
    import pandas as pd  # noqa: PLC0415 - only its own environment has it
    from acro import ACRO  # noqa: PLC0415

    if vector.measure not in CHECKS:
        raise LacksError("no such measure")
    logging.disable(logging.CRITICAL)
    declared, given = vector.declared, vector.parameters
    session = ACRO(suppress=False)
    appetite = session.sdc_checks.risk_appetite
    if vector.measure == "cell_frequency":
        counts = [int(row[declared["count"]]) for row in rows(vector.path)]
        if not all(counts):
            raise LacksError("a cell without a record is no cell of a crosstab")
        appetite["safe_threshold"] = int(given["k"])
        wards = [ward for ward, n in enumerate(counts) for _ in range(n)]
        session.crosstab(pd.Series(wards, name="ward"), pd.Series(["x"] * len(wards), name="all"))
    else:
        appetite["safe_threshold"] = 1
        appetite |= _rules(vector)
        table = pd.DataFrame(list(rows(vector.path)))
        if table.duplicated([declared["cell"], declared["unit"]]).any():
            raise LacksError("no people with several rows")
        everything = pd.Series(["x"] * len(table), name="all")
        session.crosstab(
            table[declared["cell"]], everything, values=table[declared["value"]].astype(float), aggfunc="sum"
        )
    (output,) = session.results.results.values()
    return Reply(verdict="fail" if _fails(output, CHECKS[vector.measure]) else "pass")


def _rules(vector: Vector) -> dict[str, Any]:
    given = vector.parameters
    if vector.measure == "dominance":
        return {"safe_nk_n": int(given["n"]), "safe_nk_k": float(Fraction(given["k"]) / 100), "safe_pratio_p": 0.0}
    return {"safe_nk_n": 1, "safe_nk_k": 2.0, "safe_pratio_p": float(Fraction(given["p"]) / 100)}


def _fails(output: Any, check: str) -> bool:
    return output.outcome.astype(str).apply(lambda column: column.str.contains(check)).any().any()
