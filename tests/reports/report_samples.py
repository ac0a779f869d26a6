"""Tables, policies and outcomes that the tests of the reporters make up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa

from tcdp_audit.core.base.outcome import Comparison, Outcome, Status, Tally, WorstClass

HOSTILE = ("<script>alert(1)</script>", "{{7*7}}", "גיל|`x`[red]", "]]>\x1b[31m\u202eevil")

SALARY_POLICY: Mapping[str, Any] = {
    "version": 1,
    "attributes": {
        "zip": {"role": "quasi_identifier"},
        "age": {"role": "quasi_identifier"},
        "salary": {"role": "sensitive", "scale": "numeric"},
        "disease": {"role": "sensitive"},
    },
    "expect": [
        {"k_anonymity": {"k": 3}},
        {"distinct_l_diversity": {"l": 2, "attribute": "disease"}},
        {"entropy_l_diversity": {"l": 3, "attribute": "disease"}},
        {"t_closeness": {"t": "0.2", "attribute": "salary", "distance": "ordered"}},
        {"t_closeness": {"t": "0.5", "attribute": "disease", "severity": "warning"}},
        {"t_closeness": {"attribute": "salary"}},
    ],
}


def salaries() -> pa.Table:
    """The nine patients of Li et al. (2007), table 3: three classes of three."""
    return pa.table(
        {
            "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
            "age": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
            "salary": [3000, 4000, 5000, 6000, 11000, 8000, 7000, 9000, 10000],
            "disease": [
                *("gastric ulcer", "gastritis", "stomach cancer"),
                *("gastritis", "flu", "bronchitis"),
                *("bronchitis", "pneumonia", "stomach cancer"),
            ],
        }
    )


def named_table(names: tuple[str, ...], cell: Callable[[str, int], str]) -> pa.Table:
    """Twelve records in four classes, with cells of one's own making in columns of any names."""
    return pa.table({name: [cell(name, record // 3) for record in range(12)] for name in names})


def named_policy(names: tuple[str, ...]) -> dict[str, Any]:
    """The last column is sensitive, the others are quasi-identifiers; one demand of each comparison fails."""
    roles: dict[str, Any] = {name: {"role": "quasi_identifier"} for name in names[:-1]}
    roles[names[-1]] = {"role": "sensitive"}
    expect = [{"k_anonymity": {"k": 5}}, {"entropy_l_diversity": {"l": 2}}, {"t_closeness": {"t": "0.1"}}]
    return {"version": 1, "attributes": roles, "expect": expect}


def made_up(
    observed: float | None,
    threshold: Fraction | int | None,
    comparison: Comparison = Comparison.AT_LEAST,
    *,
    status: Status = Status.FAILED,
    check: str = "k_anonymity",
    distribution: list[list[float]] | None = None,
    failing: tuple[int, int] | None = None,
    **other: Any,
) -> Outcome:
    """An outcome with a distribution of [figure, classes, records]."""
    rows = distribution or []
    classes, records = int(sum(row[1] for row in rows)), int(sum(row[2] for row in rows))
    return Outcome(
        check=check,
        title=other.pop("title", check),
        status=status,
        observed=observed,
        threshold=None if threshold is None else Fraction(threshold),
        comparison=comparison,
        classes=Tally(classes, failing[0] if failing else None),
        records=Tally(records, failing[1] if failing else None),
        details={"distribution": rows} if rows else {},
        worst=other.pop("worst", tuple(WorstClass(i, 1, float(row[0])) for i, row in enumerate(rows[:3], 1))),
        message=other.pop("message", "A sentence."),
        **other,
    )
