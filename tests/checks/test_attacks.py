"""Homogeneity, background knowledge and skewness: who is exposed, told with counts."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from pathlib import Path

import pyarrow as pa
import pytest
from class_rows import Rows, evidence, exact, frame, tables, totals
from hypothesis import given, strategies as st

from tcdp_audit import CheckError, Outcome, PolicyError, audit, measure
from tcdp_audit_plugins.checks.background_knowledge import BackgroundParameters, records_to_know
from tcdp_audit_plugins.checks.homogeneity import HomogeneityParameters, homogeneous
from tcdp_audit_plugins.checks.skewness import SkewnessParameters, largest_factor

T20 = [[2, 0, 0], [0, 2, 1]]  # Barcelona: cancer, cancer; Tarragona: AIDS, AIDS, heart attack
LABELS = ["v0", "v1", "v2", "v3", "v4", "v5"]


def outcome(check: str, rows: Rows, **parameters: object) -> Outcome:
    return measure(check, frame(rows), quasi_identifiers=["place"], attribute="answer", scale="nominal", **parameters)


# Homogeneity


@given(tables)
def test_homogeneous_classes_have_one_value(rows: Rows):
    expected = [sum(map(bool, row)) == 1 for row in rows]

    assert homogeneous(evidence(rows), HomogeneityParameters()).tolist() == expected


@pytest.mark.parametrize(
    ("at_most", "status"), [("2/5", "passed"), ("0.4", "passed"), ("0.39", "failed"), (None, "measured")]
)
def test_the_five_record_table_of_torra_exposes_two(at_most: object, status: str):
    found = outcome("homogeneity", T20, at_most=at_most)

    assert (found.status.value, found.observed) == (status, 0.4)
    assert (found.details["victims"], found.details["victim_classes"]) == (2, 1)
    assert (
        found.message
        == "2 of 5 records are in a group that has a single value of 'answer': finding the group is enough to know it."
    )


def test_no_victim_is_told_as_such():
    found = outcome("homogeneity", [[1, 1], [2, 3]], at_most=0)

    assert (found.status.value, found.details["victims"]) == ("passed", 0)
    assert found.message == "Every group has different values of 'answer': finding a group gives none away."


# Background knowledge


@given(tables)
def test_the_records_to_know_by_definition(rows: Rows):
    expected = [sum(row) - max(row) for row in rows]

    assert records_to_know(evidence(rows), BackgroundParameters()).tolist() == expected


@given(tables)
def test_doubling_the_table_doubles_what_must_be_known(rows: Rows):
    doubled = [[2 * count for count in row] for row in rows]

    one, two = (records_to_know(evidence(some), BackgroundParameters()) for some in (rows, doubled))

    assert (2 * one).tolist() == two.tolist()


@given(tables)
def test_one_class_of_all_never_needs_less(rows: Rows):
    together = records_to_know(evidence([totals(rows)]), BackgroundParameters())

    assert min(together) >= min(records_to_know(evidence(rows), BackgroundParameters()))


def test_a_homogeneous_class_fails_any_demand():
    found = outcome("background_knowledge", T20, at_least=1)

    assert (found.status.value, found.observed, found.classes.failing) == ("failed", 0, 1)
    assert found.details["least_in_mixed_classes"] == 1
    assert found.message == (
        "2 of 5 records are in a group that gives 'answer' away to whoever knows fewer than 1 other record; 2 records "
        "are in groups of a single value; where values differ, knowing 1 other record can be enough."
    )


@pytest.mark.parametrize(("at_least", "status"), [(2, "passed"), (3, "failed"), (None, "measured")])
def test_mixed_classes_alone(at_least: int | None, status: str):
    found = outcome("background_knowledge", [[2, 2, 0], [5, 1, 1]], at_least=at_least)

    assert (found.status.value, found.observed, found.details["least_in_mixed_classes"]) == (status, 2, 2)


def test_no_mixed_class_at_all():
    found = outcome("background_knowledge", [[2, 0], [0, 3]], at_least=1)

    assert (found.status.value, found.details["least_in_mixed_classes"]) == ("failed", None)


def test_a_demand_that_every_release_keeps_is_refused():
    with pytest.raises(PolicyError, match="at_least"):
        outcome("background_knowledge", T20, at_least=0)


def test_the_published_table_of_torra(data: Path):
    policy = {
        "version": 1,
        "attributes": {
            "city": {"role": "quasi_identifier"},
            "age": {"role": "quasi_identifier"},
            "illness": {"role": "sensitive"},
        },
        "expect": [{"homogeneity": {"at_most": 0}}, {"background_knowledge": {"at_least": 2}}],
    }

    alike, known = audit(data / "papers" / "t20_release.csv", policy).expectations

    assert (alike.status.value, alike.details["victims"]) == ("failed", 2)
    assert (known.status.value, known.observed, known.details["least_in_mixed_classes"]) == ("failed", 0, 1)


# Skewness


@given(tables, st.sets(st.integers(0, 5), min_size=1))
def test_the_largest_factor_by_definition(rows: Rows, chosen: set[int]):
    table = totals(rows)
    harmful = [code for code in chosen if code < len(table) and table[code]]
    codes = harmful or range(len(table))
    parameters = SkewnessParameters(harmful=[LABELS[code] for code in harmful] or None)

    found = exact(largest_factor(evidence(rows, labels=LABELS[: len(table)]), parameters))

    q = [Fraction(weight, sum(table)) for weight in table]
    assert found == [max(Fraction(row[i], sum(row)) / q[i] for i in codes if q[i]) for row in rows]


def test_half_of_a_class_with_what_1_in_100_has():
    rows = [[1, 1], [97, 0], [1, 0]]

    found = outcome("skewness", rows, harmful=["v1"], at_most=10)

    assert (found.status.value, found.observed, found.classes.failing) == ("failed", 50, 1)
    assert found.message == (
        "2 of 100 records are in a group in which a harmful value of 'answer' is more frequent than in the table by a "
        "factor above 10; at worst the factor is 50."
    )
    assert outcome("skewness", rows, harmful=["v1"], at_most=50).status.value == "passed"
    assert outcome("skewness", rows, harmful=["v0"]).observed == pytest.approx(100 / 99, abs=1e-15)


def test_a_harmful_value_that_the_table_lacks_is_an_error_and_no_pass():
    with pytest.raises(CheckError, match="the reference distribution has no record with the harmful value 'v9'"):
        outcome("skewness", [[1, 1]], harmful=["v9"], at_most=1)


def test_a_harmful_value_that_only_the_declared_order_has_is_an_error():
    with pytest.raises(CheckError, match="no record with the harmful value 'v2'"):
        measure(
            "skewness",
            frame([[1, 1]]),
            quasi_identifiers=["place"],
            attribute="answer",
            scale="ordinal",
            order=["v0", "v1", "v2"],
            harmful=["v2"],
            at_most=1,
        )


def test_harmful_values_of_one_among_several_attributes_need_its_name():
    sensitive = {"role": "sensitive"}
    policy = {
        "version": 1,
        "attributes": {"place": {"role": "quasi_identifier"}, "answer": sensitive, "other": sensitive},
        "expect": [{"skewness": {"harmful": ["v1"], "at_most": 2}}],
    }

    with pytest.raises(PolicyError, match="harmful: names values of one attribute; say which in `attribute`"):
        audit(frame([[1, 1]]), policy)


def test_a_value_to_which_the_reference_gives_no_weight():
    found = exact(largest_factor(evidence([[1, 1], [1, 0]], [5, 0]), SkewnessParameters()))

    assert found == [inf, 1]


def test_numbers_are_named_as_they_are_written():
    found = measure(
        "skewness",
        frame([[1, 1], [3, 1]], labels=[10, 20]),
        quasi_identifiers=["place"],
        attribute="answer",
        scale="numeric",
        harmful=["20"],
    )

    assert found.observed == 1.5


# Missing sensitive values: excluded by default, and never a reason to pass


def test_a_missing_value_adds_no_diversity():
    release = pa.table({"place": ["a", "a", "b", "b", "c"], "answer": ["x", None, "x", "y", None]})

    def of(check: str, **parameters: object) -> Outcome:
        return measure(check, release, quasi_identifiers=["place"], attribute="answer", **parameters)

    alike, known = of("homogeneity", at_most=0), of("background_knowledge", at_least=1)

    assert (alike.details["victims"], alike.details["victim_classes"]) == (3, 2)  # a, and c with nothing at all
    assert (known.status.value, known.observed, known.classes.failing) == ("failed", 0, 2)
    assert of("similarity", level=None, width=0, scale="ordinal", order=["x", "y"], at_most=1).status.value == "failed"
    assert of("skewness", at_most=100).status.value == "failed"
