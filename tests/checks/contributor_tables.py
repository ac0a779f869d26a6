"""Groups of people with values, published as tables of statistics, and checks asked of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any

import pyarrow as pa
from detail_labels import assert_labelled

from tcdp_audit.core.cells.view import CellsView
from tcdp_audit.core.check.aggregate_check import AggregateCheck, CellFigure
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.policy.policy import Policy

TOTAL = "T"
RICH = [1_000, 1_000, 1_000, 1_000, 1_000, 2_000, 3_000, 3_000, 10_000, 10_000, 100_000]  # Torra's patients
MEASURES: dict[str, Any] = {
    "n": {"counts": "people"},
    "total": {"sum": "x", "decimals": "exact"},
    "mean": {"mean": "x", "over": "n", "decimals": 2, "integers": True},
}


def printed(values: Sequence[Fraction | int], measure: str) -> str:
    total = sum(values)
    if measure == "mean":
        return f"{float(Fraction(total) / len(values)):.2f}"
    return {"n": str(len(values)), "total": str(float(total)), "largest": str(max(values)), "least": str(min(values))}[
        measure
    ]


@contextmanager
def released(
    groups: dict[str, Sequence[Any]],
    measures: Any = None,
    *,
    show_values: bool = False,
    records: bool = True,
    **more: Any,
) -> Iterator[CellsView]:
    """A table of groups with a total, and the records behind it."""
    own = measures or MEASURES
    cells = {**groups, TOTAL: [one for values in groups.values() for one in values]}
    rows = [
        {"group": group, **{name: printed(values, name) for name in own}} for group, values in cells.items() if values
    ]
    people = [{"group": group, "x": str(one)} for group, values in groups.items() for one in values]
    aggregate = {"dimensions": {"group": {"total": TOTAL}}, "measures": own}
    content = {
        "version": 1,
        "attributes": {},
        "aggregates": {"table": aggregate},
        "expect": [{"dominance": {}}],
        **more,
    }
    policy = Policy(PolicyDocument.model_validate({**content, "microdata": {"file": "x.csv"}}), (), "")
    with ExitStack() as stack:
        engine, behind = (
            stack.enter_context(open_engine(pa.Table.from_pylist(one), 2**28, "table")) for one in (rows, people)
        )
        microdata = behind if records else None
        yield CellsView.of(policy, {"table": engine}, microdata, (), show_values=show_values)


def judged(check: AggregateCheck[Any], groups: dict[str, Any], measures: Any = None, **parameters: Any) -> CellFigure:
    options = {name: parameters.pop(name) for name in ("show_values", "records", "conventions") if name in parameters}
    with released(groups, measures, **options) as view:
        figure = check.measure(view, check.parameters.model_validate(parameters))
    assert isinstance(figure, CellFigure)
    assert_labelled(check, figure.details)
    return figure
