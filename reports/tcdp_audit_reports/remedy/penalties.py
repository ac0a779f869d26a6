"""What each column tells before and after the remedies: two marks for each column."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tcdp_audit.plugin.report import ChangeLog
from tcdp_audit.plugin.sentences import percent, visible
from tcdp_audit_reports import dumbbell
from tcdp_audit_reports.chart import Chart, Table

MOST = 12  # columns that are drawn; the table has all
TITLE = "What each column loses"


def chart(log: ChangeLog) -> Chart | None:
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
        data=Table(TITLE, ("column", "before", "after"), [[n, percent(b), percent(a)] for n, a, b in entries]),
    )


def _penalty(measured: Any) -> list[tuple[float, float]]:
    """After and before, if both are shares."""
    found = measured.get("certainty_penalty") if isinstance(measured, Mapping) else None
    pair = (found.get("after"), found.get("before")) if isinstance(found, Mapping) else ()
    shares = [float(one) for one in pair if isinstance(one, int | float | Fraction) and 0 <= one <= 1]
    return [(shares[0], shares[1])] if len(shares) == 2 else []
