"""Information loss: by measure and by attribute, as a chart, and what people who use the release lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tcdp_audit.plugin.report import ChangeLog, Chart, Rows
from tcdp_audit.plugin.sentences import (
    count,
    decimal,
    figure,
    listing,
    percent,
    prose,
    say,
    sentence_case,
    share,
    visible,
)
from tcdp_audit_reports.charts import dumbbell
from tcdp_audit_reports.charts.drawing import figure_table
from tcdp_audit_reports.fact_labels import plain

TITLES = {
    "total": "Mean loss of an entry",
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
    "links": "Pairs of rows that the unit joins",
    "cell_loss": "loss",
    "distribution_distance": "distance of distributions",
    "mutual_information_retained": "information retained",
}
COUNTED = frozenset({"records", "records_suppressed", "attributes", "tables"})  # shown elsewhere
NONE = "–"
OF_ATTRIBUTES = {"il1s": "IL1s", "mean_error": "error of the mean"}
MUTUAL_INFORMATION = (
    "Mutual information, in bits for each record that came in: what its value says about its sensitive one. Figures "
    "of many values are too high, because a value that occurs once says everything by itself."
)
PENALTY = (
    "Penalty: share of the attribute’s values that one released value covers. Loss: the same of what was lost, "
    "suppressed records included. Both are 0 where nothing is lost and 1 where nothing is left."
)


def loss_table(log: ChangeLog) -> Rows | None:
    """Every named measure of the whole release, before and after; None where nothing was measured."""
    rows = [[_title(name, value), *_pair(value)] for name, value in log.loss.items() if name not in COUNTED]
    measured_rows = [row for row in rows if row[1:] != [NONE, NONE]]
    if not measured_rows:
        return None
    measured_rows.append(["Records suppressed", "0", count(log.suppressed)])
    return figure_table(
        "Information loss, before and after", ("measure", "before", "after"), measured_rows, _note(log.loss)
    )


def _title(name: str, value: Any) -> str:
    title = TITLES.get(name) or sentence_case(plain(name))
    demanded = value.get("k") if isinstance(value, Mapping) else None
    if isinstance(demanded, int | float | Fraction) and demanded:
        return say("{title:text} over k = {k}", title=title, k=decimal(Fraction(demanded)))
    return title


def _pair(value: Any) -> list[str]:
    """A figure before and after; a single one compares both, and comes after."""
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
    """What a reader needs in addition to the figures: what chance alone would give, what was left out."""
    return " ".join(part for part in (_numbers(_mapping(loss, "il1s")), _model(_mapping(loss, "propensity"))) if part)


def _mapping(loss: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = loss.get(name)
    return value if isinstance(value, Mapping) else {}


def _numbers(il1s: Mapping[str, Any]) -> str:
    cells, left_out = il1s.get("cells"), il1s.get("cells_left_out")
    if not isinstance(cells, int) or not isinstance(left_out, int) or not cells or not left_out:
        return ""
    return f"IL1s is over {count(cells, 'entry')} with a number before and after; {count(left_out)} more have none."


def _model(model: Mapping[str, Any]) -> str:
    if model.get("reason"):
        return f"No propensity score: {prose(str(model['reason'])).rstrip('.')}."
    if not isinstance(model.get("ratio"), int | float):
        return ""
    return (
        f"The propensity score’s error is {figure(model['ratio'])} times what two samples of one population would "
        "show; 1 means that the tables cannot be distinguished."
    )


def attribute_table(log: ChangeLog) -> Rows | None:
    """A table of what changed in each attribute; None where nothing is known of any."""
    by_name = _mapping(log.loss, "attributes")
    names = [*by_name, *(name for name, cells in log.cells.items() if cells and name not in by_name)]
    if not names:
        return None
    columns = _columns([*by_name.values()])
    changed = [(name, log.cells.get(name, 0)) for name in names]
    rows = [
        [visible(name), count(cells), share(cells, log.records_left(name)), *_figures(by_name.get(name), columns)]
        for name, cells in changed
    ]
    heads = (
        "attribute",
        "entries changed",
        "share of entries",
        *(head for heads in columns.values() for head in heads),
    )
    return figure_table("What changes, by attribute", heads, rows, PENALTY if "certainty_penalty" in columns else "")


def retained_table(log: ChangeLog) -> Rows | None:
    """What each attribute says about the sensitive ones, before and after; None where nothing is known of it."""
    rows = [
        [visible(name), visible(other), *_pair(information)]
        for name, one in _mapping(log.loss, "attributes").items()
        if isinstance(one, Mapping)
        for other, information in _mapping(one, "mutual_information").items()
    ]
    if not rows:
        return None
    return figure_table(
        "What columns say about sensitive ones", ("attribute", "sensitive", "before", "after"), rows, MUTUAL_INFORMATION
    )


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


MOST = 12  # columns that are drawn; the table has all
TITLE = "What each column loses"


def penalty_chart(log: ChangeLog) -> Chart | None:
    """The normalised certainty penalty of at least two columns; None where it is not known, or all is left."""
    columns = log.loss.get("attributes")
    measured = [*columns.items()] if isinstance(columns, Mapping) else []
    entries = [(visible(str(name)), after, before) for name, one in measured for after, before in _penalty(one)]
    entries.sort(key=lambda one: -one[1])
    if len(entries) < 2 or not round(100 * entries[0][1]):
        return None
    name, after, before = entries[0]
    return Chart(
        kind=dumbbell.KIND,
        title=TITLE,
        subtitle="Share of a column's values that one released value covers: its certainty penalty",
        description=f"Two marks for each column; {name} goes from {percent(before)} to {percent(after)}.",
        drawing=dumbbell.drawing(entries[:MOST], ("after", "before")),
        data=figure_table(TITLE, ("column", "before", "after"), [[n, percent(b), percent(a)] for n, a, b in entries]),
    )


def _penalty(measured: Any) -> list[tuple[float, float]]:
    """After and before, if both are shares."""
    penalty = measured.get("certainty_penalty") if isinstance(measured, Mapping) else None
    pair = (penalty.get("after"), penalty.get("before")) if isinstance(penalty, Mapping) else ()
    shares = [float(one) for one in pair if isinstance(one, int | float | Fraction) and 0 <= one <= 1]
    return [(shares[0], shares[1])] if len(shares) == 2 else []


EFFECTS_SHOWN = 12  # effects; the machine-readable result has all of them
EFFECTS = (
    "Coefficients of linear regressions with their confidence intervals of 95%, in the units of the columns. A column "
    "that is no number has one for each frequent value, compared with the most frequent; values are named by their "
    "place. Overlap: 100% where both intervals are one, 0% where they have nothing in common, or the release no longer "
    "shows the effect."
)
MODELS = (
    "Trained on two thirds of the records and tested on the others as they came in. Guessing is to say the most "
    "frequent value: a model that is no better is useless."
)


def effects_table(log: ChangeLog) -> Rows | None:
    """The effects whose intervals overlap least; None where there is none."""
    effects = [(one["of"], effect) for one in _models(log, "regressions") for effect in one["effects"]]
    effects.sort(key=lambda one: float(one[1]["overlap"]))
    if not effects:
        return None
    rest = len(effects) - EFFECTS_SHOWN
    note = f"{count(rest, 'more effect')} overlap more. {EFFECTS}" if rest > 0 else EFFECTS
    heads = ("effect", "before", "after", "overlap")
    return figure_table("Effects, before and after", heads, [_effect(*one) for one in effects[:EFFECTS_SHOWN]], note)


def _effect(of: str, effect: Mapping[str, Any]) -> list[str]:
    level = "" if effect["level"] is None else f", value {effect['level']} by frequency,"
    name = f"{visible(effect['column'])}{level} on {visible(of)}"
    return [name, _interval(effect["before"]), _interval(effect["after"]), share(float(effect["overlap"]), 1)]


def _interval(estimate: Mapping[str, Any] | None) -> str:
    if estimate is None:
        return NONE
    value, low, high = (figure(float(estimate[name])) for name in ("estimate", "low", "high"))
    return f"{value} ({low}\u00a0to\u00a0{high})"


def models_table(log: ChangeLog) -> Rows | None:
    """The accuracy of each model; None where none was trained."""
    rows = [
        [f"{visible(one['of'])} by {_listed(one['by'])}", *(share(float(value), 1) for value in _accuracies(one))]
        for one in _models(log, "models")
        if not one["reason"]
    ]
    heads = ("model", "before", "after", "guessing")
    return figure_table("Models, how often they are right", heads, rows, MODELS) if rows else None


def _accuracies(model: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return model["accuracy"]["before"], model["accuracy"]["after"], model["guess"]


def counts_table(log: ChangeLog) -> Rows | None:
    """The errors of the tables that the policy names; None where it names none."""
    counts = log.loss.get("counting_queries")
    tables = counts.get("tables", ()) if isinstance(counts, Mapping) else ()
    rows = [[_listed(one["by"]), count(one["queries"]), *map(_error, (one["value"], one["largest"]))] for one in tables]
    reasons = " ".join(f"{prose(one['reason'])}." for one in tables if one["reason"])
    heads = ("counts by", "figures", "off by, mean", "at most")
    return figure_table("Counts that the policy names", heads, rows, reasons) if rows else None


def _error(value: float | None) -> str:
    return NONE if value is None else share(float(value), 1)


def _models(log: ChangeLog, name: str) -> Sequence[Mapping[str, Any]]:
    measured = log.loss.get(name)
    return measured.get("models", ()) if isinstance(measured, Mapping) else ()


def _listed(names: Sequence[str]) -> str:
    return listing([visible(one) for one in names])
