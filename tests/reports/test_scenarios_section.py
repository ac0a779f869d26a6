"""The section on who might attack: each intruder with the people exposed, each demand in each scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from browser import DARK, asked
from pyarrow.csv import write_csv

from tcdp_audit import Audit, audit
from tcdp_audit_reports.sections.appendix import demand_numbers
from tcdp_audit_reports.sections.scenarios import blocks

TABLE = pa.table(
    {
        "age": ["30", "30", "30", "50", "50", "50"],
        "job": ["nurse", "nurse", "clerk", "clerk", "clerk", "clerk"],
        "disease": ["flu", "asthma", "flu", "flu", "asthma", "ulcer"],
    }
)
SCENARIOS: dict[str, Any] = {
    "neighbour": {"knows": ["age"], "says": "somebody next door", "known_fraction": 0.25},
    "boss": {"knows": ["age", "job"], "attempt": 0.5},
}


def policy_of(expect: list[dict[str, Any]], scenarios: dict[str, Any] | None = SCENARIOS) -> dict[str, Any]:
    attributes = {
        "age": {"role": "quasi_identifier"},
        "job": {"role": "insensitive"},
        "disease": {"role": "sensitive", "label": "illness"},
    }
    policy = {"version": 1, "unit_name": "person", "attributes": attributes, "expect": expect}
    return policy if scenarios is None else {**policy, "scenarios": scenarios}


def audited(expect: list[dict[str, Any]], scenarios: dict[str, Any] | None = SCENARIOS) -> Audit:
    return audit(TABLE, policy_of(expect, scenarios))


def section(result: Audit) -> tuple[str, list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The summary, the rows of intruders and the rows of demands."""
    summary, intruders, demands = blocks(result)
    return summary.text, [tuple(row) for row in intruders.body], [tuple(row) for row in demands.body]  # type: ignore[union-attr]


def test_there_is_none_without_scenarios() -> None:
    assert list(blocks(audited([{"k_anonymity": {"k": 2}}], None))) == []


def test_each_intruder_has_its_own_people_exposed() -> None:
    summary, intruders, demands = section(audited([{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}]))

    assert summary.startswith("The policy names 2 intruders. Demands fail against boss. Every demand against neighbour")
    assert "That is no leave to publish: the verdict is one, for all intruders." in summary
    assert intruders == [  # in the policy's order, as in the other tables
        ("neighbour", "Somebody next door", "'age'\nof 25% of all", "illness", "100%", "not asked", "none"),
        ("boss", "A boss", "'age' and 'job'", "illness", "50%", "not asked", "1 of 6 people"),
    ]
    assert demands == [
        ("k-anonymity\n≥ 2", "✓ Passed\n3", "✗ Failed\n1\n1 person"),
        ("Distinct l-diversity\n≥ 2, illness", "✓ Passed\n2", "✗ Failed\n1\n1 person"),
    ]


def test_people_exposed_to_several_are_counted_once() -> None:
    summary, _, _ = section(audited([{"k_anonymity": {"k": 4}}]))

    assert summary == (
        "The policy names 2 intruders. Demands fail against neighbour and boss; together they expose all 6 people, "
        "each counted once."
    )


def test_a_set_of_columns_is_no_intruder_with_a_name() -> None:
    expect = [{"k_anonymity": {"against": "neighbour"}}, {"k_anonymity": {"knows": ["job"]}}]
    summary, intruders, demands = section(audited(expect))

    assert summary == (
        "The policy names 1 intruder. Number 2 is only measured and names no intruder. Nothing is demanded against "
        "boss."
    )
    assert [one[0] for one in intruders] == ["neighbour"]
    assert demands == [("k-anonymity", "○ Measured\n3")]


def test_a_set_of_columns_against_which_a_demand_fails_has_a_row() -> None:
    expect = [{"k_anonymity": {"k": 2, "against": "neighbour"}}, {"k_anonymity": {"k": 3, "knows": ["job"]}}]
    _, intruders, demands = section(audited(expect, {"neighbour": SCENARIOS["neighbour"]}))

    assert intruders[1] == (
        "demand 2",
        "no intruder of the policy",
        "'job'",
        "illness",
        "100%",
        "not asked",
        "2 of 6 people",
    )
    assert demands[0] == ("k-anonymity\n≥ 3", "–", "✗ Failed\n2\n2 people")


def test_a_demand_that_was_not_judged_exposes_an_unknown_number() -> None:
    expect = [{"k_anonymity": {"k": 2, "against": "neighbour"}}, {"k_map": {"k": 2, "against": "boss"}}]
    population = pa.table({"age": ["30", "30"], "job": ["nurse", "nurse"]})
    policy = {
        "version": 1,
        "attributes": {name: {"role": "insensitive"} for name in TABLE.column_names},
        "scenarios": SCENARIOS,
        "expect": expect,
    }
    summary, intruders, _ = section(audit(TABLE, policy, population=population))

    assert "Demands could not be judged against boss." in summary
    assert intruders[1][-1] == "not known: a demand could not be judged"


def test_two_demands_of_one_check_are_two_rows() -> None:
    expect = [{"k_anonymity": {"k": 4}}, {"k_anonymity": {"k": 3}}, {"k_anonymity": {"k": 3, "severity": "warning"}}]
    _, _, demands = section(audited(expect, {"neighbour": SCENARIOS["neighbour"]}))

    assert demands == [
        ("k-anonymity\n≥ 4", "✗ Failed\n3\n6 people"),
        ("k-anonymity\n≥ 3", "✓ Passed\n3"),
        ("k-anonymity\n≥ 3", "✓ Passed\n3"),
    ]


@pytest.mark.parametrize("expect", [[{"k_anonymity": {"k": 2}}], [{"k_anonymity": {"k": 4}}]])
def test_every_demand_holds_only_if_it_does(expect: list[dict[str, Any]]) -> None:
    summary, _, _ = section(audited(expect, {"neighbour": SCENARIOS["neighbour"]}))

    assert ("Every demand holds" in summary) == (expect == [{"k_anonymity": {"k": 2}}])


def test_a_failing_warning_is_said() -> None:
    expect = [{"k_anonymity": {"k": 2, "severity": "warning"}}]
    _, intruders, demands = section(audited(expect))

    assert [row[-1] for row in intruders] == ["none", "none but by warnings"]
    assert demands[0][2].startswith("! Warning")


def test_the_chance_of_a_guess_and_the_people_whom_a_demand_allows_are_said() -> None:
    expect = [{"reidentification_risk": {"measure": "average"}}, {"sample_uniqueness": {"at_most": 0.5}}]
    _, intruders, _ = section(audited(expect))

    assert [row[-2:] for row in intruders] == [
        ("1 in 3 at worst, 1 in 3 on average", "none"),
        ("for certain at worst, 1 in 2 on average", "no more than is allowed\ndemand 4 allows 3 and finds 1"),
    ]


def test_secrets_that_no_demand_protects_from_an_intruder_are_said() -> None:
    scenarios = {**SCENARIOS, "boss": {**SCENARIOS["boss"], "at_stake": ["disease"]}}
    expect = [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2, "against": "neighbour"}}]

    assert "Boss wants to learn illness, and no demand protects it." in audited(expect, scenarios).render(".md")
    assert "o demand protects" not in audited([{"distinct_l_diversity": {"l": 2}}], scenarios).render(".md")


def test_demands_against_one_intruder_do_not_conflict_with_those_against_another() -> None:
    expect = [{"k_anonymity": {"k": 2}}, {"sample_uniqueness": {"at_most": 0.1}}]

    assert "that is no contradiction" not in audited(expect).render(".html")


def test_an_intruder_who_does_not_know_who_is_in_the_release_has_a_condition(tmp_path: Path) -> None:
    write_csv(TABLE.select(["age", "job"]), tmp_path / "all.csv")
    reader = {"knows": ["age"], "in_release": "unknown", "population": str(tmp_path / "all.csv")}
    scenarios = {"reader": reader, "boss": {"knows": ["age", "job"]}}
    condition = "This counts the file alone, as if the intruder knew that the person is in it."
    expect = [{"k_anonymity": {"k": 2}}, {"k_map": {"k": 2, "against": "reader"}}]
    judged = audited(expect, scenarios).outcomes
    impacts = {one.scenario: one.individual_impact for one in judged if one.check == "k_anonymity"}

    assert impacts["reader"].endswith(condition)
    assert condition not in impacts["boss"]
    assert not any(condition in one.individual_impact for one in judged if one.check == "k_map")  # it says so itself


def test_the_risk_of_columns_is_that_of_the_intruder_who_knows_most() -> None:
    attributes = {name: {"role": "insensitive"} for name in ("age", "job")} | {"disease": {"role": "sensitive"}}
    policy = {"version": 1, "attributes": attributes, "scenarios": SCENARIOS, "expect": [{"k_anonymity": {"k": 2}}]}
    result = audit(TABLE, policy, column_risks=True)

    assert {one.column for one in result.column_risks} == {"age", "job"}


def test_every_intruder_against_whom_a_demand_fails_has_a_risk_of_columns() -> None:
    expect = [{"k_anonymity": {"k": 2, "against": "boss"}}, {"k_anonymity": {"k": 4, "against": ["boss", "neighbour"]}}]
    policy = policy_of(expect)
    result = audit(TABLE, policy, column_risks=True)
    fitting = audit(TABLE, policy_of([{"k_anonymity": {"k": 2}}]), column_risks=True)

    assert {one.name: {risk.column for risk in one.column_risks} for one in result.scenarios} == {
        "boss": {"age", "job"},
        "neighbour": {"age"},
    }
    assert [bool(one.column_risks) for one in fitting.scenarios] == [False, True]
    assert "column_risks" not in fitting.as_json()["scenarios"][0]
    in_json = {one["name"]: one["column_risks"] for one in result.as_json()["scenarios"]}
    assert [one["unique"] for one in in_json["boss"]] == [1, 1]
    assert not any(one.column_risks for one in audit(TABLE, policy).scenarios)  # only where a report asked


def test_a_line_of_the_policy_has_the_numbers_of_its_demands() -> None:
    expect = [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 1, "against": "boss"}}]

    assert demand_numbers(audited(expect)) == ["1–2", "3"]


SIDES = """
const page = document.documentElement, tables = [...document.querySelectorAll('.scenarios.scroll')];
return {over: page.scrollWidth - page.clientWidth, tables: tables.length,
        wide: tables.filter(one => one.scrollWidth > one.clientWidth + 1).length};
"""


@pytest.mark.long
@pytest.mark.parametrize(("width", "flags"), [(390, ()), (643, ()), (1280, DARK)])  # 643: the width of a printed page
def test_the_tables_fit_their_page(width: int, flags: tuple[str, ...], chromium: str, tmp_path: Path) -> None:
    policy = Path(__file__).parents[2] / "examples" / "scenarios" / "patients.tcdp.yaml"
    page = audit(policy.with_name("patients.csv"), policy).render(".html")

    assert asked(page, SIDES, chromium, tmp_path, *flags, width=width) == {
        "over": 0,
        "tables": 2,
        "wide": 0,
    }


def test_reports_without_scenarios_have_no_styles_for_them() -> None:
    assert ".scenarios" in audited([{"k_anonymity": {"k": 2}}]).render(".html")
    assert ".scenarios" not in audited([{"k_anonymity": {"k": 2}}], None).render(".html")
