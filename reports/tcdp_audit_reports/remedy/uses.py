"""What people would do with the release: effects that they estimate, models that they train, what they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tcdp_audit.plugin.report import ChangeLog
from tcdp_audit.plugin.sentences import count, figure, listing, prose, share, visible
from tcdp_audit_reports.chart import Table

NONE = "–"
SHOWN = 12  # effects; the machine-readable result has all of them
EFFECTS = (
    "Coefficients of linear regressions with their confidence intervals of 95%, in the units of the columns. A column "
    "that is no number has one for each frequent value, beside the most frequent; values are named by their place. "
    "Overlap: 100% where both intervals are one, 0% where they have nothing in common, or the release does not tell "
    "the effect any more."
)
MODELS = (
    "Trained on two thirds of the records and tested on the others as they came in. Guessing is to say the most "
    "frequent value: a model that is no better is useless."
)


def effects_table(log: ChangeLog) -> Table | None:
    """The effects whose intervals overlap least; None where there is none."""
    told = [(one["of"], effect) for one in _models(log, "regressions") for effect in one["effects"]]
    told.sort(key=lambda one: float(one[1]["overlap"]))
    if not told:
        return None
    rest = len(told) - SHOWN
    note = f"{count(rest, 'more effect')} overlap more. {EFFECTS}" if rest > 0 else EFFECTS
    heads = ("effect", "before", "after", "overlap")
    return Table("Effects, before and after", heads, [_effect(*one) for one in told[:SHOWN]], note)


def _effect(of: str, effect: Mapping[str, Any]) -> list[str]:
    level = "" if effect["level"] is None else f", value {effect['level']} by frequency,"
    name = f"{visible(effect['column'])}{level} on {visible(of)}"
    return [name, _interval(effect["before"]), _interval(effect["after"]), share(float(effect["overlap"]), 1)]


def _interval(estimate: Mapping[str, Any] | None) -> str:
    if estimate is None:
        return NONE
    value, low, high = (figure(float(estimate[name])) for name in ("estimate", "low", "high"))
    return f"{value} ({low}\u00a0to\u00a0{high})"


def models_table(log: ChangeLog) -> Table | None:
    """How often each model is right; None where none was trained."""
    rows = [
        [f"{visible(one['of'])} by {_names(one['by'])}", *(share(float(value), 1) for value in _figures(one))]
        for one in _models(log, "models")
        if not one["reason"]
    ]
    heads = ("model", "before", "after", "guessing")
    return Table("Models, how often they are right", heads, rows, MODELS) if rows else None


def _figures(model: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return model["accuracy"]["before"], model["accuracy"]["after"], model["guess"]


def counts_table(log: ChangeLog) -> Table | None:
    """The errors of the tables that the policy names; None where it names none."""
    counts = log.loss.get("counting_queries")
    tables = counts.get("tables", ()) if isinstance(counts, Mapping) else ()
    rows = [[_names(one["by"]), count(one["queries"]), *map(_error, (one["value"], one["largest"]))] for one in tables]
    reasons = " ".join(f"{prose(one['reason'])}." for one in tables if one["reason"])
    heads = ("counts by", "cells", "off by, mean", "at most")
    return Table("Counts that the policy names", heads, rows, reasons) if rows else None


def _error(value: float | None) -> str:
    return NONE if value is None else share(float(value), 1)


def _models(log: ChangeLog, name: str) -> Sequence[Mapping[str, Any]]:
    told = log.loss.get(name)
    return told.get("models", ()) if isinstance(told, Mapping) else ()


def _names(names: Sequence[str]) -> str:
    return listing([visible(one) for one in names])
