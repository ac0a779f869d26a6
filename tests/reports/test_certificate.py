"""The certificate: every sentence is computed, and right for one, for many and for none."""

from __future__ import annotations

from dataclasses import replace

from report_samples import made_up

from tcdp_audit.core.base.outcome import STRUCTURE, Comparison, Outcome, Severity, Status
from tcdp_audit_reports.first_screen import TallyEntry, tally
from tcdp_audit_reports.reasons import reasons

RETAINED = made_up(9, 5, status=Status.PASSED)
FAILED = made_up(1, 5, distribution=[[1, 1, 1], [9, 1, 8]], failing=(1, 1), message="One record is alone.")
MANY = made_up(1, 5, distribution=[[1, 2, 2], [9, 1, 7]], failing=(2, 2))
WARNED = made_up(1, 5, severity=Severity.WARNING, distribution=[[1, 9, 9]], failing=(9, 9))
BROKEN = made_up(None, 5, status=Status.ERROR)
MEASURED = made_up(0.5, None, Comparison.AT_MOST, status=Status.MEASURED)
IDENTIFIER = Outcome(
    check="present_identifiers",
    title="No declared identifier in the release",
    status=Status.FAILED,
    details={"columns": ["name"]},
    message="the release still has column 'name', which identifies people",
    source=STRUCTURE,
)


def test_the_tally_counts_expectations_by_state_and_columns_apart(with_outcomes):
    audit = with_outcomes(RETAINED, FAILED, WARNED, WARNED, BROKEN, MEASURED)
    assert [(one.state, one.number, one.words) for one in tally(audit)] == [
        ("failed", 1, "of 5 demands fails: 2"),
        ("warning", 2, "warn: demands 3 and 4"),
        ("error", 1, "could not be checked"),
        ("passed", 1, "is met"),
        ("measured", 1, "measured, without a demand"),
    ]


def test_column_checks_are_counted_where_one_is_not_met(with_outcomes):
    audit = with_outcomes(RETAINED, IDENTIFIER)
    total = len(audit.structure)
    assert tally(audit)[-1] == TallyEntry("failed", 1, f"of {total} schema checks fails", IDENTIFIER.title)


def test_what_the_columns_lack_comes_first_and_four_reasons_are_enough(with_outcomes):
    audit = with_outcomes(RETAINED, WARNED, FAILED, MANY, BROKEN, IDENTIFIER)
    result = reasons(audit)
    assert [(one.head, one.target) for one in result] == [
        ("Column 'name'", f"s{len(audit.structure)}"),
        ("Re-identification risk: 2 records can be identified too easily", "e4"),
        ("Re-identification risk: 1 record can be identified too easily", "e3"),
        ("Could not be checked", "e5"),
    ]


def test_a_passed_audit_shows_what_is_closest_to_its_demand(with_outcomes):
    result = reasons(with_outcomes(made_up(20, 5, status=Status.PASSED), made_up(6, 5, status=Status.PASSED), MEASURED))
    assert [one.head for one in result] == [
        "6, where at least 5 is demanded",
        "20, where at least 5 is demanded",
        "Measured: 0.500",
    ]


def test_a_long_message_is_cut_in_the_certificate_only(with_outcomes):
    result = reasons(with_outcomes(made_up(1, 5, message="word " * 100)))
    assert len(result[0].text) == 300
    assert result[0].text.endswith("…")


def test_what_a_sample_leaves_open_could_be_run_and_not_decided(with_outcomes):
    undecided = replace(BROKEN, observed=0.3, details={"estimate": {}})

    heads = [one.head for one in reasons(with_outcomes(undecided, BROKEN))]

    assert heads == ["Could not be decided", "Could not be checked"]
