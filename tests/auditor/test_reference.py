"""Whole audits of random small tables against the plain-Python reference, under every convention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isclose
from typing import Any

import pyarrow as pa
import pytest
import reference
from hypothesis import assume, given, reject, settings, strategies as st
from reference import Measured, Record, Rules

from tcdp_audit import audit, load_policy
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.session.registry import Plugins

COLUMNS = ("sex", "zip", "disease", "severity", "person")
ORDER = ["low", "middle", "high", "*"]
CELLS: Mapping[str, Sequence[str | None]] = {
    "sex": ["f", "m", "*", None],
    "zip": ["02139", "2139", "*", None],
    "disease": ["flu", "ache", "cold", "*", None],
    "severity": ["low", "middle", "high", "*", None],
    "person": ["1", "2", "3", None],
}
PLUGINS = Plugins.load(external=False)


@st.composite
def tables(draw: st.DrawFn) -> list[Record]:
    row = st.fixed_dictionaries({name: st.sampled_from(CELLS[name]) for name in COLUMNS})
    return draw(st.lists(row, min_size=1, max_size=14))


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    return Rules(
        ["sex", "zip"],
        ["disease", "severity"],
        draw(st.sampled_from([None, "person"])),
        draw(st.sampled_from(["own_category", "wildcard", "fail"])),
        draw(st.sampled_from(["excluded", "own_category", "fail"])),
        draw(st.sampled_from(["counted", "exempt"])),
    )


def audited(records: Sequence[Record], given: Rules, expect: list[dict[str, Any]], shards: int) -> Sequence[Outcome]:
    table = pa.table({name: pa.array([record[name] for record in records], pa.string()) for name in COLUMNS})
    policy: dict[str, Any] = {
        "version": 1,
        "attributes": {
            "sex": {"role": "quasi_identifier"},
            "zip": {"role": "quasi_identifier"},
            "disease": {"role": "sensitive", "scale": "nominal"},
            "severity": {"role": "sensitive", "scale": "ordinal", "order": ORDER},
            "person": {"role": "insensitive"},
        },
        "conventions": {
            "missing_quasi_identifier": given.missing_quasi_identifier,
            "missing_sensitive": given.missing_sensitive,
            "suppressed": given.suppressed,
        },
        "expect": expect,
    }
    if given.unit is not None:
        policy |= {"unit": given.unit, "unit_released": False}  # otherwise cells of a person are read together
    loaded = load_policy(policy, PLUGINS)
    return audit(table, loaded, plugins=PLUGINS, memory=2**28, shards=shards).expectations


def expected_error(records: Sequence[Record], given: Rules, attribute: str | None, *, ordered: bool = False) -> bool:
    """Whether the definition gives no answer, so that the outcome must be an error."""
    if all(record[name] in given.tokens for record in records for name in given.quasi_identifiers):
        return True
    retained = reference.counted(records, given)
    if attribute is None:
        return not retained
    missing = any(record[attribute] is None for record in records)
    if ordered and missing and given.missing_sensitive == "own_category":
        return True
    return not reference.marginal(retained, attribute, given)


def expected_violation(records: Sequence[Record], given: Rules, attribute: str | None) -> bool:
    """Whether a convention says `fail`."""
    columns = given.quasi_identifiers if given.missing_quasi_identifier == "fail" else []
    columns = [*columns, *([attribute] if attribute and given.missing_sensitive == "fail" else [])]
    return any(record[name] is None for record in records for name in columns)


def agree(outcome: Outcome, measured: Measured, failing: Sequence[bool], *, violated: bool, unfailable: bool) -> None:
    """Compare every figure of an outcome that the definition gives; what no class could fail is only measured."""
    assert outcome.comparison is not None
    worst = reference.observed(measured, higher_is_safer=outcome.comparison.higher_is_safer)
    assert outcome.observed is not None
    assert outcome.observed == worst or isclose(outcome.observed, worst, rel_tol=1e-12)
    sizes = [one.records for one in measured.classes]
    failing_sizes = [size for size, fails in zip(sizes, failing, strict=True) if fails]
    assert outcome.classes is not None
    assert outcome.records is not None
    assert (outcome.classes.total, outcome.classes.failing) == (len(sizes), len(failing_sizes))
    assert (outcome.records.total, outcome.records.failing) == (sum(sizes), sum(failing_sizes))
    retained = Status.MEASURED if unfailable else Status.PASSED
    assert outcome.status is (Status.FAILED if violated or failing_sizes else retained)
    assert sum(records for _, _, records in outcome.details["distribution"]) == sum(sizes)


@pytest.mark.long
@settings(max_examples=50, deadline=None)
@given(tables(), rules(), st.integers(1, 4), st.sampled_from([1, 3]))
def test_k_anonymity(records: list[Record], given: Rules, k: int, shards: int) -> None:
    outcome = audited(records, given, [{"k_anonymity": {"k": k}}], shards)[0]
    if expected_error(records, given, None):
        assert outcome.status is Status.ERROR
        reject()
    measured = reference.k_anonymity(records, given)
    failing = [figure < k for figure in measured.figures]
    agree(outcome, measured, failing, violated=expected_violation(records, given, None), unfailable=k == 1)


@pytest.mark.long
@settings(max_examples=50, deadline=None)
@given(tables(), rules(), st.integers(1, 3), st.sampled_from([1, 3]))
def test_distinct_l_diversity(records: list[Record], given: Rules, l: int, shards: int) -> None:
    outcome = audited(records, given, [{"distinct_l_diversity": {"l": l, "attribute": "disease"}}], shards)[0]
    if expected_error(records, given, "disease"):
        assert outcome.status is Status.ERROR
        reject()
    measured = reference.distinct_l_diversity(records, given, "disease")
    failing = [figure is None or figure < l for figure in measured.figures]
    agree(outcome, measured, failing, violated=expected_violation(records, given, "disease"), unfailable=l == 1)


@pytest.mark.long
@settings(max_examples=50, deadline=None)
@given(tables(), rules(), st.sampled_from(["1", "3/2", "1.8898815748423097", "2", "3"]), st.sampled_from([1, 3]))
def test_entropy_l_diversity(records: list[Record], given: Rules, l: str, shards: int) -> None:
    outcome = audited(records, given, [{"entropy_l_diversity": {"l": l, "attribute": "disease"}}], shards)[0]
    if expected_error(records, given, "disease"):
        assert outcome.status is Status.ERROR
        reject()
    measured = reference.entropy_l_diversity(records, given, "disease")
    failing = [not reference.keeps_entropy(one, "disease", given, Fraction(l)) for one in measured.classes]
    agree(outcome, measured, failing, violated=expected_violation(records, given, "disease"), unfailable=l == "1")


@pytest.mark.long
@pytest.mark.parametrize("distance", ["equal", "ordered"])
@settings(max_examples=50, deadline=None)
@given(tables(), rules(), st.sampled_from(["0", "1/4", "1/3", "0.5", "1"]), st.sampled_from([1, 3]))
def test_t_closeness(distance: str, records: list[Record], given: Rules, t: str, shards: int) -> None:
    expect = {"t_closeness": {"t": t, "attribute": "severity", "distance": distance}}
    outcome = audited(records, given, [expect], shards)[0]
    ordered = distance == "ordered"
    if expected_error(records, given, "severity", ordered=ordered):
        assert outcome.status is Status.ERROR
        reject()
    measured = reference.t_closeness(records, given, "severity", ORDER if ordered else None)
    failing = [figure is None or figure > Fraction(t) for figure in measured.figures]
    furthest = reference.furthest(records, given, "severity", ORDER if ordered else None)
    violated = expected_violation(records, given, "severity")
    agree(outcome, measured, failing, violated=violated, unfailable=furthest <= Fraction(t))


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(tables(), rules())
def test_a_record_twice_doubles_counts_and_changes_no_share(records: list[Record], given: Rules) -> None:
    assume(given.unit is None and not expected_error(records, given, "disease"))
    expect = [{"k_anonymity": {}}, {"t_closeness": {"attribute": "disease"}}]
    once, twice = audited(records, given, expect, 1), audited([*records, *records], given, expect, 1)
    assert once[0].observed is not None
    assert twice[0].observed == 2 * once[0].observed
    assert twice[1].observed == once[1].observed


def of_persons(rows: Sequence[tuple[str, ...]], expect: list[dict[str, Any]], **policy: Any) -> Sequence[Outcome]:
    """Outcomes on records of (ward, drug, illness, person), of which ward and drug tell classes apart."""
    names = ("ward", "drug", "illness", "person")
    table = pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})
    roles = {"ward": "quasi_identifier", "drug": "sensitive", "illness": "sensitive", "person": "insensitive"}
    document = {"version": 1, "unit": "person", "unit_released": False, "expect": expect, **policy}
    document["attributes"] = {name: {"role": role} for name, role in roles.items()}
    return audit(table, load_policy(document, PLUGINS), plugins=PLUGINS).expectations


def test_classes_that_are_all_alike_are_at_distance_0_whatever_else_an_intruder_knows() -> None:
    """Both classes have one person with flu and one with gout; over the ward there are one and two."""
    rows = [("1", "x", "flu", "p"), ("1", "x", "gout", "q"), ("1", "y", "flu", "p"), ("1", "y", "gout", "r")]
    checks = ["t_closeness", "skewness", "basic_beta_likeness", "delta_disclosure"]
    expect = [{check: {"attribute": "illness"}} for check in checks]
    others = {"multiple_sensitive": "others_as_quasi_identifiers"}
    assert [one.observed for one in of_persons(rows, expect, conventions=others)] == [0, 1, 0, 0]


def test_a_gain_over_the_mixture_of_classes_is_not_hidden_by_a_coarser_reference() -> None:
    """A cold is 1 of 6 in the mixture, 1 of 3 in its class; over the ward, where flu counts twice, 1 of 4."""
    rows = [(ward, drug, "flu", person) for ward, drug in ("1x", "1y") for person in "pq"]
    rows += [("1", "x", "cold", "r"), ("1", "y", "gout", "s")]
    others = {"multiple_sensitive": "others_as_quasi_identifiers"}
    expect = [{"basic_beta_likeness": {"beta": "1/2", "attribute": "illness"}}]
    (outcome,) = of_persons(rows, expect, conventions=others)
    assert (outcome.observed, outcome.status) == (1, Status.FAILED)


def test_entities_of_which_every_record_is_exempt_are_not_counted() -> None:
    """Of p, q and r only p and q count; p's own suppressed record adds nothing."""
    rows = [("1", "x", "flu", "p"), ("1", "y", "gout", "q"), ("*", "*", "*", "r"), ("*", "*", "*", "p")]
    expect = [{"t_from_epsilon": {"epsilon": 1}}, {"expected_t_closeness": {"epsilon": 1}}, {"k_anonymity": {}}]
    assert [one.observed for one in of_persons(rows, expect, conventions={"suppressed": "exempt"})] == [1, 1, 2]


def test_missing_values_of_the_original_have_no_place_in_an_order() -> None:
    release = pa.table({"ward": ["1", "2"], "stage": ["low", "high"]})
    original = pa.table({"ward": ["1", "2", "2"], "stage": ["low", "high", None]})
    policy = {
        "version": 1,
        "attributes": {
            "ward": {"role": "quasi_identifier"},
            "stage": {"role": "sensitive", "scale": "ordinal", "order": ["low", "high"]},
        },
        "conventions": {"reference": "original", "missing_sensitive": "own_category"},
        "expect": [{"t_closeness": {"distance": "ordered"}}],
    }
    (outcome,) = audit(release, load_policy(policy, PLUGINS), original, plugins=PLUGINS).expectations
    assert outcome.status is Status.ERROR
    assert "missing values of 'stage' have no place in its order" in outcome.message
