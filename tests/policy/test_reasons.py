"""A reason of an attribute or an expectation: read, refused where it says nothing, and quoted as plain text."""

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
from tcdp_audit.core.results.comparison import AuditComparison, compare
from tcdp_audit.core.results.written import WrittenAudit, read_audit
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
RESULT = json.loads(files("tcdp_audit.core.results").joinpath("result.schema.json").read_text(encoding="utf-8"))
TABLE = pa.table({"zip": ["a", "a", "b", "b"], "disease": ["x", "y", "x", "z"]})
POLICY = """\
version: 1
attributes:
  zip: {role: quasi_identifier, reason: "the register\\n  of <b>voters</b> | *has* it "}
  disease: {role: sensitive}
expect:
  - k_anonymity: {k: 2, reason: the board asked}
  - distinct_l_diversity: {l: 2}
"""


def loaded(folder: Path, text: str) -> Policy:
    path = folder / "p.tcdp.yaml"
    path.write_text(text, encoding="utf-8")
    return load_policy(path, PLUGINS)


def written(folder: Path, name: str, text: str) -> WrittenAudit:
    audit(TABLE, loaded(folder, text)).write(folder / name)
    return read_audit(folder / name)


def test_blanks_around_a_reason_go_and_lines_in_it_stay(tmp_path: Path) -> None:
    policy = loaded(tmp_path, POLICY)
    assert policy.attributes["zip"].reason == "the register\n  of <b>voters</b> | *has* it"
    assert policy.attributes["disease"].reason is None
    assert [one.parameters.reason for one in policy.expectations] == ["the board asked", None]


@pytest.mark.parametrize("typed", ["''", "' '", "5", "true", "[a]", "{a: b}"])
def test_what_is_no_reason_is_a_fault_at_its_place(tmp_path: Path, typed: str) -> None:
    faulty = POLICY.replace("{role: sensitive}", f"{{role: sensitive, reason: {typed}}}")
    faulty = faulty.replace("reason: the board asked", f"reason: {typed}")
    with pytest.raises(PolicyError) as raised:
        loaded(tmp_path, faulty)
    lines = [line for line, _, _ in raised.value.faults]
    columns = [column for _, column, _ in raised.value.faults]
    sentences = [sentence for _, _, sentence in raised.value.faults]
    assert (lines, columns) == ([4, 6], [38, 33] if typed[0] not in "[{" else [30, 25])
    assert [one.split(": ")[0] for one in sentences] == ["attributes.disease.reason", "expect[0].k_anonymity.reason"]
    assert all("must be text" in one or "must not be empty" in one for one in sentences)


def test_the_schema_of_policies_has_it() -> None:
    schema = Draft202012Validator(policy_schema(PLUGINS.checks, PLUGINS.remedies))
    policy: dict[str, Any] = {
        "version": 1,
        "attributes": {"a": {"role": "sensitive", "reason": "r"}},
        "expect": [{"k_anonymity": {"k": 2, "reason": "r"}}],
    }
    assert schema.is_valid(policy)
    policy["attributes"]["a"]["reason"] = " "
    assert not schema.is_valid(policy)
    policy["attributes"]["a"]["reason"] = "r"
    policy["expect"][0]["k_anonymity"]["reason"] = 5
    assert not schema.is_valid(policy)


def test_a_result_has_the_reasons_that_there_are(tmp_path: Path) -> None:
    result = audit(TABLE, loaded(tmp_path, POLICY)).as_json()
    Draft202012Validator(RESULT).validate(json.loads(json.dumps(result)))
    demands = [one for one in result["outcomes"] if one["check"] in ("k_anonymity", "distinct_l_diversity")]
    assert [one.get("reason") for one in demands] == ["the board asked", None]
    assert {one["name"]: one.get("reason", "")[:12] for one in result["columns"]} == {
        "zip": "the register",
        "disease": "",
    }
    assert all("reason" not in one["parameters"] for one in demands)


def test_a_reason_changes_no_figure_and_no_implication(tmp_path: Path) -> None:
    without = POLICY.replace(", reason: the board asked", "")
    named = POLICY.replace("the board asked", "disease")  # the name of a sensitive column is none here
    outcomes = [audit(TABLE, loaded(tmp_path, text)).as_json()["outcomes"] for text in (without, named)]
    for one in outcomes[1]:
        one.pop("reason", None)
    assert outcomes[0] == outcomes[1]


def test_reports_quote_reasons_as_plain_text(tmp_path: Path) -> None:
    done = audit(TABLE, loaded(tmp_path, POLICY.replace("the board asked", '"<i>the</i>\\n{{7*7}}"')))
    for name in ("r.html", "r.md"):
        done.write(tmp_path / name)
    html, markdown = ((tmp_path / name).read_text(encoding="utf-8") for name in ("r.html", "r.md"))
    assert "the register of &lt;b&gt;voters&lt;/b&gt; | *has* it" in html
    assert "“&lt;i&gt;the&lt;/i&gt; {{7*7}}”" in html
    assert "<b>voters" not in html
    assert "<i>the" not in html
    assert "<b>voters" not in markdown
    assert "voters" in markdown
    assert "The policy’s reason" in markdown


def compared(folder: Path, old: str, new: str) -> AuditComparison:
    return compare(written(folder, "old.json", old), written(folder, "new.json", new), {})


def test_a_comparison_shows_a_reason_that_changed(tmp_path: Path) -> None:
    assert compared(tmp_path, POLICY, POLICY).is_same
    demand = compared(tmp_path, POLICY, POLICY.replace("the board asked", "the law asks"))
    assert not demand.is_same
    assert not demand.is_worse
    assert [one.reasons for one in demand.expectations] == ["reason: the law asks, was the board asked", ""]
    assert demand.as_json()["expectations"][0]["new"]["reason"] == "the law asks"
    column = compared(tmp_path, POLICY, POLICY.replace("{role: sensitive}", "{role: sensitive, reason: a diagnosis}"))
    assert [(one.old, one.new) for one in column.changed_columns] == [("reason: none", "reason: a diagnosis")]
