"""Information loss: by measure before and after, and by attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tcdp_audit.plugin.report import ChangeLog
from tcdp_audit.plugin.sentences import count, decimal, figure, prose, sentence_case, share, visible
from tcdp_audit_reports.chart import Table
from tcdp_audit_reports.finding import plain

TITLES = {
    "total": "Mean loss of a cell",
    "discernibility": "Discernibility, sum of squared class sizes",
    "average_class_size": "Average class size",
    "certainty_penalty": "Normalised certainty penalty, mean",
    "il1s": "IL1s, deviation of numbers",
    "mean_error": "Error of means, in standard deviations",
    "correlation_change": "Change of correlations",
    "counting_queries": "Relative error of counts by one column and by two",
    "regressions": "Overlap of intervals of effects, mean",
    "models": "Accuracy of models, share that is kept, mean",
    "propensity": "Propensity score, mean squared error",
    "cell_loss": "loss",
    "distribution_distance": "distance of distributions",
    "mutual_information_kept": "information kept",
}
COUNTED = frozenset({"records", "records_suppressed", "attributes"})  # told elsewhere
NONE = "–"
OF_ATTRIBUTES = {"il1s": "IL1s", "mean_error": "error of the mean"}
TOLD = (
    "Mutual information, in bits for each record that came in: what its value tells of its sensitive one. Figures of "
    "many values are too high, because a value that occurs once tells everything by itself."
)
PENALTY = (
    "Penalty: share of the attribute’s values that one released value covers. Loss: the same of what was lost, "
    "suppressed records included. Both are 0 where nothing is lost and 1 where nothing is left."
)


def loss_table(log: ChangeLog) -> Table | None:
    """Every named measure of the whole release, before and after; None where nothing was measured."""
    rows = [[_title(name, value), *_pair(value)] for name, value in log.loss.items() if name not in COUNTED]
    measured_rows = [row for row in rows if row[1:] != [NONE, NONE]]
    if not measured_rows:
        return None
    measured_rows.append(["Records suppressed", "0", count(log.suppressed)])
    return Table("Information loss, before and after", ("measure", "before", "after"), measured_rows, _note(log.loss))


def _title(name: str, value: Any) -> str:
    title = TITLES.get(name) or sentence_case(plain(name))
    demanded = value.get("k") if isinstance(value, Mapping) else None
    if isinstance(demanded, int | float | Fraction) and demanded:
        return f"{title} over k = {decimal(Fraction(demanded))}"
    return title


def _pair(value: Any) -> list[str]:
    """A figure before and after; a single one is a comparison of both, and stands after."""
    if isinstance(value, Mapping):
        if "before" in value or "after" in value:
            return [_figure(value.get("before")), _figure(value.get("after"))]
        value = value.get("value")
    return [NONE, _figure(value)]


def _figure(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return NONE
    return figure(float(value))


def _note(loss: Mapping[str, Any]) -> str:
    """What a reader needs beside the figures: what chance alone would give, what was left out."""
    return " ".join(part for part in (_numbers(_mapping(loss, "il1s")), _model(_mapping(loss, "propensity"))) if part)


def _mapping(loss: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = loss.get(name)
    return value if isinstance(value, Mapping) else {}


def _numbers(il1s: Mapping[str, Any]) -> str:
    cells, left_out = il1s.get("cells"), il1s.get("cells_left_out")
    if not isinstance(cells, int) or not isinstance(left_out, int) or not cells or not left_out:
        return ""
    return f"IL1s is over {count(cells, 'cell')} with a number before and after; {count(left_out)} more have none."


def _model(model: Mapping[str, Any]) -> str:
    if model.get("reason"):
        return f"No propensity score: {prose(str(model['reason'])).rstrip('.')}."
    if not isinstance(model.get("ratio"), int | float):
        return ""
    return (
        f"The propensity score’s error is {figure(model['ratio'])} times what two samples of one population would "
        "show; 1 means that the tables cannot be told apart."
    )


def attribute_table(log: ChangeLog) -> Table | None:
    """What changed in each attribute; None where nothing is known of any."""
    by_name = _mapping(log.loss, "attributes")
    names = [*by_name, *(name for name, cells in log.cells.items() if cells and name not in by_name)]
    if not names:
        return None
    remaining = log.records - log.suppressed
    columns = _columns([*by_name.values()])
    rows = [
        [visible(name), *_changed(log.cells.get(name, 0), remaining), *_figures(by_name.get(name), columns)]
        for name in names
    ]
    heads = ("attribute", "cells changed", "share of cells", *(head for heads in columns.values() for head in heads))
    return Table("What changes, by attribute", heads, rows, PENALTY if "certainty_penalty" in columns else "")


def told_table(log: ChangeLog) -> Table | None:
    """What each attribute tells of the sensitive ones, before and after; None where nothing is known of it."""
    rows = [
        [visible(name), visible(other), *_pair(told)]
        for name, one in _mapping(log.loss, "attributes").items()
        if isinstance(one, Mapping)
        for other, told in _mapping(one, "mutual_information").items()
    ]
    if not rows:
        return None
    return Table("What columns tell of sensitive ones", ("attribute", "sensitive", "before", "after"), rows, TOLD)


def _changed(cells: int, remaining: int) -> tuple[str, str]:
    return count(cells), share(cells, remaining)


def _columns(measured: Sequence[Any]) -> dict[str, tuple[str, ...]]:
    """The measures that some attribute has, each with its heads: two where it has a before and an after."""
    heads: dict[str, tuple[str, ...]] = {}
    for one in measured:
        for name, value in one.items() if isinstance(one, Mapping) else ():
            if name != "cells_changed" and _pair(value) != [NONE, NONE]:
                heads[name] = _heads(name, value)
    return heads


def _heads(name: str, value: Any) -> tuple[str, ...]:
    if name == "certainty_penalty":
        return "penalty before", "penalty after"
    title = OF_ATTRIBUTES.get(name) or TITLES.get(name) or plain(name)
    return (f"{title} before", f"{title} after") if isinstance(value, Mapping) and "before" in value else (title,)


def _figures(measured: Any, columns: Mapping[str, tuple[str, ...]]) -> list[str]:
    figures = measured if isinstance(measured, Mapping) else {}
    return [cell for name, heads in columns.items() for cell in _pair(figures.get(name))[-len(heads) :]]
