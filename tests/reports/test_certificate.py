"""The certificate: every sentence is computed, and right for one, for many and for none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report_samples import made_up

from tcdp_audit.outcome import STRUCTURE, Comparison, Outcome, Severity, Status
from tcdp_audit.results.verdict import VERDICTS, verdict_sentence
from tcdp_audit.words import in_words
from tcdp_audit_reports.certificate import reasons, tally

KEPT = made_up(9, 5, status=Status.PASSED)
FAILED = made_up(1, 5, distribution=[[1, 1, 1], [9, 1, 8]], failing=(1, 1), message="One record is alone.")
MANY = made_up(1, 5, distribution=[[1, 2, 2], [9, 1, 7]], failing=(2, 2))
WARNED = made_up(1, 5, severity=Severity.WARNING, distribution=[[1, 9, 9]], failing=(9, 9))
BROKEN = made_up(None, 5, status=Status.ERROR)
MEASURED = made_up(0.5, None, Comparison.AT_MOST, status=Status.MEASURED)
IDENTIFIER = Outcome(
    check="present_identifiers",
    title="No identifier in the release",
    status=Status.FAILED,
    details={"columns": ["name"]},
    message="the release still has the identifying column 'name'",
    source=STRUCTURE,
)


@pytest.mark.parametrize(
    ("outcomes", "status", "sentence"),
    [
        ([KEPT], "passed", "The one demand in the policy is met."),
        ([KEPT] * 3, "passed", "All three demands in the policy are met."),
        ([KEPT] * 11, "passed", "All 11 demands in the policy are met."),
        (
            [FAILED],
            "failed",
            (
                "The one demand in the policy is not met. "
                "1 of 9 records (11.1%) is less protected than the policy requires."
            ),
        ),
        (
            [FAILED, MANY],
            "failed",
            (
                "Neither of the two demands in the policy is met. "
                "At least 2 of 9 records (22.2%) are less protected than the policy requires."
            ),
        ),
        ([KEPT, WARNED], "passed", "One of the two demands in the policy raises a warning."),
        (
            [KEPT, FAILED, MANY, WARNED, BROKEN, MEASURED],
            "error",
            (
                "Two of the five demands in the policy are not met, one raises a warning and one could not be checked. "
                "It is not fit for release, whatever the rest would show. "
                "At least 2 of 9 records (22.2%) are less protected than the policy requires."
            ),
        ),
        ([MEASURED], "measured", "The policy demands nothing that could fail: one figure was measured."),
        (
            [MEASURED] * 2,
            "measured",
            "The policy demands nothing that could fail: two figures were measured.",
        ),
        (
            [BROKEN] * 2,
            "error",
            (
                "Neither of the two demands in the policy could be checked. "
                "Nothing may be concluded from an incomplete audit."
            ),
        ),
    ],
)
def test_the_verdict_in_sentences(with_outcomes, outcomes, status, sentence):
    audit = with_outcomes(*outcomes)
    assert (audit.status, verdict_sentence(audit)) == (status, sentence)
    assert status in VERDICTS


def test_what_the_columns_lack_is_part_of_the_verdict(with_outcomes):
    audit = with_outcomes(KEPT, IDENTIFIER)
    total = in_words(len(audit.structure))
    assert verdict_sentence(audit) == (
        f"The one demand in the policy is met. One of the {total} demands on its columns is not met."
    )


def test_the_tally_counts_expectations_by_state_and_columns_apart(with_outcomes):
    audit = with_outcomes(KEPT, FAILED, WARNED, WARNED, BROKEN, MEASURED)
    columns = len(audit.structure)
    assert tally(audit) == [
        ("failed", 1, "failed"),
        ("warning", 2, "warnings"),
        ("error", 1, "could not be run"),
        ("measured", 1, "measured only"),
        ("passed", 1, "passed"),
        ("passed", columns, f"of {columns} column checks passed"),
    ]


def test_what_the_columns_lack_comes_first_and_four_reasons_are_enough(with_outcomes):
    audit = with_outcomes(KEPT, WARNED, FAILED, MANY, BROKEN, IDENTIFIER)
    found = reasons(audit)
    assert [(one.head, one.target) for one in found] == [
        ("1 column at fault", f"s{len(audit.structure)}"),
        ("Could not be run", "e5"),
        ("2 records at risk", "e4"),
        ("1 record at risk", "e3"),
    ]


def test_a_passed_audit_shows_what_is_closest_to_its_demand(with_outcomes):
    found = reasons(with_outcomes(made_up(20, 5, status=Status.PASSED), made_up(6, 5, status=Status.PASSED), MEASURED))
    assert [one.head for one in found] == [
        "6, where at least 5 is demanded",
        "20, where at least 5 is demanded",
        "0.500 measured",
    ]


def test_a_long_message_is_cut_in_the_certificate_only(with_outcomes):
    found = reasons(with_outcomes(made_up(1, 5, message="word " * 100)))
    assert len(found[0].text) == 280
    assert found[0].text.endswith("…")


def test_what_a_sample_leaves_open_could_be_run_and_not_decided(with_outcomes):
    undecided = replace(BROKEN, observed=0.3, details={"estimate": {}})

    heads = [one.head for one in reasons(with_outcomes(undecided, BROKEN))]

    assert heads == ["Could not be decided", "Could not be run"]
