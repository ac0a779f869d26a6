"""Templates of sentences: what a placeholder writes, what is left out, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.outcome import Comparison, Outcome, Status, Tally
from tcdp_audit.core.check.sentences import Sentences

OUTCOME = Outcome(
    check="size",
    status=Status.FAILED,
    attribute="disease",
    parameters={"k": 3, "share": Fraction(1, 5), "measure": "highest"},
    observed=2.0,
    threshold=Fraction(3),
    comparison=Comparison.AT_LEAST,
    classes=Tally(4, 2),
    records=Tally(10, 1),
    details={"alone": 0, "k": 7, "rate": Fraction(1, 3), "columns": ["age", "sex"], "holdout": {"rate": 0.25}},
)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{observed} of {threshold}", "2 of 3"),
        ("{observed:record}, {alone:record}, {k:{unit}}", "2 records, 0 records, 3 records"),
        ("{failing/records:record} {failing/records:is|are} small", "1 of 10 records is small"),
        ("{alone/records:record} {alone/records:is|are} small", "No record is small"),
        ("{share:%} and {rate:%}, {holdout.rate:chance}", "20% and 33.3%, a chance of 1 in 4"),
        ("{details.k} or {parameters.k}", "7 or 3"),
        ("{columns} and {attribute}", "'age' and 'sex' and 'disease'"),
        ("a[ with {alone}][ or {k}][, {nothing}]", "A or 3"),
        (
            "[{alone>0?}some|none][{k=3?} of three][{k<3?} of few][{measure=highest?} at most][{nothing?}!]",
            "None of three at most",
        ),
        ("{risk}", "The highest risk"),
    ],
)
def test_a_template_is_filled(template: str, text: str) -> None:
    sentences = Sentences(passed=template, parts={"risk": {"by": "measure", "highest": "the {measure} risk", "": "x"}})

    assert sentences.message(OUTCOME) == text


def test_no_figure_reads_like_a_threshold_that_it_is_not_at() -> None:
    close = replace(OUTCOME, observed=0.20001, threshold=Fraction(1, 5))

    assert Sentences(passed="{observed:%}").message(close) == "20.001%"
    assert Sentences(passed="{rate:% against share}").message(replace(OUTCOME, details={"rate": 0.20001})) == "20.001%"


def test_each_status_has_its_template_and_no_impact_is_of_zero() -> None:
    sentences = Sentences(passed="p", failed="f", measured="m", impact="i", no_impact="n")

    assert [sentences.message(replace(OUTCOME, status=one)) for one in Status] == ["P", "F", "M", "M", "M"]
    assert Sentences(passed="p").message(OUTCOME) == "P"
    assert [sentences.individual_impact(replace(OUTCOME, observed=one)) for one in (0.0, 1.0)] == ["N", "I"]
    assert Sentences().message(OUTCOME) == Sentences().individual_impact(OUTCOME) == ""


def test_what_is_missing_or_broken_is_refused() -> None:
    with pytest.raises(CheckError, match="a sentence names 'nothing'"):
        Sentences(passed="{nothing}").message(OUTCOME)
    for broken in ("[open", "closed]", "a|b", "{open", "open}"):
        with pytest.raises(ValueError, match=r"optional part|brace"):
            Sentences(passed=broken)
        with pytest.raises(ValueError, match=r"optional part|brace"):
            Sentences(parts={"risk": {"highest": broken}})
