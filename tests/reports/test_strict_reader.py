"""Sentences over which a strict reader of the report with four intruders stumbled, as they are now."""

from __future__ import annotations

import pytest
from edition_samples import of_scenarios

from tcdp_audit import Audit
from tcdp_audit_reports.first_screen import particulars
from tcdp_audit_reports.sections.columns import summary
from tcdp_audit_reports.sections.coverage import alone_unlimited, regulators
from tcdp_audit_reports.sections.findings import findings
from tcdp_audit_reports.sections.scenarios import blocks
from tcdp_audit_reports.sections.unexamined import blocks as unexamined


@pytest.fixture(scope="module")
def four() -> Audit:
    """The audit with four intruders."""
    return of_scenarios()


def test_people_behind_a_demand_that_is_met_stand_beside_what_it_allows(four: Audit) -> None:
    _, intruders, _ = blocks(four)
    assert {row[0]: row[-1] for row in intruders.body} == {  # type: ignore[union-attr]
        "recipient": "30 of 400 patients\n19 by demand 10, which allows 20",
        "acquaintance": "at least 130 of 400 patients",
        "breach": "no more than is allowed\n2 by demand 12, which allows 20",
        "demonstration": "none",
    }


def test_every_table_has_the_intruders_in_the_order_of_the_policy(four: Audit) -> None:
    _, intruders, demands = blocks(four)
    order = [*(four.policy.document.scenarios or {})]
    assert [row[0] for row in intruders.body] == order  # type: ignore[union-attr]
    assert [*demands.head[1:]] == order  # type: ignore[union-attr]


def test_being_alone_is_unexamined_against_whom_no_demand_limits_it(four: Audit) -> None:
    assert alone_unlimited(four) == {"recipient": 19, "acquaintance": 108}
    listed = next(one for one in unexamined(four)).entries  # type: ignore[union-attr]
    assert listed[0].text == (
        "No demand limits how many are the only match against recipient (19 patients) and acquaintance (108)."
    )
    assert regulators(four)[0].answer == (
        "Asked by k-anonymity against breach and demonstration only, not against recipient (19 are alone) and "
        "acquaintance (108 are alone)."
    )


def test_columns_with_the_same_share_are_named_together(four: Audit) -> None:
    sentences = summary(four)
    assert "Against recipient, age and marital status add most to the risk (28% each)." in sentences
    assert "Nothing fails against breach and demonstration." in sentences


def test_a_demand_that_is_met_says_that_it_is_laxer_than_usual(four: Audit) -> None:
    shown = {one.row.number: one.strictness for one in findings(four) if one.strictness}
    assert shown.keys() == {13, 14}
    assert shown[13].startswith("The policy demands at least 2; at least 11 is usual for public files")
    assert shown[14] == "Laxer than is usual, as said above."
    assert shown[13] in four.render(".html").replace("\n", " ")


def test_a_demand_that_reaches_no_one_is_said_once(four: Audit) -> None:
    persons = {one.row.number: one.person for one in findings(four)}
    assert [number for number in (1, 3, 8, 9, 11) if persons[number]] == []
    assert all(persons[number] for number in (4, 5, 10, 12, 13))


def test_matches_in_the_file_and_in_the_register_stand_together(four: Audit) -> None:
    said = (
        "demonstration: By age, sex and district: no one is unique; the smallest group has 2. That is in the file; in "
        "the register at least 19 people match."
    )
    assert said in four.render(".md").replace("'", "")


def test_a_companion_is_named_by_what_it_is(four: Audit) -> None:
    assert "Compared with the register (demonstration)" in dict(particulars(four))
