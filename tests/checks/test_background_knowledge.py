"""Background knowledge: how many records of a class an intruder must know before the rest is homogeneous."""

from __future__ import annotations

from pathlib import Path

import pytest
from class_rows import Rows, evidence, outcome, tables, totals, with_gaps
from hypothesis import given

from tcdp_audit import PolicyError, audit
from tcdp_audit_plugins.checks.homogeneity import BackgroundParameters, records_to_know

T20 = [[2, 0, 0], [0, 2, 1]]  # Barcelona: cancer, cancer; Tarragona: AIDS, AIDS, heart attack


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
    result = outcome("background_knowledge", T20, at_least=1)

    assert (result.status.value, result.observed, result.classes.failing) == ("failed", 0, 1)
    assert result.details["least_in_mixed_classes"] == 1


@pytest.mark.parametrize(("at_least", "status"), [(2, "passed"), (3, "failed"), (None, "measured")])
def test_mixed_classes_alone(at_least: int | None, status: str):
    result = outcome("background_knowledge", [[2, 2, 0], [5, 1, 1]], at_least=at_least)

    assert (result.status.value, result.observed, result.details["least_in_mixed_classes"]) == (status, 2, 2)


def test_no_mixed_class_at_all():
    result = outcome("background_knowledge", [[2, 0], [0, 3]], at_least=1)

    assert (result.status.value, result.details["least_in_mixed_classes"]) == ("failed", None)


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


def test_a_missing_value_adds_no_diversity():
    result = with_gaps("background_knowledge", at_least=1)

    assert (result.status.value, result.observed, result.classes.failing) == ("failed", 0, 2)
