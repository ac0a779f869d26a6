"""One outcome as the report shows it: every text and figure ready, nothing left to decide in the template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcdp_audit.plugin import (
    SIGNS,
    Audit,
    Check,
    Guide,
    Limit,
    Outcome,
    count,
    decimal,
    demanded,
    failing,
    figure,
    observed,
    prose,
    state_of,
    visible,
)
from tcdp_audit_reports import cumulative, histogram, share_bar
from tcdp_audit_reports.chart import Chart, Measured, Table, distribution_of
from tcdp_audit_reports.demand import Kept, kept_demand
from tcdp_audit_reports.drawing import Drawing
from tcdp_audit_reports.margin import margin_bar, margin_words
from tcdp_audit_reports.mathml import is_mathml
from tcdp_audit_reports.worst import worst_table

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Finding:
    """A row of the table of expectations, and a section of its own."""

    id: str
    number: int
    state: str
    title: str
    attribute: str
    observed: str
    demanded: str
    margin: Drawing | None
    margin_words: str
    at_risk: str
    message: str
    check: str
    line: int | None
    facts: Pairs
    conventions: Pairs
    source: str
    guide: Guide | None
    has_mathml: bool
    chart: Chart | None
    worst: Table | None
    kept: Kept | None


def findings(audit: Audit) -> list[Finding]:
    """The expectations' outcomes in policy order. Cost: linear in the outcomes and their distributions."""
    checks = audit.plugins.checks
    return [_finding(one, checks.get(one.check), number) for number, one in enumerate(audit.expectations, 1)]


def _finding(outcome: Outcome, check: Check | None, number: int) -> Finding:
    guide = None if check is None else check.guide
    measured = _measured(outcome, check)
    fails = failing(outcome)
    return Finding(
        id=f"e{number}",
        number=number,
        state=state_of(outcome),
        title=outcome.title or outcome.check,
        attribute=attribute_of(outcome, check),
        observed=observed(outcome),
        demanded=demanded(outcome),
        margin=margin_bar(outcome),
        margin_words=margin_words(outcome),
        at_risk="–" if fails is None else count(fails[1]),
        message=prose(outcome.message),
        check=outcome.check,
        line=outcome.line,
        facts=_facts(outcome, check),
        conventions=[(plain(name), plain(value)) for name, value in outcome.conventions.items()],
        source=outcome.source,
        guide=guide,
        has_mathml=guide is not None and is_mathml(guide.mathml),
        chart=share_bar.chart(outcome) if measured is None else _chart(measured),
        worst=worst_table(outcome, measured),
        kept=kept_demand(outcome, check),
    )


def attribute_of(outcome: Outcome, check: Check | None) -> str:
    """The attribute that was measured, or what was measured where there is none."""
    if outcome.attribute is not None:
        return visible(outcome.attribute)
    if check is None:
        return "–"
    if "attributes" in check.parameters.model_fields:  # it compares some of them
        return visible(", ".join(outcome.parameters.get("attributes", ()))) or "–"
    return "–" if check.on_attribute else "all quasi-identifiers"


def plain(name: str) -> str:
    """A snake_case name in words."""
    return visible(str(name)).replace("_", " ").replace("quasi identifier", "quasi-identifier")


def _chart(measured: Measured) -> Chart:
    """A histogram for whole numbers of which more is safer, otherwise a cumulative curve."""
    return histogram.chart(measured) if measured.counts_whole_numbers else cumulative.chart(measured)


def _measured(outcome: Outcome, check: Check | None) -> Measured | None:
    """The distribution over classes, where it is of the very figure that is compared."""
    distribution = distribution_of(outcome)
    if check is None or not check.judges_each_class or not distribution or outcome.comparison is None:
        return None
    label = check.label or "observed figure"
    others = sum(one.parameter in outcome.parameters for one in check.limits) > 1
    return Measured(distribution, outcome.threshold, outcome.comparison, failing(outcome), label, others)


def _facts(outcome: Outcome, check: Check | None) -> Pairs:
    """Classes, and every single figure that the check reports beside the observed one."""
    facts = []
    if outcome.classes is not None:
        facts.append(("Groups", count(outcome.classes.total)))
    fails = failing(outcome)
    if fails is not None:
        facts.append(("failing", count(fails[0])))
    limits = {} if check is None else {one.parameter: one for one in check.limits[1:]}
    for name, value in outcome.details.items():
        if name != "distribution" and isinstance(value, int | float | str):
            facts.append((plain(name), f"{_fact(value)}{_limit(outcome, limits.get(name))}"))
    return facts


def _fact(value: float | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return visible(value) if isinstance(value, str) else figure(value)


def _limit(outcome: Outcome, limit: Limit | None) -> str:
    """The demand on a figure beside the headline one, in parameters such as `alpha`."""
    if limit is None or outcome.parameters.get(limit.parameter) is None:
        return ""
    value = Fraction(outcome.parameters[limit.parameter])
    return f", demanded {SIGNS[limit.comparison]} {decimal(value)}"
