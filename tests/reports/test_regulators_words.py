"""The three words of the Article 29 Working Party in a report name the checks that ask about each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import tcdp_audit
from tcdp_audit_plugins.sections.attacks import stories
from tcdp_audit_reports.sections.coverage import regulators

PEOPLE = pa.table({"age": [1, 2, 3, 4], "zip": ["a", "b", "a", "b"], "pay": [1, 2, 3, 3]})
STRANGERS = pa.table({"age": [1, 2, 5, 6], "zip": ["a", "a", "b", "b"], "pay": [2, 2, 3, 9]})
ROLES = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "zip": {"role": "quasi_identifier", "scale": "nominal"},
    "pay": {"role": "sensitive", "scale": "numeric"},
}


def audited(folder: Path, *expect: dict[str, Any]) -> tcdp_audit.Audit:
    pq.write_table(STRANGERS, folder / "holdout.parquet")
    holdout = str(folder / "holdout.parquet")
    policy = {"version": 1, "unit_name": "person", "holdout": holdout, "attributes": ROLES, "expect": list(expect)}
    return tcdp_audit.audit(PEOPLE, policy, PEOPLE)


def test_each_word_names_the_attack_of_its_name(tmp_path: Path):
    expect = (
        {"singling_out": {}},
        {"linkability": {"other_attributes": ["pay"]}},
        {"attribute_inference": {"target": "pay"}},
    )
    answers = {one.word: one.answer for one in regulators(audited(tmp_path, *expect))}
    assert answers == {
        "Singling out": "Asked by Singling out compared with a control.",
        "Linkability": "Asked by Linkability compared with a control.",
        "Inference": "Asked by Attribute inference compared with a control.",
    }


def test_attacks_beside_a_control_tell_their_story(tmp_path: Path):
    expect = {"linkability": {"other_attributes": ["pay"]}}, {"attribute_inference": {"target": "pay"}}
    _, table = stories(audited(tmp_path, *expect))
    reached = {row[0]: row[2] for row in table.body}  # type: ignore[union-attr]
    assert reached["The gossip"] == (
        "The nearest record shows 'pay' rightly for 100% of the people; of people who are not in the data, 25%."
    )
    assert reached["The data broker"] == (
        "Two lists of the same people are joined for 75% of them; of people who are not in the data, 25%."
    )
