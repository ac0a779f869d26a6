"""What to do next: in the order of effect, tested or said to be unknown, and never a lower bar."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from html import unescape

import pandas as pd
import yaml
from html_page import Page
from report_samples import made_up

import tcdp_audit
from tcdp_audit.core.base.outcome import Status
from tcdp_audit_reports.sections.basis import flipping, how_counted, verification
from tcdp_audit_reports.sections.next_steps import steps

TABLE = pd.DataFrame({"id": range(6), "zip": list("112233"), "sex": list("ffmmff"), "ill": list("xyxyxy")})
POLICY = {
    "version": 1,
    "unit_name": "person",
    "attributes": {
        "id": {"role": "identifier"},
        "zip": {"role": "quasi_identifier", "label": "postcode"},
        "sex": {"role": "quasi_identifier"},
        "ill": {"role": "sensitive"},
    },
    "expect": [{"k_anonymity": {"k": 3}}],
}


def heads(audit):
    return [one.lead for one in steps(audit)]


def test_they_begin_with_what_fails_and_then_have_a_command():
    audit = tcdp_audit.audit(TABLE, POLICY, column_risks=True)
    reported = steps(audit)
    assert [one.lead for one in reported] == [
        "Take id out of the copy that is published.",
        "Decide on ill.",
        "Find out what a remedy costs.",
        "Protect the people whom failing demands expose, the largest number first.",
        "Coarsen postcode first.",
    ]
    assert "6 people (100%)" in reported[3].text
    assert reported[2].code == 'tcdp_audit.audit(RELEASE, "POLICY.json", try_remedies=True).render(".html")'
    assert "changes no table" in reported[2].text


def test_of_a_file_they_have_a_command(tmp_path):
    TABLE.to_csv(tmp_path / "people.csv", index=False)
    costs = next(one for one in steps(tcdp_audit.audit(tmp_path / "people.csv", POLICY)) if "costs" in one.lead)
    assert costs.code == "tcdp-audit check people.csv --policy POLICY.json --try-remedies --report REPORT.html"
    assert "writes no data" in costs.text


def test_the_largest_number_of_people_comes_first(with_outcomes):
    few, many = (made_up(1, 5, failing=(1, n), distribution=[[1, 1, n]], title=f"of {n}") for n in (2, 7))
    text = next(one.text for one in steps(with_outcomes(few, many)) if one.lead.startswith("Protect"))
    assert text.index("of 7") < text.index("of 2")


def test_what_could_not_be_checked_is_to_be_made_checkable(with_outcomes):
    audit = with_outcomes(made_up(None, 5, status=Status.ERROR, title="k-map", message="there is no population"))
    assert heads(audit) == ["Make it possible to check k-map."]


def test_a_release_that_passes_has_nothing_to_do():
    policy = {**POLICY, "expect": [{"homogeneity": {"at_most": "0.9"}}]}
    assert heads(tcdp_audit.audit(TABLE.drop(columns="id"), {**policy, "attributes": POLICY["attributes"]})) == [
        "Publish, or ask more."
    ]


def test_a_column_that_is_missing_is_a_step_though_every_demand_is_met():
    policy = {**POLICY, "expect": [{"homogeneity": {"at_most": "0.9"}}]}
    declared = {**POLICY["attributes"], "town": {"role": "insensitive"}}
    audit = tcdp_audit.audit(TABLE.drop(columns="id"), {**policy, "attributes": declared})
    assert audit.verdict == "failed"
    assert heads(audit) == ["Declared columns are missing."]


def test_no_report_offers_a_weaker_demand(salary_audit):
    for suffix in (".html", ".md"):
        text = salary_audit.render(suffix).split("<template")[0]
        assert "strictest demand" not in text
        assert "t: 0.37" not in text


def test_columns_are_reported_by_role_in_everyday_words():
    page = Page(tcdp_audit.audit(TABLE, POLICY, column_risks=True).render(".html"))
    text = page.with_id("section-columns").text
    for phrase in ("names a person: should not be here", "an intruder may know it", "must stay secret", "postcode"):
        assert phrase in text


def test_whether_another_convention_would_flip_the_verdict_is_said():
    missing = TABLE.assign(sex=[None, "f", "m", "m", "f", "f"])
    assert "was not tried" in flipping(tcdp_audit.audit(missing, POLICY))
    audit = tcdp_audit.audit(missing, {**POLICY, "expect": [{"k_anonymity": {"k": 2}}]}, all_conventions=True)
    assert "changes for k-anonymity" in flipping(audit)
    assert flipping(replace(audit, variants=audit.variants[:1])).startswith("No other way of counting could")


def test_verification_has_three_steps_with_whole_digests():
    audit = tcdp_audit.audit(TABLE, POLICY)
    digests = [one.code for one in verification(audit)]
    assert digests[:2] == [audit.release.sha256, audit.policy.sha256]
    assert digests[2] == 'tcdp_audit.verify("REPORT.html", RELEASE, "POLICY.json").is_confirmed'


def test_a_policy_of_a_program_is_saved_as_its_digest_wants_it(tmp_path):
    """The text that the annex shows has this digest, without a line break at the end, and confirms the report."""
    report = tmp_path / "report.html"
    TABLE.to_csv(tmp_path / "people.csv", index=False)
    audit = tcdp_audit.audit(tmp_path / "people.csv", POLICY)
    audit.write(report)
    _, saved, again = verification(audit)
    assert "its one line, without a line break at the end" in saved.text
    assert hashlib.sha256(audit.policy.text.encode()).hexdigest() == saved.code
    assert audit.policy.text in unescape(report.read_text(encoding="utf-8"))
    assert again.code == "tcdp-audit verify REPORT.html people.csv --policy POLICY.json"
    (tmp_path / "POLICY.json").write_text(audit.policy.text, encoding="utf-8")
    assert tcdp_audit.verify(report, tmp_path / "people.csv", tmp_path / "POLICY.json").is_confirmed


def test_each_compared_file_has_a_step_and_instructs(tmp_path):
    released = TABLE.assign(key=range(len(TABLE)))
    for name, table in (("released.csv", released), ("original.csv", released)):
        table.to_csv(tmp_path / name, index=False)
    attributes = {**POLICY["attributes"], "key": {"role": "insensitive"}}
    own = {"original": str(tmp_path / "original.csv"), "key": "key", "conventions": {"reference": "original"}}
    expect = [{"t_closeness": {"t": 0.5, "distance": "equal"}}]
    path = tmp_path / "own.tcdp.yaml"
    path.write_text(yaml.safe_dump({**POLICY, "attributes": attributes, "expect": expect, **own}))
    audit = tcdp_audit.audit(tmp_path / "released.csv", path)
    texts = [one.text for one in verification(audit)]
    assert texts[:3] == [
        "Compute the SHA-256 of released.csv, by sha256sum: a fingerprint that one changed letter changes. It must be",
        "Compute the SHA-256 of original.csv. It must be",
        "Compute that of the policy, own.tcdp.yaml. It must be",
    ]
    assert [one.code for one in verification(audit)][1] == audit.companions["original"].sha256


def test_a_policy_of_a_program_keeps_the_order_of_its_columns(tmp_path):
    """What the annex shows of it, saved as a file, is the same policy: its digest, and its sentences."""
    audit = tcdp_audit.audit(TABLE, POLICY)
    saved = tmp_path / "POLICY.json"
    saved.write_text(audit.policy.text)
    assert hashlib.sha256(saved.read_bytes()).hexdigest() == audit.policy.sha256
    again = tcdp_audit.audit(TABLE, yaml.safe_load(saved.read_text()))
    assert [one.message for one in again.outcomes] == [one.message for one in audit.outcomes]
    assert again.policy.sha256 == audit.policy.sha256


def test_a_step_names_the_column_that_joins_rows_which_no_demand_judges():
    table = TABLE.assign(home=[1, 1, 2, 2, 3, 3])
    attributes = {**POLICY["attributes"], "home": {"role": "insensitive"}}
    policy = {**POLICY, "attributes": attributes, "household": "home", "conventions": {"known_rows": "one"}}
    audit = tcdp_audit.audit(table, policy)
    assert "Decide on home: leave it out, or have whole households judged." in [one.lead for one in steps(audit)]
    assert "shows who is of one household: see what to do next" in audit.render(".md")
    assert "Of a household an intruder is taken to know one row (known_rows)." in how_counted(audit)


def test_no_way_of_counting_helps_where_one_demand_on_several_columns_always_fails():
    """Verdicts by convention are of demands, and outcomes of their columns: these are not paired one to one."""
    table = pd.DataFrame({"zip": ["1", "1", "2", None], "ill": list("abab"), "hurt": list("aaaa")})
    attributes = {"zip": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}, "hurt": {"role": "sensitive"}}
    claim = "but no way makes the release fit"
    for severity, claimed in (("error", True), ("warning", False)):
        asked = [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 3, "severity": severity}}]
        policy = {"version": 1, "attributes": attributes, "expect": asked}
        audit = tcdp_audit.audit(table, policy, all_conventions=True)
        assert len(audit.variants[0].verdicts) < len(audit.expectations)
        assert "The result changes for k-anonymity" in flipping(audit)
        assert (claim in flipping(audit)) is claimed
