"""Whole histories of random small releases, figure by figure against plain Python that compares units with units.

Every check on classes is asked at thresholds that are a class's own figure and next to it; failing classes and
failing records must be those of the definition. See `brute_histories`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from brute_checks import CHECKS, figures
from brute_classes import Conventions, Record
from brute_histories import CELLS, READINGS, Histories
from hypothesis import assume, given, settings, strategies as st
from test_brute_force_classes import (
    ROLES,
    Target,
    _no_value,
    agrees,
    as_table,
    as_written,
    is_error,
    reference_of,
    targets,
)

from tcdp_audit import audit
from tcdp_audit.core.auditor.exposure import FailingRecordMasks
from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.base.outcome import Status
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import open_inputs

PLUGINS = Plugins.load(external=False)
CONTRADICTION = [  # a unit whose rows differ in every column, so that no suppressed cell is read off another row
    {"sex": "f", "zip": "02139", "illness": "flu", "stage": "low", "person": "0"},
    {"sex": "m", "zip": "02140", "illness": "gout", "stage": "high", "person": "0"},
    {"sex": "m", "zip": "*", "illness": "cold", "stage": "low", "person": "0"},
]
SUPPRESSED = {"sex": "*", "zip": "*", "illness": "*", "stage": "*"}
FIRST_TIER = [one for one in CHECKS if one.name in {"k_anonymity", *READINGS}]
STEADY = ("none", "one", "both")  # of the sensitive attributes those that are constant in each unit


def drawn(seed: int, conventions: Conventions) -> list[Record]:
    """Rows of few people and few different cells, so that histories are alike."""
    draw = Random(seed)  # noqa: S311 - tables to test on
    people, several = draw.choice([2, 4, 8]), draw.choice([1, 2, 2, 3])
    sexes, zips = draw.choice([["f"], ["f", "m"], ["f", "m", None, "*"]]), draw.choice([["02139"], ["02139", None]])
    illnesses = draw.choice([["flu", "gout"], ["flu", "gout", "cold", None], ["flu", "flu", None, "*"]])
    stages, steady, rows = draw.choice([["low"], ["low", "high"], ["low", "middle", None]]), draw.choice(STEADY), []
    for number in range(people):
        usual = {"illness": draw.choice(illnesses), "stage": draw.choice(stages)}
        person = None if draw.random() < 0.1 else str(number + 1)
        history = [(draw.choice(sexes), draw.choice(zips)) for _ in range(draw.randint(1, several))]
        if rows and draw.random() < 0.5:  # the history of another one
            other = draw.choice(rows)["person"]
            history = [(one["sex"], one["zip"]) for one in rows if one["person"] == other]
        for sex, place in history:
            own = {
                "illness": usual["illness"] if steady != "none" else draw.choice(illnesses),
                "stage": usual["stage"] if steady == "both" else draw.choice(stages),
            }
            cells = {"sex": sex, "zip": place, **own}
            rows.append({**(cells if draw.random() > 0.1 else SUPPRESSED), "person": person})
    if draw.random() < 0.3:
        rows += [{**SUPPRESSED, "person": "9"}] * draw.randint(1, 2)
    tokens = any("*" in (one["sex"], one["zip"], one["illness"]) for one in rows)
    rows += CONTRADICTION if tokens or (steady == "none" and conventions.reference == "release") else []
    draw.shuffle(rows)
    return rows


conventions = st.builds(
    Conventions,
    unit=st.just(value=True),
    missing_sensitive=st.sampled_from(["excluded", "own_category"]),
    suppressed=st.sampled_from(["counted", "exempt"]),
    multiple_sensitive=st.sampled_from(["per_attribute", "others_as_quasi_identifiers", "joint"]),
    reference=st.sampled_from(["release", "release", "declared"]),
)
seeds = st.integers(0, 10**9)


def policy_of(conventions: Conventions, expect: Sequence[Any], **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "unit": "person",
        "attributes": ROLES,
        "conventions": {**conventions.document(), **more},
        "expect": [*expect],
    }


def judge(histories: Histories, known: Any, target: Target) -> Any:
    other = reference_of(target[0], [], histories.conventions)
    return histories.judged(*target, READINGS.get(known.name, CELLS), other)


def compare(
    records: Sequence[Record],
    conventions: Conventions,
    shards: int,
    checks: Sequence[Any],
    *,
    without_masks: bool = True,
) -> int:
    """Ask every check without a threshold, at the figures of its classes and next to them; how much was compared.

    An audit that need not say which records fail answers the same; `without_masks` asks it too, which takes as long.
    """
    histories = Histories(records, conventions)
    asked = []
    for known in checks:
        judged = [(target, judge(histories, known, target)) for target in targets(known, conventions)]
        every = [
            figure
            for target, one in judged
            if not is_error(known, target, one, (records, []), conventions)
            for figure in figures(known, one)
        ]
        asked += [(known, threshold, judged) for threshold in (None, *known.thresholds(every))]
    expect = [as_written(known, threshold) for known, threshold, _ in asked]
    policy, table = policy_of(conventions, expect), as_table(records)
    with open_inputs(table, policy, None, None, PLUGINS, Options(memory=2**28, shards=shards)) as inputs:
        masks = FailingRecordMasks(len(records))
        outcomes = [one for one in inputs.audited(masks).outcomes if not one.is_structural]
    if without_masks:
        assert outcomes == [*audit(table, policy, plugins=PLUGINS, memory=2**28, shards=shards).expectations]
    given = zip(outcomes, masks.masks, strict=True)
    for known, threshold, judged in asked:
        for target, one in judged:
            outcome, mask = next(given)
            no_reference = known.of_values and _no_value(reference_of(target[0], [], conventions))
            if is_error(known, target, one, (records, []), conventions) or no_reference:
                assert (outcome.status, mask) == (Status.ERROR, None), (known.name, target, outcome.message)
            else:
                agrees((outcome, mask), known, one, threshold)
    assert next(given, None) is None
    return len(outcomes)


@settings(max_examples=6)
@given(seed=seeds, conventions=conventions, shards=st.sampled_from([1, 3]))
def test_whole_histories_are_judged_as_defined(seed: int, conventions: Conventions, shards: int) -> None:
    assert compare(drawn(seed, conventions), conventions, shards, FIRST_TIER)


@pytest.mark.long
@settings(max_examples=120)
@given(seed=seeds, conventions=conventions, shards=st.sampled_from([1, 3, 7]))
def test_many_releases_are_judged_as_defined(seed: int, conventions: Conventions, shards: int) -> None:
    assert compare(drawn(seed, conventions), conventions, shards, CHECKS, without_masks=seed % 8 == 0)


def typed(figure: Fraction) -> int | str:
    return figure.numerator if figure.denominator == 1 else str(figure)


@settings(max_examples=25)
@given(seed=seeds, conventions=conventions)
def test_shares_and_means_are_those_of_units(seed: int, conventions: Conventions) -> None:
    conventions = Conventions(unit=True, suppressed=conventions.suppressed)
    records = drawn(seed, conventions)
    histories = Histories(records, conventions)
    assume(histories.units)
    assume(any(row["sex"] not in ("*", None) for row in records))
    assume(any(row["illness"] not in ("*", None) for row in records))
    expected = [
        ({"sample_uniqueness": {}}, histories.alone),
        ({"reidentification_risk": {}}, Fraction(1, histories.k)),
        ({"reidentification_risk": {"measure": "average"}}, histories.average),
        (
            {"reidentification_risk": {"measure": "share_above", "threshold_risk": "1/3"}},
            histories.above(Fraction(1, 3)),
        ),
        ({"homogeneity": {"attribute": "illness"}}, histories.homogeneous(["illness"])),
        ({"k_anonymity": {}}, Fraction(histories.k)),
    ]
    if conventions.suppressed == "exempt":  # which checks on tables refuse
        expected = [one for one in expected if "reidentification_risk" not in one[0]]
    result = audit(as_table(records), policy_of(conventions, [one for one, _ in expected]), plugins=PLUGINS)
    observed = {str(one): outcome.observed for (one, _), outcome in zip(expected, result.expectations, strict=True)}
    assert observed == {str(one): float(figure) for one, figure in expected}
    if len(histories.units) < len(records):  # some unit joins rows
        linked = next(one for one in result.structure if one.check == "linked_rows")
        k, classes = histories.per_row
        assert linked.details["per_row"] == {"k": k, "classes": classes}
        sizes = [len(one) for one in histories.classes()]
        assert linked.details["whole_histories"] == {"k": min(sizes), "classes": len(sizes), "alone": sizes.count(1)}


@settings(max_examples=10)
@given(seed=seeds, missing_sensitive=st.sampled_from(["excluded", "own_category"]))
def test_a_missing_cell_of_a_history_fails_where_the_policy_says_so(seed: int, missing_sensitive: str) -> None:
    """Every demand fails, with the figure of `own_category`; the records of units with a missing cell fail."""
    conventions = Conventions(unit=True, missing_sensitive=missing_sensitive)
    records = [{**one, "sex": "f" if one["sex"] == "*" else one["sex"]} for one in drawn(seed, conventions)]
    expect = [{"k_anonymity": {"k": 1}}, {"distinct_l_diversity": {"l": 1, "attribute": "illness"}}]
    expect += [{"homogeneity": {"at_most": 1, "attribute": "illness"}}, {"k_anonymity": {}}]
    lenient = audit(as_table(records), policy_of(conventions, expect), plugins=PLUGINS)
    fails = policy_of(conventions, expect, missing_quasi_identifier="fail")
    with open_inputs(as_table(records), fails, None, None, PLUGINS, Options(memory=2**28, shards=2)) as inputs:
        masks = FailingRecordMasks(len(records))
        outcomes = [one for one in inputs.audited(masks).outcomes if not one.is_structural]
    assert [one.observed for one in outcomes] == [one.observed for one in lenient.expectations]
    units = {one["person"] for one in records if None in (one["sex"], one["zip"])}
    if not units or outcomes[0].status is Status.ERROR:
        return
    assert {one.status for one in outcomes[:3]} <= {Status.FAILED, Status.ERROR}
    mask = masks.masks[0]
    assert mask is not None
    assert mask.tolist() == [one["person"] in units for one in records]
    assert "no value in the quasi-identifier" in outcomes[0].message


def test_wildcards_form_no_classes_of_histories() -> None:
    records = [*CONTRADICTION, {**CONTRADICTION[0], "zip": None}]
    expect = [{"k_anonymity": {"k": 1}}, {"k_anonymity": {"k": 1, "known_rows": "one"}}]
    wildcard = policy_of(Conventions(unit=True, missing_quasi_identifier="wildcard"), expect)
    whole, single = audit(as_table(records), wildcard, plugins=PLUGINS).expectations
    assert (whole.status, single.observed) == (Status.ERROR, 1)
    assert "histories with a missing cell form no classes" in whole.message
    complete = [{**one, "zip": one["zip"] or "02139"} for one in records]
    assert audit(as_table(complete), wildcard, plugins=PLUGINS).expectations[0].observed == 1
