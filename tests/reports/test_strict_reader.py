"""Sentences over which a strict reader of the report with four intruders stumbled, as they are now."""

from __future__ import annotations

import pytest
from edition_samples import of_scenarios

import tcdp_audit
from tcdp_audit import Audit
from tcdp_audit.demo import POLICY, make_discharges
from tcdp_audit_reports.first_screen import particulars
from tcdp_audit_reports.people_exposed import relation
from tcdp_audit_reports.policy_text import role_of
from tcdp_audit_reports.sections.basis import how_counted
from tcdp_audit_reports.sections.columns import summary
from tcdp_audit_reports.sections.coverage import alone_unlimited, regulators
from tcdp_audit_reports.sections.findings import findings
from tcdp_audit_reports.sections.next_steps import steps
from tcdp_audit_reports.sections.scenarios import blocks
from tcdp_audit_reports.sections.unexamined import blocks as unexamined


@pytest.fixture(scope="module")
def four() -> Audit:
    """The audit with four intruders."""
    return of_scenarios()


def test_people_behind_a_demand_that_is_met_stand_beside_what_it_allows(four: Audit) -> None:
    _, intruders, _ = blocks(four)
    assert {row[0]: row[-1] for row in intruders.body} == {  # type: ignore[union-attr]
        "recipient": "30 of 400 patients\ndemand 10 allows 20 and finds 19 (cost of the stay)",
        "acquaintance": "at least 130 of 400 patients",
        "breach": "no more than is allowed\ndemand 12 allows 20 and finds 2 (days in hospital)",
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


def test_the_riskiest_column_is_that_of_the_intruder_who_exposes_most(four: Audit) -> None:
    assert (
        "The riskiest column is occupation, as acquaintance exposes most people; shares against different intruders "
        "cannot be compared." in summary(four)
    )


def test_a_wanted_secret_is_a_gap_and_another_one_a_choice(four: Audit) -> None:
    listed = next(one for one in unexamined(four)).entries  # type: ignore[union-attr]
    assert listed[1].text == (
        "Recipient wants to learn days in hospital, and no demand protects it. No demand protects days in hospital and "
        "cost of the stay against acquaintance and demonstration, who do not want to learn them, as the policy has it."
    )


def test_what_intruders_know_and_the_register_are_assumptions(four: Audit) -> None:
    assumed = how_counted(four)
    assert "The register is taken to hold everyone (demands 4–5)." in assumed
    assert "Each intruder is taken to know what the table of intruders says, and no more." in assumed


def test_a_demand_that_is_met_says_what_it_allows_and_has_no_failing_groups(four: Audit) -> None:
    tenth = next(one for one in findings(four) if one.row.number == 10)
    assert tenth.message.endswith("finding the group is enough to know it. At most 5% is allowed.")
    labels = [name for name, _ in tenth.facts]
    assert "groups in which it succeeds" in labels
    assert "groups that fail" not in labels


def test_secrets_that_no_one_learns_are_said_of_every_intruder(four: Audit) -> None:
    said = "breach: 2 patients are in groups in which everyone has the same days in hospital. For 2 other secrets: 0."
    assert said in four.render(".md").replace("'", "")


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """The audit of the demonstration, with remedies tried."""
    folder = tmp_path_factory.mktemp("demonstration")
    for name, text in make_discharges().items():
        (folder / name).write_text(text, encoding="utf-8")
    return tcdp_audit.audit(None, folder / POLICY, try_remedies=True)


def test_the_steps_name_the_lines_to_change_and_what_the_price_is_of(demonstration: Audit) -> None:
    dropped, decided, repaired = (one.text for one in steps(demonstration))
    assert dropped == "Leaving it out costs nothing: delete it, or run the command below, which does more."
    assert decided == (
        "Nothing that can stop publication is demanded of it. Let demand 6 (line 33) stop it, without severity: "
        "warning, or give 7 (line 35) a limit. Or say that it need not be secret (role: insensitive), and why."
    )
    assert repaired.startswith("Tried on this file, with the policy as it is now: it would then pass, with 2 warnings")
    assert "If a step above changes the policy, try again first." in repaired


def test_a_warning_leaves_out_no_one_whom_a_failing_demand_affects(demonstration: Audit) -> None:
    said = "of the 92 people that it affects, those count whom a failing demand affects, too."
    assert said in relation(demonstration)


def test_a_key_that_is_declared_harmless_is_said_to_link(demonstration: Audit) -> None:
    key = next(one for one in demonstration.columns if one.is_key)
    assert role_of(key) == "taken to be harmless, but links records to another table: should not be published"
