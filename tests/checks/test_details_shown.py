"""Whatever figures a check reports, a reader of the HTML report sees them: none is in the JSON alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set as AbstractSet
from functools import cache
from math import isfinite
from typing import Any

import pytest
from asked_tables import CHECKS, EXPECT, TABLES, audited
from test_sentences import FIRST

from tcdp_audit import Outcome
from tcdp_audit.plugin.check import Need
from tcdp_audit.plugin.report import Rows
from tcdp_audit.plugin.sentences import count, figure, percent
from tcdp_audit_reports.fact_labels import Labels
from tcdp_audit_reports.sections.findings import Finding, findings

ELSEWHERE = {
    *("distribution", "by_size", "flow"),  # pictures of many cells, whose tables have them in wider bins
    *("shared_value", "shift"),  # which the sentence says, rounded for few members
}


@cache
def shown(name: str, *, unit: bool) -> list[tuple[Outcome, Finding, set[str]]]:
    """Each outcome, its article, and what is seen in it or in that to which it refers for a picture."""
    audit = audited(name, unit=unit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "tcdp_audit_reports.sections.findings.MANY", len(audit.expectations)
        )  # all of them are shown whole
        articles = findings(audit)
    cells = [seen(one) | (seen(articles[one.pictured[0] - 1]) if one.pictured else set()) for one in articles]
    return [*zip(audit.expectations, articles, cells, strict=True)]


def seen(finding: Finding) -> set[str]:
    """Every cell, fact and number that an article has, and the words that name them."""
    tables = [*finding.nested, *(one.data for one in finding.pictures)]
    cells = {cell for table in tables for cell in of_table(table)}
    return cells | {text for pair in finding.facts for text in pair}


def of_table(table: Rows) -> Iterator[str]:
    yield table.caption
    yield from table.head
    for row in table.body:
        yield from row


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for one in value.values():
            yield from leaves(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from leaves(one)
    elif value is not None:
        yield value


def is_seen(value: Any, cells: set[str], prose: str, labels: Labels) -> bool:
    parts = {part for cell in cells for part in (cell, *cell.split(" to "), *cell.split(", "))}
    if isinstance(value, bool):
        return bool(cells & {"yes", "no"})
    if isinstance(value, str):
        return bool({value, value.replace("_", " "), labels.of_key(value)} & parts) or value in prose
    ways = {figure(float(value)), percent(float(value)), f"{figure(round(100 * value))}%"}
    ways |= {count(int(value))} if isfinite(value) and value == int(value) else set()
    return bool(ways & parts)


def affected(outcome: Outcome) -> set[int]:
    """The numbers of failing records and classes, which head the article."""
    return {one.failing for one in (outcome.records, outcome.classes) if one is not None and one.failing is not None}


@pytest.mark.long
@pytest.mark.xdist_group("details")  # the tables are audited once for all checks
@pytest.mark.parametrize("tables", [FIRST, TABLES.keys() - FIRST])
@pytest.mark.parametrize("check", EXPECT)
def test_every_detail_of_every_check_is_in_the_report(check: str, tables: AbstractSet[str]) -> None:
    unseen = {
        (detail, str(leaf))
        for name in tables
        for outcome, finding, cells in shown(name, unit=Need.UNIT in CHECKS[check].needs)
        if outcome.check == check
        for detail, value in outcome.details.items()
        if detail not in ELSEWHERE
        if detail not in ("victims", "victim_classes") or value not in affected(outcome)
        for leaf in leaves(value)
        if not is_seen(leaf, cells, finding.message, Labels.of(CHECKS[check]))
    }
    assert unseen == set()
