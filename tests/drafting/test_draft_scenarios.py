"""`init --scenarios`: intruders by kinds of columns, with reasons; what is left out is said, and no column is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings, strategies as st

from tcdp_audit import audit, draft_policy
from tcdp_audit.drafting.roles import Evidence
from tcdp_audit.drafting.scenarios import kind_of, propose_scenarios
from tcdp_audit.plugin.detector import Role

KINDS = ("age", "sex", "place", "origin", "family", "work", "education", "date", "")
RECORDS = 60
COLUMNS = {
    "age": [str(20 + number % 40) for number in range(RECORDS)],
    "sex": ["fm"[number % 2] for number in range(RECORDS)],
    "region": [["north", "south"][number % 3 == 0] for number in range(RECORDS)],
    "marital_status": ["single", "married", "widowed"] * (RECORDS // 3),
    "occupation": ["cook", "nurse", "smith", "clerk"] * (RECORDS // 4),
    "salary": [str(1000 + 37 * (number % 23)) for number in range(RECORDS)],
    "diagnosis": ["flu", "asthma"] * (RECORDS // 2),
}


def table(*names: str) -> pa.Table:
    return pa.table({name: COLUMNS[name] for name in names or COLUMNS})


def written(draft: Any, folder: Path) -> tuple[str, dict[str, Any]]:
    """The text of a draft and the policy in it."""
    text = draft.text(folder / "people.tcdp.yaml")
    return text, yaml.safe_load(text)


def test_three_intruders_with_their_columns(tmp_path: Path) -> None:
    draft = draft_policy(table(), scenarios=True)
    text, policy = written(draft, tmp_path)

    assert policy["scenarios"] == {
        "neighbour": {"says": "a person next door", "knows": ["age", "sex", "region", "marital_status"]},
        "journalist": {"says": "a journalist with a register", "knows": ["age", "sex", "region"]},
        "colleague": {"says": "a colleague", "knows": ["age", "sex", "region", "marital_status", "occupation"]},
    }
    assert draft.unproposed == []
    assert "    # population: TODO\n    # in_release: unknown\n" in text
    assert "Would a colleague know 'salary'? Then add it to `knows`" in text


def test_the_draft_is_a_policy_that_measures_in_each(tmp_path: Path) -> None:
    draft = draft_policy(table(), scenarios=True)
    draft.write(tmp_path / "people.tcdp.yaml")
    result = audit(table(), tmp_path / "people.tcdp.yaml")

    assert [one.scenario for one in result.expectations if one.check == "k_anonymity"] == [
        "neighbour",
        "journalist",
        "colleague",
    ]
    assert result.status == "measured"


def test_the_register_is_asked_once_its_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "people.tcdp.yaml"
    draft_policy(table(), scenarios=True).write(path)
    common = zip(*(COLUMNS[name] for name in ("age", "sex", "region")), strict=True)
    lines = [",".join(row) for row in [("age", "sex", "region"), *common]]
    (tmp_path / "register.csv").write_text("\n".join(lines), encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    text = text.replace("# population: TODO", "population: register.csv").replace("# in_release", "in_release")
    demands = "  - reidentification_risk: {at_most: 1/2, against: journalist}\n  - k_anonymity: {k: 2}\n"
    path.write_text(text + demands, encoding="utf-8")
    (outcome,) = (one for one in audit(table(), path).expectations if one.check == "reidentification_risk")

    assert outcome.parameters["scenario"] == "journalist"
    assert outcome.details["classes_are_of"] == "population"


def test_without_the_option_there_are_none(tmp_path: Path) -> None:
    draft = draft_policy(table())

    assert (draft.scenarios, draft.unproposed) == ((), ())
    assert "scenarios" not in written(draft, tmp_path)[0]


@pytest.mark.parametrize(
    ("names", "proposed", "sentences"),
    [
        (
            ("occupation", "diagnosis"),
            ["colleague"],
            ["No neighbour is proposed: no quasi-identifier is", "No journalist with a register is proposed"],
        ),
        (
            ("marital_status", "diagnosis"),
            ["neighbour"],
            ["No journalist", "No colleague is proposed: a neighbour knows"],
        ),
        (("age", "diagnosis"), ["neighbour", "journalist"], ["No colleague is proposed"]),
        (("salary", "diagnosis"), [], ["No scenario is proposed: no column has the role quasi_identifier."]),
    ],
)
def test_what_the_columns_do_not_suffice_for_is_said(
    names: tuple[str, ...], proposed: list[str], sentences: list[str], tmp_path: Path
) -> None:
    draft = draft_policy(table(*names), scenarios=True)
    text, policy = written(draft, tmp_path)
    text = " ".join(line.removeprefix("# ") for line in text.splitlines())

    assert list(policy.get("scenarios", ())) == proposed
    assert [one for one in sentences if one not in text] == []
    assert len(draft.unproposed) == len(sentences)


def test_columns_without_a_role_are_in_none(tmp_path: Path) -> None:
    people = table("age", "occupation").append_column("shoe", pa.array(["42"] * RECORDS))
    draft = draft_policy(people, scenarios=True)

    assert draft.undecided == ["shoe"]
    assert all("shoe" not in one.knows for one in draft.scenarios)
    assert "Columns whose role is TODO are in none" in written(draft, tmp_path)[0]


def test_columns_of_several_tables(tmp_path: Path) -> None:
    patients = pa.table({"patient_id": ["p", "q", "r"], "sex": ["f", "f", "m"], "age": ["30", "40", "50"]})
    visits = pa.table({"patient_id": ["p", "p", "q"], "region": ["n", "s", "n"], "diagnosis": ["x", "y", "x"]})
    draft = draft_policy({"patients": patients, "visits": visits}, scenarios=True)

    assert [one.knows for one in draft.scenarios] == [["patients.sex", "patients.age", "visits.region"]] * 2
    draft.write(tmp_path / "tables.tcdp.yaml")
    result = audit({"patients": patients, "visits": visits}, tmp_path / "tables.tcdp.yaml")
    assert {one.scenario for one in result.expectations if one.check == "k_anonymity"} == {"neighbour", "journalist"}


@given(st.lists(st.sampled_from(KINDS), max_size=6))
@settings(max_examples=30)
def test_every_quasi_identifier_is_known_to_an_intruder(kinds: list[str]) -> None:
    known = [(f"c{number}", kind) for number, kind in enumerate(kinds)]
    scenarios, notes = propose_scenarios(known, [])

    assert {name for one in scenarios for name in one.knows} == {name for name, _ in known}
    assert all(one.knows for one in scenarios)
    assert len(scenarios) + len(notes) == (3 if known else 1)


@pytest.mark.parametrize(
    ("name", "role", "kind"),
    [
        ("date_of_birth", Role.QUASI_IDENTIFIER, "age"),
        ("Geburtsdatum", Role.QUASI_IDENTIFIER, "age"),
        ("admission_date", Role.QUASI_IDENTIFIER, "date"),
        ("salary", Role.SENSITIVE, "money"),
        ("salary", Role.QUASI_IDENTIFIER, ""),
        ("age", Role.INSENSITIVE, ""),
        ("age", None, ""),
    ],
)
def test_kinds_of_columns(name: str, role: Role | None, kind: str) -> None:
    assert kind_of(name, role, Evidence()) == kind


def test_a_postal_code_under_any_name_is_a_place() -> None:
    assert kind_of("q7", Role.QUASI_IDENTIFIER, Evidence(known="its values are postal codes")) == "place"
