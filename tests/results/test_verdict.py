"""The verdict in words: one count of demands, one number of people, and no release fit that fails a demand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import Audit, __version__, audit
from tcdp_audit.core.base.audit_figures import ExposureCount
from tcdp_audit.core.base.outcome import COLUMN_DEMANDS, STRUCTURE, Outcome, Severity, Status
from tcdp_audit.core.results.conditions import Condition, Kind, fit_sentence
from tcdp_audit.core.results.verdict import VERDICTS, conflicting_demands, exposed_sentence, verdict_sentence

WARDS = pa.table({"ward": list("aaabbc"), "illness": ["flu", "flu", "gout", "flu", "flu", "gout"], "id": range(6)})
ATTRIBUTES: dict[str, Any] = {"ward": {"role": "quasi_identifier"}, "illness": {"role": "sensitive"}}


def of(*expect: dict[str, Any], attributes: dict[str, Any] | None = None, **further: Any) -> Audit:
    document = {
        "version": 1,
        "attributes": {"id": {"role": "insensitive"}, **ATTRIBUTES, **(attributes or {})},
        "expect": list(expect),
        **further,
    }
    return audit(WARDS, document)


def made_up(state: Status, *, warning: bool = False) -> Outcome:
    return Outcome(check="k_anonymity", status=state, severity=Severity.WARNING if warning else Severity.ERROR)


RETAINED, FAILED, BROKEN = made_up(Status.PASSED), made_up(Status.FAILED), made_up(Status.ERROR)
WARNED, MEASURED = made_up(Status.FAILED, warning=True), made_up(Status.MEASURED)


def with_outcomes(*outcomes: Outcome) -> Audit:
    made = of({"k_anonymity": {"k": 1}})
    return replace(made, outcomes=(*made.structure, *outcomes), exposed=None)


@pytest.mark.parametrize(
    ("outcomes", "status", "verdict", "sentence"),
    [
        ([RETAINED], "passed", "passed", "The only demand is met."),
        ([RETAINED] * 2, "passed", "passed", "Both demands are met."),
        ([RETAINED] * 11, "passed", "passed", "All 11 demands are met."),
        ([FAILED], "failed", "failed", "The only demand fails."),
        ([FAILED] * 2, "failed", "failed", "Both demands fail."),
        ([RETAINED, FAILED], "failed", "failed", "1 of 2 demands fails."),
        ([RETAINED, WARNED], "passed", "passed", "1 of 2 demands warns."),
        (
            [RETAINED, FAILED, FAILED, WARNED, BROKEN, MEASURED],
            "error",
            "failed",
            (
                "2 of 5 demands fail, 1 warns, 1 could not be checked. "
                "The release is not fit, whatever the rest would show; the audit is incomplete."
            ),
        ),
        ([MEASURED], "measured", "measured", "The policy demands nothing that could fail."),
        (
            [WARNED],
            "measured",
            "measured",
            "The only demand warns. Nothing was judged: a demand of severity warning fails no release.",
        ),
        (
            [RETAINED, BROKEN],
            "error",
            "error",
            "1 of 2 demands could not be checked. Nothing may be concluded from an incomplete audit.",
        ),
    ],
)
def test_the_verdict_in_sentences(outcomes: list[Outcome], status: str, verdict: str, sentence: str) -> None:
    audited = with_outcomes(*outcomes)
    assert (audited.status, audited.verdict, verdict_sentence(audited)) == (status, verdict, sentence)
    assert audited.as_json()["verdict"] == {"state": verdict, "title": VERDICTS[verdict], "sentence": sentence}


def test_a_release_that_fails_a_demand_is_not_fit_and_the_audit_is_incomplete_still() -> None:
    audited = with_outcomes(FAILED, BROKEN)
    assert VERDICTS[audited.verdict] == "Not fit for release"
    assert (audited.status, audited.exit_code(), audited.passed) == ("error", 3, False)


def test_columns_have_a_count_of_their_own() -> None:
    columns = Outcome(check="present_identifiers", status=Status.FAILED, source=STRUCTURE)
    audited = with_outcomes(RETAINED, columns)
    assert verdict_sentence(audited) == f"The only demand is met; 1 of {len(COLUMN_DEMANDS) + 1} schema checks fails."
    assert audited.verdict == "failed"


def test_the_count_is_one_line_for_the_terminal() -> None:
    demands = with_outcomes(RETAINED, FAILED, WARNED, WARNED, BROKEN, MEASURED).tally.demands
    assert demands.line == "1 failed, 1 not checked, 2 warnings, 1 passed, 1 measured"
    assert (demands.total, demands.met, demands.failed) == (5, 1, 1)


def test_people_are_counted_once_and_numbers_are_not_to_be_added() -> None:
    result = of({"k_anonymity": {"k": 3}}, {"distinct_l_diversity": {"l": 2}}, unit_name="person")
    assert verdict_sentence(result) == "Both demands fail. 3 of 6 people (50%) are exposed, each counted once."
    assert exposed_sentence(result) == (
        "3 of 6 people (50%) are exposed, each counted once. Do not add the numbers of the 2 failing demands; "
        "people can appear in several."
    )


def test_what_is_not_counted_is_named() -> None:
    attributes = {"ward": {"role": "quasi_identifier", "scale": "nominal"}, "id": {"role": "identifier"}}
    result = of({"k_anonymity": {"k": 2}}, {"reidentification_risk": {"at_most": "0.4"}}, attributes=attributes)
    assert exposed_sentence(result) == (
        "At least 1 of 6 records (16.7%) is exposed. Not counted: Re-identification risk, prosecutor, highest, which "
        "says how many, not who. This number leaves out what is wrong with whole columns: Identifier in the release."
    )


def test_no_number_follows_from_one_figure_of_the_whole() -> None:
    result = of({"reidentification_risk": {"measure": "average", "at_most": "0.1"}})
    assert exposed_sentence(result) == (
        "There is no single number of records: Re-identification risk, prosecutor, average says how many, not who."
    )


def test_entities_are_counted_where_the_policy_names_a_unit() -> None:
    release = WARDS.append_column("home_id", pa.array(["x", "x", "y", "y", "y", "z"]))
    document = {
        "version": 1,
        "unit": "home_id",
        "conventions": {"known_rows": "one"},
        "attributes": ATTRIBUTES | {"id": {"role": "insensitive"}},
    }
    result = audit(release, {**document, "expect": [{"k_anonymity": {"k": 2}}]})
    assert result.exposed == ExposureCount(records=3, of=6, units=2, units_of=3, counted=(len(COLUMN_DEMANDS),))
    columns = f"2 of {len(COLUMN_DEMANDS)} schema checks warn"
    sentence = f"The only demand fails; {columns}. 2 of 3 homes (66.7%) are exposed."
    assert verdict_sentence(result) == f"{sentence} Nothing is demanded of 'illness', which must stay secret."


def test_what_is_met_beside_a_failure_says_how_both_are_true() -> None:
    met, fails = {"distinct_l_diversity": {"l": 1}}, {"distinct_l_diversity": {"l": 3}}
    other = {"homogeneity": {"at_most": "0.9"}}
    result = of(other, {"entropy_l_diversity": {"l": 2}}, {"k_anonymity": {"k": 1}})
    attack, varied, size = result.expectations
    assert conflicting_demands(result, attack) == (
        "Entropy l-diversity fails on the same column; that is no contradiction: it asks something else. "
        "This asks: Are there groups in which every person has the same sensitive value?"
    )
    assert (conflicting_demands(result, varied), conflicting_demands(result, size)) == ("", "")
    alike = of(met, fails)
    assert [conflicting_demands(alike, one) for one in alike.expectations] == ["", ""]


def test_conditions_of_a_verdict_stand_apart():
    inside, narrower = (
        Condition(Kind.INSIDE, "the key is in the file"),
        Condition(Kind.FOR, "people of whom one row is known"),
    )

    assert fit_sentence([narrower]) == "Fit for people of whom one row is known"
    assert fit_sentence([inside, narrower]) == (
        "Fit to stay inside: the key is in the file, for people of whom one row is known"
    )
    assert fit_sentence([]) == "Fit for release"


def test_all_people_are_not_at_least_all() -> None:
    """What is left out can add no one to all of them."""
    expect = [{"k_anonymity": {"k": 100}}, {"reidentification_risk": {"measure": "average", "at_most": "0.01"}}]
    result = audit(WARDS, {"version": 1, "attributes": ATTRIBUTES | {"id": {"role": "insensitive"}}, "expect": expect})
    assert result.exposed is not None
    assert result.exposed.is_least
    assert " All 6 records (100%) are exposed." in verdict_sentence(result)


def test_metadata_has_verdict_sentence_and_people_and_what_ties_them_to_the_audit(tmp_path):
    path = tmp_path / "wards.tcdp.yaml"
    path.write_text(
        "version: 1\nattributes:\n  ward: {role: quasi_identifier}\n  illness: {role: sensitive}\n"
        "  id: {role: insensitive}\nexpect: [k_anonymity: {k: 2}, distinct_l_diversity: {l: 1}]\n"
    )
    made = audit(WARDS, path)
    metadata, result = made.metadata(), made.as_json()

    assert (
        metadata
        == json.loads(json.dumps(metadata))
        == {
            "status": "failed",
            "verdict": "failed",
            "sentence": verdict_sentence(made),
            "exit_code": 1,
            "exposed": 1,
            "release": made.release.name,
            "release_sha256": result["release"]["sha256"],
            "records": 6,
            "policy": str(path),
            "policy_sha256": result["policy"]["sha256"],
            "result_sha256": result["proof"]["sha256"],
            "audited_at": result["audited_at"],
            "version": __version__,
        }
    )


@pytest.mark.parametrize(
    ("expect", "status", "exit_code"),
    [({"t_closeness": {}}, "measured", 3), ({"homogeneity": {"at_most": "0.9"}}, "passed", 0)],
)
def test_metadata_of_an_audit_without_a_failure_exposes_no_one(expect, status, exit_code):
    metadata = of(expect).metadata()

    assert (metadata["status"], metadata["exit_code"], metadata["exposed"]) == (status, exit_code, None)
    assert metadata["policy"] == "policy"
