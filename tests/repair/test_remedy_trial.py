"""Remedies tried during an audit: what they would cost, and never a verdict."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
import yaml
from rich.console import Console

import tcdp_audit
from tcdp_audit.cli.schema import result_schema
from tcdp_audit.cli.terminal import print_audit
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.repair import fixing
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.change_log import Step
from tcdp_audit.core.results.setting_trial import RemedyTrial
from tcdp_audit.plugin.report import Paragraph, Rows
from tcdp_audit.verification import State, verify
from tcdp_audit_reports.remedy.advice import row_examples, trial_table
from tcdp_audit_reports.sections.next_steps import steps

TABLE = pa.table(
    {
        "age": [20, 21, 33, 51, 52, 67],
        "zip": [f"zip {one}" for one in "abcdab"],
        "disease": ["gout", "flu", "gout", "flu", "gout", "flu"],
    }
)
MONDRIAN: dict[str, Any] = {"remedy": [{"mondrian": {}}]}
NOISE: dict[str, Any] = {
    "remedy": [{"noise": {"attribute": "age", "mechanism": "laplace", "epsilon": 1, "bounds": [0, 100]}}]
}


def policy(k: int = 3, role: str = "sensitive", **further: Any) -> dict[str, Any]:
    roles = {"age": "quasi_identifier", "zip": "quasi_identifier", "disease": role}
    scales = {"age": {"scale": "numeric"}}
    attributes = {name: {"role": one, **scales.get(name, {})} for name, one in roles.items()}
    return {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": k}}], **further}


def tried(**given: Any) -> Audit:
    return tcdp_audit.audit(TABLE, policy(**given), try_remedies=True)


@pytest.fixture(scope="module")
def planned() -> Audit:
    return tried()


def test_the_trial_is_what_fix_does_and_leaves_the_verdict(planned: Audit) -> None:
    assert planned.remedy_trial is not None
    log = tcdp_audit.fix(TABLE, policy()).log.as_json()
    entry = planned.remedy_trial.as_json()
    assert (entry.pop("passes"), entry) == (True, {name: log[name] for name in entry})
    assert entry["steps"]
    plain = replace(planned, remedy_trial=None)
    assert (planned.status, planned.exit_code()) == (plain.status, plain.exit_code()) == ("failed", 1)
    assert planned.outcomes == tcdp_audit.audit(TABLE, policy()).outcomes


def test_the_result_is_in_the_contract(planned: Audit) -> None:
    jsonschema.validate(json.loads(planned.to_json()), json.loads(result_schema()))
    assert "remedy_trial" not in tcdp_audit.audit(TABLE, policy()).as_json()


def advice(audit: Audit) -> Paragraph:
    """The step with the remedy, or with what it made."""
    return next(
        one for one in steps(audit) if one.lead.startswith(("Then name", "Decide whether", "Then repair", "Publish"))
    )


def test_the_report_has_the_lines_and_their_cost(planned: Audit) -> None:
    last = advice(planned)
    assert last.lead == "Decide whether the file is worth its repair, which takes much from it."
    assert last.lines == ', "remedy": [{"mondrian": {}}]'
    assert planned.remedy_trial is not None
    assert planned.remedy_trial.log is not None
    added = json.loads(f'{{"version": 1{last.lines}}}')  # before the last brace of a policy that is JSON
    assert added["remedy"] == yaml.safe_load(planned.remedy_trial.log.lines)["remedy"]
    assert "Put this before the last brace of the policy (annex D; save it as POLICY.json)" in last.text
    assert "No record removed; 12 values changed, most of all in age (100% of its values); simple tables" in last.text
    assert re.search(r"age loses [\d.]+% of its detail, though no other remedy is known to pass", last.text)
    assert "it would then pass, with 1 warning (Sensitive columns without a demand)." in last.text
    assert last.code == 'tcdp_audit.fix(RELEASE, "POLICY.json").released'
    for suffix in (".html", ".md"):
        assert "<h1>Fit" not in planned.render(suffix)
        assert last.lines in unescape(planned.render(suffix))
    named = advice(tried(**MONDRIAN))
    assert named.lead == "Decide whether the file is worth its repair, which takes much from it."
    assert "no other remedy" not in named.text


def test_where_nothing_helps_the_reason_is_said() -> None:
    audit = tried(k=7, **MONDRIAN)
    assert audit.remedy_trial is not None
    assert not audit.remedy_trial.passes
    assert audit.remedy_trial.reason == (
        "the only demand still fails: k_anonymity; k_anonymity needs classes of at least 7 records, and the release "
        "has 6; release more records"
    )
    last = steps(audit)[-1]
    assert last.lead == "None of the remedies that were tried makes the file pass."
    assert "The only demand still fails" in last.text
    assert (last.code, last.lines) == ("", "")


def test_whatever_was_tried_has_its_cost_and_what_came_of_it(planned: Audit) -> None:
    assert planned.remedy_trial is not None
    table = trial_table(planned, planned.remedy_trial)
    assert table is not None
    assert table.body[0][:2] == [
        "Wider values within neighbouring groups",
        "12 values changed, 35.3% of the detail lost",
    ]
    assert table.body[0][2] == "The file passes after it; what it costs is said above."
    known = [row[1] != "not known" for row in table.body]
    assert known == sorted(known, reverse=True)
    assert not [row for row in table.body if "`" in "".join(row)]
    for suffix in (".html", ".md"):
        assert table.caption in planned.render(suffix)


def test_what_happens_to_a_row_is_shown_with_an_invented_one(planned: Audit) -> None:
    assert planned.remedy_trial is not None
    assert planned.remedy_trial.log is not None
    sentence, row = row_examples(planned, planned.remedy_trial.log)
    assert isinstance(sentence, Paragraph)
    assert "replaced by a range that also covers their neighbours" in sentence.text
    assert isinstance(row, Rows)
    assert row.head == ("row", "age", "postcode", "main diagnosis")
    assert row.body == [["before", "34", "1010", "asthma"], ["after", "30-39", "1010", "asthma"]]


def test_the_most_effective_come_first(planned: Audit) -> None:
    assert trial_table(planned, RemedyTrial(log=None, passes=False)) is None
    failing = tuple(tcdp_audit.audit(TABLE, policy()).expectations)
    steps_tried = [
        Step(remedy="a", title="unfit", parameters={}, error="it does not apply"),
        Step(remedy="b", title="weak", parameters={}, outcomes=failing, cells={"age": 1}, loss=0.1),
        Step(remedy="c", title="dear", parameters={"cut": 2}, cells={"age": 1}, suppressed=2, loss=0.5),
        Step(remedy="d", title="cheap", parameters={}, cells={"age": 3}, loss=0.2),
    ]
    made = tcdp_audit.fix(TABLE, policy()).log
    table = trial_table(planned, RemedyTrial(log=replace(made, steps=(), tried=tuple(steps_tried)), passes=False))
    assert table is not None
    assert [row[0] for row in table.body] == ["Cheap", "Dear, cut 2", "Weak", "Unfit"]
    assert table.body[1][1:] == [
        "2 records removed, 1 value changed, 50.0% of the detail lost",
        "The file passes after it, too.",
    ]
    assert table.body[2][2] == "One demand is still not met: k-anonymity."
    assert table.body[3][1:] == ["not known", "It does not apply."]


@pytest.mark.parametrize(
    "remedies",
    [
        {},
        pytest.param(MONDRIAN, marks=pytest.mark.long),
        pytest.param({"remedy": [{"suppression": {"of": "cells"}}]}, marks=pytest.mark.long),
    ],
    ids=["planned", "mondrian", "suppression"],
)
def test_no_cell_is_reported(remedies: dict[str, Any]) -> None:
    rows = [f"planted {one}" for one in "abcdefghij"] * 2
    table = pa.table({"age": [867530900 + one for one in range(20)], "zip": rows, "disease": rows[::-1]})
    demands = [{"k_anonymity": {"k": 4}}, {"t_closeness": {"t": 0.5}}]
    audit = tcdp_audit.audit(table, {**policy(**remedies), "expect": demands}, try_remedies=True)
    assert audit.remedy_trial is not None
    assert audit.remedy_trial.log is not None
    output = io.StringIO()
    print_audit(Console(file=output, width=80), audit, [])
    for text in (output.getvalue(), *(audit.render(one) for one in (".html", ".md", ".json"))):
        assert "planted" not in text
        assert "8675309" not in text


@pytest.mark.long
def test_the_bar_is_never_lowered(planned: Audit) -> None:
    for audit in (planned, tried(k=7), tried(k=7, **MONDRIAN)):
        for one in steps(audit):
            assert "expect" not in one.lines
            assert "demand less" not in one.text
        assert audit.remedy_trial is not None
        table = trial_table(audit, audit.remedy_trial)
        assert "demand less" not in str(table)


@pytest.mark.long
def test_what_is_left_as_a_warning_is_counted() -> None:
    warned = [{"k_anonymity": {"k": 3}}, {"k_anonymity": {"k": 7, "severity": "warning"}}]
    last = advice(tcdp_audit.audit(TABLE, {**policy(), "expect": warned}, try_remedies=True))
    assert "it would then pass, with 2 warnings (" in last.text


@pytest.mark.long
def test_a_report_of_fix_uses_its_plan() -> None:
    made = tcdp_audit.fix(TABLE, policy())
    last = advice(made.after)
    assert last.lead == "Publish the repaired file, not the one that came in, and name the remedies in the policy."
    assert (
        "It was made by: wider values within neighbouring groups. The cost: no record removed, 12 entries changed; "
        in last.text
    )
    assert last.lines == ', "remedy": [{"mondrian": {}}]'  # as the policy is JSON
    named = advice(tcdp_audit.fix(TABLE, policy(**MONDRIAN)).after)
    assert (named.lead, named.lines) == ("Publish the repaired file, not the one that came in.", "")
    in_vain = steps(tcdp_audit.fix(TABLE, policy(k=7)).after)[-1]
    assert in_vain.lead == "None of the remedies that were tried makes the file pass."
    assert in_vain.text.startswith("The only demand still fails: k_anonymity; ")
    assert "Tried in vain: " in in_vain.text
    untouched = steps(tcdp_audit.fix(TABLE, policy(k=1)).after)
    assert [one.lead for one in untouched] == ["Publish, or ask more."]  # nothing could fail, so nothing to repair


def test_what_no_remedy_can_change_is_said_as_fix_says_it() -> None:
    table = TABLE.append_column("note", [["x"] * TABLE.num_rows])
    audit = tcdp_audit.audit(table, policy(), try_remedies=True)
    assert audit.remedy_trial is not None
    assert audit.remedy_trial.reason == tcdp_audit.fix(table, policy()).log.reason
    assert audit.remedy_trial.reason.startswith("no remedy can change this: ")


def test_what_would_be_dropped_is_said_once() -> None:
    audit = tried(role="identifier")
    assert audit.remedy_trial is not None
    entry = audit.remedy_trial.as_json()
    assert (entry["passes"], entry["columns_dropped"]) == (True, [{"name": "disease", "why": "identifier"}])
    last = steps(audit)[-1]
    taken_out = [one for one in steps(audit) if one.lead.startswith("Take disease")]
    assert "leaves out" not in last.text
    assert [one.text for one in taken_out] == [
        "Leaving it out costs nothing: delete it, or run the command below, which does more."
    ]
    output = io.StringIO()
    print_audit(Console(file=output, width=80), audit, [])
    assert "\nDropped from what is written: 'disease' (identifier).\n\nRemedies, tried" in output.getvalue()


def test_a_release_that_only_needs_to_lose_an_identifier_needs_no_remedy() -> None:
    table = pa.table({"age": [20, 20, 51, 51], "zip": list("aabb"), "disease": list("wxyz")})
    audit = tcdp_audit.audit(table, policy(2, "identifier"), try_remedies=True)
    assert audit.remedy_trial is not None
    assert (audit.remedy_trial.passes, audit.remedy_trial.only_drops) == (True, True)
    last = steps(audit)[-1]
    assert (last.lead, last.lines) == ("Drop these columns.", "")
    assert last.code == 'tcdp_audit.fix(RELEASE, "POLICY.json").released'
    output = io.StringIO()
    print_audit(Console(file=output, width=80), audit, [])
    assert "Dropped from what is written: 'disease' (identifier).\nThe release would then pass" in output.getvalue()
    assert "✗ Not fit for release." in output.getvalue()
    done = tcdp_audit.fix(table, policy(2, "identifier"))
    assert [one.lead for one in steps(done.after)][-1] != "None of the remedies that were tried makes the file pass."


def test_nothing_is_tried_on_a_release_that_passes() -> None:
    assert tried(k=1).remedy_trial is None


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (DataError("it is too large"), "it is too large"),
        (MemoryError("planted"), r"the trial raised MemoryError in test_remedy_trial.py, line \d+"),
    ],
)
def test_remedies_that_cannot_be_tried_take_no_audit_down(
    monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str
) -> None:
    def refused(_: Any) -> None:
        raise error

    monkeypatch.setattr(fixing, "repaired", refused)
    audit = tried()
    jsonschema.validate(json.loads(audit.to_json()), json.loads(result_schema()))
    assert audit.exit_code() == 1
    assert audit.remedy_trial is not None
    assert re.fullmatch(f"remedies could not be tried: {sentence}", audit.remedy_trial.reason)
    assert re.fullmatch(f"Remedies could not be tried: {sentence}. Nothing was changed.", steps(audit)[-1].text)


def test_verify_tries_the_remedies_again(tmp_path: Path) -> None:
    release, result, page = (tmp_path / name for name in ("r.csv", "r.json", "r.html"))
    arrow_csv.write_csv(TABLE, release)
    document = tmp_path / "p.tcdp.yaml"
    document.write_text(json.dumps(policy(**MONDRIAN)), encoding="utf-8")
    audit = tcdp_audit.audit(release, document, try_remedies=True, column_risks=True)
    audit.write(result)
    audit.write(page)
    for one in (result, page):
        verification = verify(one, release)
        assert verification.is_confirmed, verification.differences
        assert "remedies" in {point.subject for point in verification.points}
    forged = json.loads(result.read_text(encoding="utf-8"))
    forged["remedy_trial"]["records_suppressed"] = 5
    result.write_text(json.dumps(forged), encoding="utf-8")
    assert [one.sentence for one in verify(result, release).differences] == [
        "proof.sha256 is not the digest of the result",
        "records_suppressed was 5, is 0",
    ]


@pytest.mark.long
def test_noise_that_was_tried_cannot_be_tried_again(tmp_path: Path) -> None:
    release, result, document = (tmp_path / name for name in ("r.csv", "r.json", "p.tcdp.yaml"))
    arrow_csv.write_csv(TABLE, release)
    document.write_text(json.dumps(policy(**NOISE)), encoding="utf-8")
    tcdp_audit.audit(release, document, try_remedies=True).write(result)
    points = [one for one in verify(result, release).points if one.subject == "remedies"]
    assert [one.state for one in points] == [State.UNVERIFIED]
