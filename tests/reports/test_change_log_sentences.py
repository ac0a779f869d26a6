"""What a remediation did, in sentences: computed, and right for one, for many and for none."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from remedied_samples import FAR, NEAR, SIZE_AFTER, SIZE_BEFORE, log_of, remedied, step
from report_samples import made_up

from tcdp_audit.core.base.outcome import Severity, Status
from tcdp_audit_reports.remedy import sentences

RETAINED = (SIZE_AFTER, NEAR)
WARNED = made_up(1, 5, severity=Severity.WARNING, title="Homogeneity", attribute="salary", check="homogeneity")
ACTED = "Cutting changed 11 entries in 2 columns and removed 1 of 9 records (11.1%)."


@dataclass
class Said:
    """The sentences on a remediation."""

    heading: str
    summary: str
    origin: str


@pytest.fixture
def said(salary_audit):
    """The sentences on a log of changes and the outcomes after it."""

    def said_of(log, *outcomes):
        audit = remedied(salary_audit, log, *outcomes)
        return Said(*(sentence(audit, log) for sentence in (sentences.heading, sentences.summary, sentences.origin)))

    return said_of


def test_an_audit_that_no_remedy_came_before_has_no_section(salary_audit):
    assert "remedy" not in [one.name for one in salary_audit.sections()]


def test_what_was_done_and_that_it_was_enough(said):
    section = said(log_of(step()), *RETAINED)
    assert section.heading == "How this release was repaired"
    assert section.summary == f"{ACTED} Both demands that were not met are met now."
    assert section.origin == ("This is a repaired release: 11 entries in 2 columns changed, 1 of 9 records removed.")


def test_several_remedies_are_named_in_their_order(said):
    log = log_of(step(title="Binning"), step(title="MDAV"), cells={"zip": 1}, suppressed=0, before=(SIZE_BEFORE,))
    assert said(log, SIZE_AFTER).summary == (
        "Two remedies changed 1 entry in 1 column and kept all 9 records: Binning, then MDAV. "
        "The one demand that was not met is met now."
    )


def test_three_demands_and_suppression_alone(said):
    log = log_of(step(), cells={"zip": 0}, before=(SIZE_BEFORE, FAR, made_up(1, 2, check="homogeneity")))
    section = said(log, *RETAINED, made_up(3, 2, check="homogeneity", status=Status.PASSED))
    assert section.summary == (
        "Cutting changed no entry and removed 1 of 9 records (11.1%). All three demands that were not met are met now."
    )
    assert section.origin == "This is a repaired release: no entry changed, 1 of 9 records removed."


def test_a_release_that_passed_already_is_one_sentence(said):
    section = said(log_of(before=RETAINED), *RETAINED)
    assert section.heading == "Nothing had to be repaired"
    assert section.summary == section.origin == "Nothing was changed: the release already passed."


def test_a_release_that_still_fails_says_so_first(said):
    log = log_of(step(failing=[FAR]), reason="1 of 2 expectations is still not met: t_closeness on 'salary'")
    section = said(log, SIZE_AFTER, FAR)
    assert section.heading == "A repair that falls short"
    assert section.summary == (
        "The release does not pass: 1 of 2 expectations is still not met: t_closeness on 'salary'. " + ACTED
    )
    assert section.origin.startswith("This is a repaired release that still does not pass: 11 entries")


def test_a_release_that_nothing_could_be_done_for(said):
    section = said(log_of(reason="no remedy changes columns or the policy; s: one."), SIZE_BEFORE, FAR)
    assert section.heading == "Nothing was repaired"
    assert section.summary == (
        "Nothing was changed. The release does not pass: no remedy changes columns or the policy; s: one."
    )
    assert section.origin == "Nothing was changed in this release, and it does not pass."


def test_a_failure_that_only_the_audit_of_the_file_detected(said):
    assert said(log_of(step()), SIZE_AFTER, FAR).summary.startswith(
        "The release does not pass: the written file fails a demand that the repaired table met. Cutting"
    )


def test_a_demand_that_a_remedy_broke_is_named(said):
    section = said(log_of(step(), before=(SIZE_BEFORE, NEAR), reason="r"), SIZE_AFTER, FAR)
    assert section.summary.endswith("One demand was met before and is not now: t-closeness on salary.")


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ([WARNED], [WARNED], "One warning remains."),
        ([], [WARNED], "One warning is new: Homogeneity on salary."),
        (
            [WARNED],
            [WARNED, replace(WARNED, attribute="zip")],
            "One warning remains, and one is new: Homogeneity on zip.",
        ),
        ([WARNED], [], "Both demands that were not met are met now."),
    ],
)
def test_warnings_that_remain_or_are_new(said, before, after, sentence):
    assert said(log_of(step(), before=(SIZE_BEFORE, FAR, *before)), *RETAINED, *after).summary.endswith(sentence)


def test_the_order_of_records_and_what_it_gives_away(salary_audit):
    assert sentences.order(salary_audit, log_of(step())) == (
        "Records were sorted by content and then shuffled (seed 7): "
        "a record’s place says nothing about where it was in the input."
    )
    retained = log_of(step(), order="kept")
    assert sentences.order(salary_audit, retained) == (
        "Records are in the order in which they came in: anyone who holds the input links every record by its place."
    )
    document = salary_audit.policy.document.model_copy(update={"rows_aligned": True})
    aligned = replace(salary_audit, policy=replace(salary_audit.policy, document=document))
    assert "as rows_aligned: true asks: anyone who holds the original" in sentences.order(aligned, retained)


def test_who_chose_the_remedies():
    assert sentences.how(log_of(step())).startswith("The policy names no remedy: those that apply were tried")
    assert sentences.how(log_of(step(), planned=False)) == (
        "The remedies are those of the policy, in its order. The whole release was audited again after each."
    )
