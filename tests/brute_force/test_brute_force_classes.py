"""Audits of random small tables under random conventions, figure by figure against definitions in plain fractions.

Every check is asked at thresholds that are a class's own figure and next to it; failing classes and failing
records must be those of the definition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isclose
from typing import Any

import brute_classes as brute
import numpy as np
import pyarrow as pa
import pytest
from brute_checks import CHECKS, ORDER, Known, figures
from brute_classes import Conventions, Counts, Figure, Judged, Record
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from tcdp_audit import audit
from tcdp_audit.core.auditor.exposure import FailingRecordMasks
from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import open_inputs

PLUGINS = Plugins.load(external=False)
CELLS: dict[str, Sequence[str | None]] = {
    "sex": ["f", "m", "*", None],
    "zip": ["02139", "*", None],
    "illness": ["flu", "gout", "cold", "*", None],
    "stage": [*ORDER, None],
    "person": ["1", "2", "3", None],
}
DISTRIBUTION = {"flu": "1/2", "gout": "1/4", "cold": "1/4"}  # a value of the release may be without a weight
ROLES: dict[str, Any] = {
    "sex": {"role": "quasi_identifier"},
    "zip": {"role": "quasi_identifier"},
    "illness": {"role": "sensitive", "scale": "nominal", "distribution": DISTRIBUTION},
    "stage": {"role": "sensitive", "scale": "ordinal", "order": list(ORDER), "distribution": "uniform"},
    "person": {"role": "insensitive"},
}
Target = tuple[tuple[str, ...], tuple[str, ...]]  # what is measured, and what else classes are grouped by

record = st.fixed_dictionaries({name: st.sampled_from(cells) for name, cells in CELLS.items()})
plain = st.fixed_dictionaries({name: st.sampled_from(cells[:2]) for name, cells in CELLS.items()})
suppressed = st.just({**dict.fromkeys(("sex", "zip", "illness", "stage"), "*"), "person": "4"})
tables = st.lists(record | plain | suppressed, min_size=1, max_size=12)
conventions = st.builds(
    Conventions,
    unit=st.booleans(),
    missing_quasi_identifier=st.sampled_from(["own_category", "wildcard"]),
    missing_sensitive=st.sampled_from(["excluded", "own_category"]),
    suppressed=st.sampled_from(["counted", "exempt"]),
    multiple_sensitive=st.sampled_from(["per_attribute", "others_as_quasi_identifiers", "joint"]),
    reference=st.sampled_from(["release", "release", "original", "declared"]),
)


def as_table(records: Sequence[Record]) -> pa.Table:
    return pa.table({name: pa.array([one[name] for one in records], pa.string()) for name in CELLS})


Marked = tuple[Outcome, NDArray[np.bool_] | None]  # an outcome, and which records fail


def outcomes_of(
    records: Sequence[Record], original: Sequence[Record], conventions: Conventions, expect: list[Any], shards: int
) -> Iterator[Marked]:
    policy: dict[str, Any] = {
        "version": 1,
        "attributes": ROLES,
        "conventions": conventions.document(),
        "expect": expect,
        **({"unit": brute.UNIT, "unit_released": False} if conventions.unit else {}),
    }
    beside = as_table(original) if conventions.reference == "original" else None
    table, options = as_table(records), Options(memory=2**28, shards=shards)
    plain = audit(table, policy, beside, plugins=PLUGINS, memory=2**28, shards=shards).expectations
    with open_inputs(table, policy, beside, None, PLUGINS, options) as inputs:
        recorded = FailingRecordMasks(len(records))
        outcomes = [one for one in inputs.audited(recorded).outcomes if not one.is_structural]
    assert outcomes == list(plain)
    return zip(outcomes, recorded.masks, strict=True)


def targets(known: Known, conventions: Conventions) -> list[Target]:
    """What one expectation is asked of."""
    if not known.of_values:
        return [((), ())]
    if known.joint:
        return [((known.given["attribute"],), ())]
    sensitive = brute.SENSITIVE if "attribute" not in known.given else (known.given["attribute"],)
    if conventions.multiple_sensitive == "joint" and len(sensitive) > 1:
        return [(sensitive, ())]
    others = conventions.multiple_sensitive == "others_as_quasi_identifiers"
    return [((one,), tuple(x for x in brute.SENSITIVE if x != one) if others else ()) for one in sensitive]


def reference_of(attributes: Sequence[str], original: Sequence[Record], conventions: Conventions) -> Counts | None:
    """What closeness is measured against, where that is not the release."""
    if conventions.reference == "release" or not attributes:
        return None
    if conventions.reference == "declared":
        return {"flu": 2, "gout": 1, "cold": 1} if attributes == ("illness",) else dict.fromkeys(ORDER, 1)
    counts = Counter(brute.value_of(one, attributes) for one in original)
    if conventions.missing_sensitive != "own_category":
        counts.pop(None, None)
    return counts


def is_error(
    known: Known,
    target: Target,
    outcome: Judged,
    tables: tuple[Sequence[Record], Sequence[Record]],
    conventions: Conventions,
) -> bool:
    """Whether the definition has no answer for a release and its original."""
    records, original = tables
    attributes = target[0]
    if all(one[name] in brute.TOKENS for one in records for name in brute.QUASI_IDENTIFIERS):
        return True
    if not known.of_values:
        return not outcome.classes
    own_category = conventions.missing_sensitive == "own_category"
    compared = [*records, *(original if conventions.reference == "original" else [])]
    lacking = any(brute.value_of(one, attributes) is None for one in compared)
    in_order = known.given.get("distance") == "ordered" or "width" in known.given
    if own_category and lacking and (conventions.reference == "declared" or in_order):
        return True
    if conventions.reference == "declared" and len(attributes) > 1:
        return True
    return not sum(outcome.reference.values()) or not outcome.classes


def _no_value(reference: Counts | None) -> bool:
    return reference is not None and not any(count for value, count in reference.items() if value is not None)


def agrees(marked: Marked, known: Known, result: Judged, threshold: Fraction | None) -> None:
    """Compare all that an outcome says of classes, and the records that fail."""
    outcome, mask = marked
    assert mask is not None
    every = figures(known, result)
    worst = [known.worst_possible if one is None else float(one) for one in every]
    expected = min(worst) if known.keeps == ">=" else max(worst)
    assert outcome.observed is not None
    assert outcome.observed == expected or isclose(outcome.observed, expected, rel_tol=1e-12, abs_tol=1e-12)
    assert outcome.classes is not None
    assert outcome.records is not None
    assert (outcome.classes.total, outcome.records.total) == (len(every), sum(one.records for one in result.classes))
    if threshold is None:
        assert outcome.status is Status.MEASURED
        assert not mask.any()
        return
    fails = [one for one, figure in zip(result.classes, every, strict=True) if not known.retained(figure, threshold)]
    failing = [one.records for one in fails]
    assert np.flatnonzero(mask).tolist() == sorted(i for one in fails for i in one.positions)
    assert (outcome.status is Status.FAILED) is bool(failing)
    assert failing or outcome.status in {Status.PASSED, Status.MEASURED}  # measured: a demand that nothing can fail
    if outcome.classes.failing is not None:
        assert (outcome.classes.failing, outcome.records.failing) == (len(failing), sum(failing))


Asked = tuple[Known, Fraction | None, Sequence[tuple[Target, Judged]]]


def questions(records: Sequence[Record], original: Sequence[Record], conventions: Conventions) -> Iterator[Asked]:
    """Every check without a threshold, at the figures of its classes, and beside them."""
    for known in CHECKS:
        asked = []
        for target in targets(known, conventions):
            other = reference_of(target[0], original, conventions)
            asked.append((target, brute.judged(records, *target, conventions, other)))
        every: list[Figure | None] = []
        for target, match in asked:
            if not is_error(known, target, match, (records, original), conventions):
                every += figures(known, match)
        for threshold in (None, *known.thresholds(every)):
            yield known, threshold, asked


def as_written(known: Known, threshold: Fraction | None) -> dict[str, Any]:
    typed = int(threshold or 0) if known.whole else str(threshold)
    return {known.name: {**known.given, **({} if threshold is None else {known.threshold: typed})}}


def compare(records: Sequence[Record], original: Sequence[Record], conventions: Conventions, shards: int) -> int:
    """Ask everything in one audit; how many outcomes were compared."""
    asked = list(questions(records, original, conventions))
    expect = [as_written(known, threshold) for known, threshold, _ in asked]
    outcomes = outcomes_of(records, original, conventions, expect, shards)
    compared = 0
    for known, threshold, judged in asked:
        for target, match in judged:
            outcome, mask = next(outcomes)
            compared += 1
            no_reference = _no_value(reference_of(target[0], original, conventions))
            if is_error(known, target, match, (records, original), conventions) or (known.of_values and no_reference):
                assert outcome.status is Status.ERROR
                assert mask is None
            else:
                agrees((outcome, mask), known, match, threshold)
    assert next(outcomes, None) is None
    return compared


@pytest.mark.long
@settings(max_examples=15)
@given(tables, tables, conventions, st.sampled_from([1, 3, 7]))
def test_every_outcome_is_that_of_the_definition(
    records: list[Record], original: list[Record], conventions: Conventions, shards: int
) -> None:
    assert compare(records, original, conventions, shards) >= len(CHECKS)


@pytest.mark.long
@settings(max_examples=15)
@given(st.lists(plain, min_size=4, max_size=10), st.sampled_from(["excluded", "own_category"]))
def test_persons_judged_beside_what_else_is_known_of_them(records: list[Record], missing_sensitive: str) -> None:
    conventions = Conventions(
        unit=True, missing_sensitive=missing_sensitive, multiple_sensitive="others_as_quasi_identifiers"
    )
    assert compare(records, [], conventions, 3) >= len(CHECKS)


@pytest.mark.long
@settings(max_examples=15)
@given(st.lists(plain | suppressed, min_size=2, max_size=8), st.booleans())
def test_exempt_records_of_persons(records: list[Record], unit: bool) -> None:
    assert compare(records, [], Conventions(unit=unit, suppressed="exempt"), 1) >= len(CHECKS)
