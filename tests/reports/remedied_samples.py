"""Logs of changes that the tests of the reporters make up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from report_samples import made_up

from tcdp_audit.core.base.outcome import Comparison, Outcome, Status
from tcdp_audit.core.base.provenance import Table
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.change_log import ChangeLog, Step

INPUT = Table("people.csv", "a" * 64, 9, 4)
SIZE_BEFORE = made_up(1, 5, title="k-anonymity", distribution=[[1, 1, 1], [8, 1, 8]], failing=(1, 1))
SIZE_AFTER = made_up(8, 5, title="k-anonymity", status=Status.PASSED, distribution=[[8, 1, 8]], failing=(0, 0))
DISTANCE: dict[str, Any] = {"check": "t_closeness", "attribute": "salary", "title": "t-closeness"}
FAR = made_up(0.8, "1/5", Comparison.AT_MOST, **DISTANCE)
NEAR = made_up(0.1, "1/5", Comparison.AT_MOST, status=Status.PASSED, **DISTANCE)


def attribute_loss(cells: int, loss: float, **figures: Any) -> dict[str, Any]:
    """What one attribute has lost."""
    plain = {
        "certainty_penalty": {"before": 0, "after": loss},
        "distribution_distance": 0.25,
        "il1s": None,
        "mean_error": None,
        "mutual_information_retained": 0.75,
        "mutual_information": {"salary": {"before": 1.5, "after": 0.5}},
    }
    return {"cell_loss": loss, "cells_changed": cells, **plain, **figures}


LOSS: dict[str, Any] = {
    "total": 0.375,
    "records": 9,
    "records_suppressed": 1,
    "discernibility": {"before": 27, "after": 73},
    "average_class_size": {"before": 0.6, "after": 1.6, "k": 5},
    "certainty_penalty": {"before": 0, "after": 0.5},
    "il1s": {"value": 0.125, "cells": 8, "cells_left_out": 0, "records_left_out": 1},
    "mean_error": {"value": None, "attributes": 0},
    "correlation_change": {"value": None, "pairs": 0, "largest": None},
    "counting_queries": {"value": 0.5, "one_way": 0.25, "two_way": 0.625, "queries": 12, "tables": []},
    "regressions": {
        "value": 0.5,
        "least": 0.5,
        "coefficients": 1,
        "models": [
            {
                "of": "salary",
                "by": ["age"],
                "records": {"before": 9, "after": 8},
                "value": 0.5,
                "least": 0.5,
                "effects": [
                    {
                        "column": "age",
                        "level": None,
                        "before": {"estimate": 12, "low": 10, "high": 14},
                        "after": {"estimate": 14, "low": 12, "high": 16},
                        "overlap": 0.5,
                    }
                ],
                "reason": "",
            }
        ],
    },
    "models": {"value": None, "least": None, "models": []},
    "propensity": {
        "value": 0.05,
        "expected": 0.025,
        "ratio": 2,
        "parameters": 3,
        "records": 17,
        "iterations": 5,
        "reason": "",
    },
    "attributes": {"zip": attribute_loss(8, 0.5), "age": attribute_loss(3, 0.25, il1s=0.125)},
}


def step(remedy: str = "cutting", failing: Sequence[Outcome] = (), **other: Any) -> Step:
    """A remedy after which some outcomes stand against the release."""
    title = other.pop("title", remedy.capitalize())
    return Step(remedy=remedy, title=title, parameters=other.pop("parameters", {}), outcomes=tuple(failing), **other)


def log_of(*steps: Step, **other: Any) -> ChangeLog:
    """The log of a release of nine records of which one was suppressed and eleven cells were changed."""
    plain: dict[str, Any] = {
        "input": INPUT,
        "before": (SIZE_BEFORE, FAR),
        "records": 9,
        "suppressed": 1 if steps else 0,
        "cells": {"zip": 8, "age": 3, "salary": 0} if steps else {"zip": 0},
        "planned": True,
        "order": "shuffled" if steps else "kept",
        "seed": 7,
        "loss": LOSS,
    }
    return ChangeLog(steps=steps, **{**plain, **other})


def remedied(audit: Audit, log: ChangeLog, *outcomes: Outcome) -> Audit:
    """The audit after a remediation, with outcomes of one's own; what the columns lack is as it was."""
    log = replace(log, before=(*audit.structure, *log.before))
    return replace(audit, outcomes=(*audit.structure, *outcomes), change_log=log, exposed=None)


def lattice_notes(rows: Sequence[Sequence[Any]], levels: Sequence[int], **other: Any) -> dict[str, Any]:
    """What a search of hierarchy levels notes, of attributes a0, a1 and so on."""
    named = {f"a{number}": [level, 3] for number, level in enumerate(levels)}
    result = next(row for row in rows if row[3] == list(levels))
    plain = {"nodes": len(rows), "evaluated": len(rows), "measure": "ncp", "loss": result[0], "suppressed": 0}
    return {**plain, "levels": named, "lattice": rows, **other}


LATTICE = lattice_notes(
    [[0, 0.7, False, [0, 0]], [0.1, 0.02, False, [0, 1]], [0.25, 0.0, True, [1, 0]], [0.6, 0.0, True, [1, 1]]],
    [1, 0],
    nodes=16,
)
TAKEN = step("cutting", loss=0.25, parameters={"limit": 2}, notes=LATTICE, cells={"zip": 8, "age": 3}, suppressed=1)
TRIED = (TAKEN, step("swapping", failing=[FAR], loss=0.5), step("joining", error="it cannot be joined"))
REPAIRED = log_of(TAKEN, tried=TRIED)
