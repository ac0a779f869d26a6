"""Sentences on one person, on secrets that nothing was counted of, and on what a number or a step leaves open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tcdp_audit
from tcdp_audit import Audit
from tcdp_audit.plugin.report import Paragraph
from tcdp_audit_plugins.sections.attacks import stories
from tcdp_audit_reports.people_exposed import relation
from tcdp_audit_reports.sections.basis import blocks, verification
from tcdp_audit_reports.sections.unexamined import answered, unexamined

FACTS = ("sex", "age", "race", "marital", "school", "born")
PEOPLE = pa.table(
    {
        **{name: ["a"] * 12 + ["b"] for name in FACTS},
        "work": ["x", "y", "z"] * 4 + ["w"],
        "pay": ["low"] * 12 + ["high"],
        "employer": ["state"] * 13,
    }
)
ROLES: dict[str, Any] = {
    **{name: {"role": "quasi_identifier", "label": f"the {name}"} for name in FACTS},
    "work": {"role": "sensitive"},
    "pay": {"role": "sensitive"},
    "employer": {"role": "insensitive", "label": "kind of employer"},
}
OF_PAY = {"distinct_l_diversity": {"l": 2, "attribute": "pay"}}
OF_WORK = {"t_closeness": {"t": 0.3, "attribute": "work"}}


def of(*expect: dict[str, Any], table: pa.Table = PEOPLE, **roles: Any) -> Audit:
    """An audit of some people."""
    policy = {"version": 1, "unit_name": "person", "attributes": {**ROLES, **roles}, "expect": [*expect]}
    return tcdp_audit.audit(table, policy)


def test_what_is_certain_in_a_large_group_comes_before_a_guess_at_someone_who_is_alone() -> None:
    said = "Worst for one person: who knows the facts about one of 12 people in a group knows the 'pay' for certain"
    for demands in ((OF_PAY, OF_WORK), (OF_WORK, OF_PAY)):
        number = 1 + demands.index(OF_PAY)
        assert f"{said} (demand {number})." in relation(of(*demands))


def test_a_guess_at_someone_who_is_alone_says_why_it_is_certain() -> None:
    said = relation(of({"k_anonymity": {"k": 2}}, OF_WORK))
    assert (
        "Worst for one person: who knows the facts about one person knows the 'work' for certain, as no one else has "
        "these facts (demand 2)." in said
    )


def test_without_a_value_of_everyone_a_number_of_values_makes_no_one_certain() -> None:
    table = PEOPLE.set_column(PEOPLE.column_names.index("pay"), "pay", pa.array(["low"] * 11 + [None, "high"]))
    assert "knows the 'pay' for certain" not in relation(of(OF_PAY, OF_WORK, table=table))


def reached(audit: Audit, who: str) -> str:
    rows = next(one for one in stories(audit) if not isinstance(one, str)).body
    return next(str(row[2]) for row in rows if row[0] == who)


def test_the_neighbour_knows_every_fact_by_name() -> None:
    by = reached(of({"k_anonymity": {"k": 5}}), "The neighbour").partition(":")[0]
    assert by == "By the sex, the age, the race, the marital, the school and the born"


def test_a_check_answers_another_only_where_it_judged_every_secret() -> None:
    some, every = of(OF_PAY), of(OF_PAY, {"distinct_l_diversity": {"l": 2, "attribute": "work"}})
    others = {"homogeneity", "background_knowledge"}
    assert not others & {one.name for one in answered(some)}
    assert others <= unexamined(some).keys()
    assert others <= {one.name for one in answered(every)}
    assert not others & unexamined(every).keys()
    for who in ("The colleague", "The insider"):
        assert reached(some, who).endswith(" 'work': not counted.")
        assert "not counted" not in reached(every, who)


def test_a_number_that_counts_people_to_be_safe_is_no_least_number() -> None:
    work = pa.array([None] * 12 + ["w"], type=pa.string())
    table = PEOPLE.set_column(PEOPLE.column_names.index("work"), "work", work)
    diversity = {"distinct_l_diversity": {"l": 2, "attribute": "work"}}
    average = {"reidentification_risk": {"measure": "average", "at_most": 0.01}}
    safe = of({"k_anonymity": {"k": 2}}, diversity, average, table=table)
    assert safe.exposed is not None
    assert safe.exposed.is_least
    sentence = safe.as_json()["verdict"]["sentence"]
    assert "13 people (100%) are counted as exposed, each once; up to 12 of them to be safe." in sentence
    assert "counted as exposed" not in of({"k_anonymity": {"k": 2}}, OF_WORK).as_json()["verdict"]["sentence"]


def text(audit: Audit) -> str:
    return " ".join(one.text for one in blocks(audit) if isinstance(one, Paragraph))


def test_a_harmless_column_that_an_intruder_might_know_is_named_among_what_was_not_tried() -> None:
    said = "Other roles of columns, such as kind of employer as a fact that an intruder knows, and other limits, were"
    assert said in text(of({"k_anonymity": {"k": 2}}))
    without = of({"k_anonymity": {"k": 2}}, table=PEOPLE.drop_columns(["employer"]))
    assert "Other roles of columns and other limits, were" not in text(without)
    assert "Other roles of columns, and other limits, were not tried" in text(without)


@pytest.mark.parametrize("hierarchy", [True, False])
def test_verification_names_the_files_that_the_policy_reads(tmp_path: Path, hierarchy: bool) -> None:
    (tmp_path / "people.csv").write_text("age\n34\n35\n", encoding="utf-8")
    (tmp_path / "ages.csv").write_text("34;30-39\n35;30-39\n", encoding="utf-8")
    of_age = ", hierarchy: ages.csv" if hierarchy else ""
    policy = f"version: 1\nattributes:\n  age: {{role: quasi_identifier{of_age}}}\nexpect:\n  - k_anonymity: {{k: 2}}\n"
    (tmp_path / "people.tcdp.yaml").write_text(policy, encoding="utf-8")
    steps = verification(tcdp_audit.audit(tmp_path / "people.csv", tmp_path / "people.tcdp.yaml"))
    named = [one.text for one in steps if "reads" in one.text]
    assert named == (["The policy reads ages.csv, too; annex D has its SHA-256."] if hierarchy else [])
    assert len(steps) == 3 + hierarchy
