"""The unit of an attribute's numbers: read, refused where there are none, shown, and used in sentences."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator

from tcdp_audit import PolicyError, audit, load_policy
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.policy.schema import policy_schema
from tcdp_audit.core.results.comparison import compare
from tcdp_audit.core.results.written import read_audit
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
RESULT = json.loads(files("tcdp_audit.core.results").joinpath("result.schema.json").read_text(encoding="utf-8"))
TABLE = pa.table({"zip": ["a"] * 10 + ["b"] * 10, "stay": [str(one) for one in range(1, 21)]})
POLICY = """\
version: 1
attributes:
  zip: {role: quasi_identifier}
  stay: {role: sensitive, scale: numeric, measured_in: days}
expect:
  - t_closeness: {t: 0.1, distance: ordered}
"""


def loaded(folder: Path, text: str) -> Policy:
    path = folder / "p.tcdp.yaml"
    path.write_text(text, encoding="utf-8")
    return load_policy(path, PLUGINS)


def test_a_distance_is_said_in_it(tmp_path: Path) -> None:
    (outcome,) = audit(TABLE, loaded(tmp_path, POLICY)).expectations
    assert outcome.individual_impact.endswith("of 10 records, 'stay' is on average 5 days below everyone's.")


def test_an_order_of_numbers_may_have_one(tmp_path: Path) -> None:
    order = ", ".join(f"'{one}'" for one in range(1, 21))
    (outcome,) = audit(TABLE, loaded(tmp_path, POLICY.replace("numeric", f"ordinal, order: [{order}]"))).expectations
    assert outcome.individual_impact.endswith("is on average 5 days below everyone's.")


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ("scale: nominal, measured_in: days", "measured_in needs numbers: `scale: numeric`, or an order of numbers"),
        ("scale: ordinal, order: [low, high], measured_in: days", "measured_in needs numbers"),
        ("scale: numeric, measured_in: 24 hours", "must be a noun in the plural, such as days or euros"),
        ("scale: numeric, measured_in: ''", "must be a noun in the plural"),
        ("scale: numeric, measured_in: 5", "must be text"),
    ],
)
def test_what_is_no_unit_is_a_fault_at_its_place(tmp_path: Path, declared: str, says: str) -> None:
    with pytest.raises(PolicyError) as raised:
        loaded(tmp_path, POLICY.replace("scale: numeric, measured_in: days", declared))
    ((line, _, sentence),) = raised.value.faults
    assert line == 4
    assert sentence.startswith("attributes.stay")
    assert says in sentence


def test_the_schemas_of_policies_and_results_have_it(tmp_path: Path) -> None:
    schema = Draft202012Validator(policy_schema(PLUGINS.checks, PLUGINS.remedies))
    policy: dict[str, Any] = {"version": 1, "attributes": {"a": {"role": "sensitive", "measured_in": "days"}}}
    assert schema.is_valid({**policy, "expect": [{"k_anonymity": {"k": 2}}]})
    policy["attributes"]["a"]["measured_in"] = "24 hours"
    assert not schema.is_valid({**policy, "expect": [{"k_anonymity": {"k": 2}}]})
    result = audit(TABLE, loaded(tmp_path, POLICY)).as_json()
    Draft202012Validator(RESULT).validate(json.loads(json.dumps(result)))
    assert {one["name"]: one.get("measured_in") for one in result["columns"]} == {"zip": None, "stay": "days"}


def test_a_comparison_shows_another_unit_and_no_figure_changes(tmp_path: Path) -> None:
    audits = []
    for number, unit in enumerate(("days", "weeks")):
        done = audit(TABLE, loaded(tmp_path, POLICY.replace("days", unit)))
        done.write(tmp_path / f"{number}.json")
        audits.append(read_audit(tmp_path / f"{number}.json"))
    (column,) = compare(*audits, {}).changed_columns
    assert (column.old, column.new) == ("measured_in: days", "measured_in: weeks")
