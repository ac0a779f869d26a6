"""Implied epsilon and the bounds between epsilon and t: published figures, sentences, and exact decisions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from mechanism_tables import Rows, histogram, tables

from tcdp_audit import Outcome, PolicyError, Status, audit
from tcdp_audit.core.check.evidence import ReferenceDistribution
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import ClassEvidence
from tcdp_audit.testing import check_conforms
from tcdp_audit_plugins.checks.differential_privacy.extremes import sign_of_exponential
from tcdp_audit_plugins.checks.differential_privacy.from_epsilon import (
    ExpectedParameters,
    TFromEpsilonParameters,
    expected_t,
    t_from_epsilon,
)
from tcdp_audit_plugins.checks.differential_privacy.implied_epsilon import (
    ImpliedEpsilonParameters,
    bucket_of_values,
    bucketised,
    implied_epsilon,
)

BUCKETS = {"role": "sensitive"}
VALUES = {"role": "sensitive", "scale": "numeric"}
UNUSED = {"role": "insensitive"}


def _outcome(release: Any, expectation: dict[str, Any], **attributes: Any) -> Outcome:
    declared = {"equivalence_class": {"role": "quasi_identifier"}, **attributes}
    return audit(release, {"version": 1, "attributes": declared, "expect": [expectation]}).expectations[0]


@pytest.fixture
def figure2(data: Path) -> Path:
    return data / "papers" / "ds15_figure2.csv"


# Item 29: expected t-closeness with a general g


@pytest.mark.parametrize(
    ("g", "bound"),
    [
        ({}, 2980.9579870417283),
        ({"g": "identity"}, exp(8)),
        ({"g": "square_root"}, exp(4)),
        ({"g": "logarithm"}, 8),
        ({"g": "power", "exponent": "1/4"}, exp(2)),
    ],
)
def test_item_29_lemma_1_holds_with_any_non_decreasing_g(figure2: Path, g: dict[str, Any], bound: float):
    """N = 12, k = 4, epsilon = 1: whatever measures the ratio, odds may change by the same factor."""
    outcome = _outcome(figure2, {"expected_t_closeness": {"epsilon": 1, **g}}, bucket=BUCKETS, value=UNUSED)

    assert outcome.observed == pytest.approx(bound, rel=1e-14)
    assert "2,980.96 times as likely" in outcome.individual_impact


def test_item_29_the_logarithm_meets_its_threshold_exactly(figure2: Path):
    by_limit = {}
    for limit in ("8", "7.9999999999999999999", "0"):
        expectation = {"expected_t_closeness": {"epsilon": 1, "g": "logarithm", "at_most": limit}}
        by_limit[limit] = _outcome(figure2, expectation, bucket=BUCKETS, value=UNUSED).status

    assert list(by_limit.values()) == [Status.PASSED, Status.FAILED, Status.FAILED]


@pytest.mark.parametrize("g", [{"g": "square_root"}, {"g": "logarithm"}, {"g": "power", "exponent": 3}, {}])
def test_item_29_every_g_is_non_decreasing(g: dict[str, Any]):
    """A larger ratio never has a smaller distance: smaller classes, and larger epsilons, have larger ratios."""
    sizes = np.arange(1, 60)
    bounds = [
        expected_t(ClassEvidence(size=sizes, records=60), ExpectedParameters(epsilon=Fraction(n, 7), **g)).values
        for n in range(9)
    ]

    assert all((np.diff(line) <= 0).all() for line in bounds)
    assert all((low <= high).all() for low, high in pairwise(bounds))


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"g": "power"}, "`g: power` needs one, above 0"),
        ({"exponent": 2}, "only `g: power` takes one; remove it"),
        ({"at_most": "0.5"}, "must be at least 1: only the logarithm of a ratio is less"),
        ({"g": "power", "exponent": 0}, "must be greater than 0"),
        ({"g": "sine"}, "must be one of 'identity', 'square_root', 'logarithm' or 'power'"),
    ],
)
def test_item_29_a_g_that_is_none_is_a_fault(figure2: Path, given: dict[str, Any], fault: str):
    with pytest.raises(PolicyError) as caught:
        _outcome(figure2, {"expected_t_closeness": {"epsilon": 1, **given}}, bucket=BUCKETS, value=UNUSED)

    assert fault in str(caught.value)


# Implied epsilon


def test_ds15_figure_2_is_three_halves_close(figure2: Path):
    outcome = _outcome(figure2, {"implied_epsilon": {"at_most": 0.82}}, bucket=BUCKETS, value=UNUSED)

    assert outcome.observed == pytest.approx(2 * log(1.5), abs=1e-15)
    assert outcome.observed == 0.8109302162163288
    assert outcome.status is Status.PASSED


def test_ds15_figure_2_from_its_values_after_bucketisation(figure2: Path):
    expectation = {"implied_epsilon": {"buckets": {"value": 3}}}

    outcome = _outcome(figure2, expectation, bucket=UNUSED, value=VALUES)

    assert (outcome.observed, outcome.status) == (0.8109302162163288, Status.MEASURED)


def test_a_class_that_lacks_a_value_implies_no_epsilon(figure2: Path):
    outcome = _outcome(figure2, {"implied_epsilon": {"at_most": 100}}, bucket=UNUSED, value=VALUES)

    assert (outcome.observed, outcome.status) == (inf, Status.FAILED)
    assert outcome.message == (
        "Under the assumptions of t-closeness on prior and posterior knowledge no epsilon follows for the 12 records: "
        "a group lacks a value of 'value' that the table has, or has one that it lacks, and no epsilon allows that. "
        "Bucketisation is the remedy: the parameter 'buckets', or a bucketised release. The policy allows epsilon up "
        "to 100; all 12 records are in 3 groups that do not keep it."
    )


def test_confidential_attributes_are_read_jointly():
    """Each attribute by itself is distributed alike in both classes; the combination is not."""
    frame = pa.table({"equivalence_class": list("aabb"), "x": [0, 1, 0, 1], "y": [0, 1, 1, 0]})

    alone = _outcome(frame, {"implied_epsilon": {"attributes": ["x"]}}, x=BUCKETS, y=BUCKETS)
    joint = _outcome(frame, {"implied_epsilon": {}}, x=BUCKETS, y=BUCKETS)

    assert (alone.attribute, alone.observed) == ("x", 0)
    assert (joint.attribute, joint.observed) == ("x × y", inf)


def test_joint_epsilon_of_combinations():
    """Class a has the combinations (2, 1, 1, 1) of 5, the table (3, 2, 2, 2) of 9: t = 2/5 : 3/9 = 6/5."""
    combined = [(0, 0), (0, 0), (0, 1), (1, 0), (1, 1), (0, 0), (0, 1), (1, 0), (1, 1)]
    x, y = zip(*combined, strict=True)
    frame = pa.table({"equivalence_class": list("aaaaabbbb"), "x": x, "y": y})

    outcome = _outcome(frame, {"implied_epsilon": {}}, x=BUCKETS, y=BUCKETS)

    assert outcome.observed == pytest.approx(2 * log(Fraction(4, 3)), abs=1e-15)  # class b: 3/9 : 1/4


def test_missing_values_are_excluded_from_class_and_table():
    frame = pa.table({"equivalence_class": list("aaabbb"), "x": ["u", "v", None, "u", "v", None]})

    assert _outcome(frame, {"implied_epsilon": {"at_most": 0}}, x=BUCKETS).status is Status.PASSED


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"attributes": ["x"], "attribute": "x"}, "give either `attribute` or `attributes`, not both"),
        ({"buckets": {"x": 2}}, "cannot read several attributes as one; name one `attribute`"),
        ({"attribute": "x", "buckets": {"y": 2}}, "'y' is not the attribute that is read, which is 'x'"),
        ({"attribute": "y", "buckets": {"y": 2}}, "needs 'y' to be numeric or ordinal"),
    ],
)
def test_parameters_that_do_not_go_together(parameters: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence.replace("(", r"\(")):
        _outcome(None, {"implied_epsilon": parameters}, x=VALUES, y=BUCKETS)


@given(tables())
def test_implied_epsilon_is_that_of_the_definition(table: tuple[Rows, list[int]]):
    rows, weights = table
    evidence = ClassEvidence(np.array(list(map(sum, rows))), histogram(rows), ReferenceDistribution(np.array(weights)))

    result = implied_epsilon(evidence, ImpliedEpsilonParameters())

    for position, row in enumerate(rows):
        t = _multiplicative(row, weights)
        assert result.values[position] == (inf if t is None else pytest.approx(2 * log(t), abs=1e-12))
        if t == 1:
            assert result.compare(Fraction(0))[position] == 0
        elif t is not None:  # the closest fractions of a large denominator on both sides
            close = Fraction(2 * log(t)).limit_denominator(10**6)
            assert result.compare(close)[position] == (1 if _exp(close / 2) < t else -1)


def _multiplicative(row: list[int], weights: list[int]) -> Fraction | None:
    ratios = []
    for count, weight in zip(row, weights, strict=True):
        if not count and not weight:
            continue
        if not count or not weight:
            return None
        ratio = Fraction(count, sum(row)) / Fraction(weight, sum(weights))
        ratios.append(max(ratio, 1 / ratio))
    return max(ratios)


def _exp(exponent: Fraction) -> Fraction:
    """e^x by its series, to more than sixty digits."""
    term, total = Fraction(1), Fraction(1)
    for n in range(1, 120):
        term *= exponent / n
        total += term
    return total


# Buckets


def test_buckets_of_equal_mass():
    assert (
        bucket_of_values(ReferenceDistribution(np.ones(12, dtype=np.int64)), 3).tolist() == [0] * 4 + [1] * 4 + [2] * 4
    )
    assert bucket_of_values(ReferenceDistribution(np.array([1, 5, 1, 5])), 2).tolist() == [0, 0, 1, 1]
    assert bucket_of_values(ReferenceDistribution(np.array([0, 100, 0])), 3).tolist() == [0, 1, 2]


@given(tables(), st.integers(1, 5))
def test_bucketised_counts_are_those_of_the_buckets(table: tuple[Rows, list[int]], buckets: int):
    rows, weights = table
    marginal = ReferenceDistribution(np.array(weights))
    bucket = bucket_of_values(marginal, buckets).tolist()

    actual, joined = bucketised(histogram(rows), marginal, buckets)

    assert bucket == sorted(bucket)
    assert joined.weights.tolist() == _joined(weights, bucket, buckets)
    for position, row in enumerate(rows):
        pairs = slice(actual.offsets[position], actual.offsets[position + 1])
        dense = np.zeros(buckets, dtype=int)
        dense[actual.values[pairs]] = actual.counts[pairs]
        assert dense.tolist() == _joined(row, bucket, buckets)
        assert (actual.counts[pairs] > 0).all()


def _joined(row: list[int], bucket: list[int], buckets: int) -> list[int]:
    return [sum(count for count, at in zip(row, bucket, strict=True) if at == one) for one in range(buckets)]


# The bounds


def test_proposition_1_in_its_derived_form(figure2: Path):
    outcome = _outcome(figure2, {"t_from_epsilon": {"epsilon": 1, "at_most": 2}}, bucket=BUCKETS, value=UNUSED)

    assert outcome.observed == pytest.approx((4 + 8 * exp(1)) / 12, rel=1e-15)
    assert outcome.observed == pytest.approx(2.1455212189726967, rel=1e-15)  # the paper prints 1.9190
    assert outcome.status is Status.FAILED
    assert outcome.message.startswith("Under the assumptions of t-closeness on prior and posterior knowledge, ")
    assert "a + (1 - a) exp(epsilon)" in outcome.message


@pytest.mark.parametrize(("epsilon", "expected"), [(0, 1.0), ("7/10", exp(0.7) * 0.8 + 0.2), (1000, inf)])
def test_t_from_epsilon_at_its_ends(epsilon: Any, expected: float):
    evidence = ClassEvidence(size=np.array([2, 10]), records=10)

    result = t_from_epsilon(evidence, TFromEpsilonParameters(epsilon=epsilon))

    assert result.values.tolist() == [pytest.approx(expected, rel=1e-15), 1.0]
    assert result.compare(Fraction(1)).tolist() == [int(expected > 1), 0]


@pytest.mark.parametrize("digits", [12, 20, 40])
def test_a_threshold_beside_t_from_epsilon_is_decided_exactly(digits: int):
    parameters = TFromEpsilonParameters(epsilon="1/3")
    result = t_from_epsilon(ClassEvidence(size=np.array([5, 5, 7]), records=20), parameters)
    exact = Fraction(1, 4) + Fraction(3, 4) * _exp(Fraction(1, 3))
    below = Fraction(int(exact * 10**digits), 10**digits)

    assert result.compare(below).tolist() == [1, 1, -1]
    assert result.compare(below + Fraction(1, 10**digits)).tolist() == [-1, -1, -1]


def test_the_entities_are_the_records_where_the_policy_names_a_unit():
    """Four persons, two of them in class a: a = 1/2 although a has four of six rows."""
    frame = pa.table({"equivalence_class": list("aaaabb"), "person": [1, 1, 2, 2, 3, 4]})
    policy = {
        "version": 1,
        "unit": "person",
        "attributes": {"equivalence_class": {"role": "quasi_identifier"}},
        "expect": [{"t_from_epsilon": {"epsilon": 1}}, {"expected_t_closeness": {"epsilon": 1}}],
    }

    actual = [one.observed for one in audit(frame, policy, shards=3).expectations]

    assert actual == [pytest.approx(0.5 + 0.5 * exp(1)), pytest.approx(exp(2))]


def test_expected_t_closeness_says_that_it_is_vacuous(figure2: Path):
    attributes = {"bucket": BUCKETS, "value": UNUSED}
    small = _outcome(figure2, {"expected_t_closeness": {"epsilon": "1/8", "at_most": 3}}, **attributes)
    large = _outcome(figure2, {"expected_t_closeness": {"epsilon": 2, "at_most": 3}}, **attributes)
    beyond = _outcome(figure2, {"expected_t_closeness": {"epsilon": 100}}, **attributes)

    assert (small.observed, small.status) == (pytest.approx(exp(1), rel=1e-15), Status.PASSED)
    assert "vacuous" not in small.message
    assert (large.observed, large.status) == (pytest.approx(exp(16), rel=1e-15), Status.FAILED)
    assert "This bound is vacuous: it forbids nothing that a release could do" in large.message
    assert beyond.observed == inf
    assert "exp((N - k) epsilon) = infinite. This bound is vacuous" in beyond.message


def test_expected_t_closeness_meets_its_threshold_only_at_1():
    result = expected_t(ClassEvidence(size=np.array([4, 3]), records=4), ExpectedParameters(epsilon=1))

    assert result.values.tolist() == [1.0, exp(1)]
    assert result.compare(Fraction(1)).tolist() == [0, 1]
    assert result.compare(Fraction("2.718281828459045235360287471352")).tolist() == [-1, 1]
    assert result.compare(Fraction("2.718281828459045235360287471353")).tolist() == [-1, -1]


@given(st.fractions(0, 3, max_denominator=50), st.integers(1, 60))
def test_the_sign_of_an_exponential(exponent: Fraction, digits: int):
    exact = _exp(exponent)
    below = Fraction(int(exact * 10**digits), 10**digits)

    assert sign_of_exponential(exponent, below) == (1 if exponent else 0)
    assert sign_of_exponential(exponent, below + Fraction(1, 10**digits)) == -1
    assert sign_of_exponential(exponent, Fraction(-1)) == 1


# The suite that every check keeps, also for parameters that its own choices do not reach


@pytest.mark.long
@pytest.mark.parametrize(
    "given",
    [
        {"noise_scale": 10**7},
        {"noise_scale": None, "mechanism": "randomised_response", "retention": "0.9"},
        {"noise_scale": None, "mechanism": "randomised_response", "retention": 1},
    ],
)
def test_mechanisms_conform(given: dict[str, Any]):
    check_conforms(Plugins.load(external=False).checks["stochastic_t_closeness"], given)
