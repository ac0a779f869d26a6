"""Audits under `wildcard`, in blocks and parts of any size, against a comparison of every class with every other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import tcdp_audit.core.auditor.measuring
import tcdp_audit.core.auditor.view_evaluation
import tcdp_audit.core.classes.wildcard
import tcdp_audit.core.classes.wildcard_rows
from tcdp_audit import audit, load_policy
from tcdp_audit.core.classes.histogram import Counts, Histogram, add_up
from tcdp_audit.core.classes.wildcard import Combination, Compatibility, WildcardBlock
from tcdp_audit.core.classes.wildcard_rows import Values
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
ROLES: dict[str, Any] = {
    **{name: {"role": "quasi_identifier"} for name in "abcd"},
    "s": {"role": "sensitive"},
    "t": {"role": "sensitive", "scale": "ordinal", "order": ["*", "1", "2", "3"]},
    "p": {"role": "insensitive"},
}
EXPECT = [
    {"k_anonymity": {"k": 3}},
    {"sample_uniqueness": {"at_most": 0.2}},
    {"distinct_l_diversity": {"l": 2}},
    {"entropy_l_diversity": {"l": "3/2"}},
    {"recursive_cl_diversity": {"c": 2, "l": 2}},
    {"p_sensitive_k_anonymity": {}},
    {"expected_t_closeness": {"epsilon": 1}},
    {"enhanced_beta_likeness": {}},
    {"skewness": {}},
    {"background_knowledge": {}},
    {"t_closeness": {"t": "1/3"}},
    {"t_closeness": {"t": "1/3", "attribute": "t", "distance": "ordered"}},
    {"alpha_k_anonymity": {"alpha": "1/2", "k": 2}},
    {"basic_beta_likeness": {"beta": 1}},
    {"delta_disclosure": {"delta": 1}},
    {"homogeneity": {"at_most": "1/4"}},
]


def cells(*values: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from([*values, None])


RECORDS = st.lists(
    st.tuples(
        cells("x", "y", "*"),
        cells("x", "y", "z", "*"),
        cells("x", "*"),
        cells("x", "y", "*"),
        cells("1", "2", "3", "*"),
        cells("1", "2", "3", "*"),
        cells("p", "q", "r", "u", "v"),
    ),
    min_size=1,
    max_size=25,
)
CONVENTIONS = st.fixed_dictionaries(
    {
        "missing_sensitive": st.sampled_from(["excluded", "own_category"]),
        "suppressed": st.sampled_from(["counted", "exempt"]),
        "multiple_sensitive": st.sampled_from(["per_attribute", "others_as_quasi_identifiers", "joint"]),
    }
)


def compared(
    self: Compatibility, figures: Sequence[Counts], values: Sequence[Values] = (), part: Any = (0, 1), *_: Any
) -> Iterator[WildcardBlock]:
    """All classes in one block, by comparing each with each; the values are in the order of the recursion."""
    if part[0]:
        return
    columns, wild = np.stack(self.codes), np.array(self.missing)[:, None, None]
    one, other = columns[:, :, None], columns[:, None, :]
    matrix = ((one == other) | (one == wild) | (other == wild)).all(axis=0)
    mine, others = np.nonzero(matrix)
    sums = [np.bincount(mine, weights=one[others], minlength=len(matrix)).astype(np.float64) for one in figures]
    histograms: list[Histogram] = []
    for one_values in values:
        source = one_values.histogram().take(np.argsort(self._order))
        taken = source.take(others)
        rows = np.repeat(mine, taken.distinct)
        histograms.append(add_up(rows, taken.values, taken.counts, len(matrix), int(source.values.max()) + 1))
    yield WildcardBlock(np.arange(len(matrix)), sums, histograms)


def answer(release: pa.Table, conventions: dict[str, str], unit: str | None, **options: Any) -> list[Any]:
    document = {
        "version": 1,
        "attributes": ROLES,
        "expect": EXPECT,
        "unit": unit,
        **({} if unit is None else {"unit_released": False}),
    }
    asked = load_policy({**document, "conventions": {"missing_quasi_identifier": "wildcard", **conventions}}, PLUGINS)
    return [one.as_json() for one in audit(release, asked, plugins=PLUGINS, memory=2**28, **options).expectations]


@pytest.mark.long
@settings(max_examples=30, deadline=None)  # two audits take a while
@given(
    RECORDS,
    CONVENTIONS,
    st.sampled_from([None, "p"]),
    st.sampled_from([1, 3, 7]),
    st.sampled_from([1, 5, 10**6]),
    st.sampled_from([0, 16]),
    st.sampled_from([2, 10**6]),
    st.sampled_from([0, 4, 256]),
)
def test_every_class_check_agrees_with_a_comparison_of_all_classes(
    records: list[Any],
    conventions: dict[str, str],
    unit: str | None,
    shards: int,
    limit: int,
    few: int,
    part: int,
    together: int,
) -> None:
    release = pa.table(
        {name: pa.array(one, pa.string()) for name, one in zip(ROLES, zip(*records, strict=True), strict=True)}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tcdp_audit.core.auditor.view_evaluation, "largest_shard", lambda *_: limit)
        patch.setattr(tcdp_audit.core.auditor.view_evaluation, "PART_RECORDS", part)
        patch.setattr(tcdp_audit.core.classes.wildcard_rows, "FEW", few)
        patch.setattr(tcdp_audit.core.classes.wildcard, "MOST_COMPATIBLE", together)
        result = answer(release, conventions, unit, shards=shards)
        patch.setattr(Compatibility, "blocks", compared)
        expected = answer(release, conventions, unit, shards=1)
    assert result == expected


@pytest.mark.long
@settings(deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 300),
    st.integers(1, 7),
    st.sampled_from([0, 16]),
    st.sampled_from([0, 2]),
    st.sampled_from([0, 16]),
    st.sampled_from([0, 4, 256]),
)
def test_rows_are_joined_by_marks_or_by_sorting_or_left_apart(
    seed: int, records: int, parts: int, dense: int, worthwhile: int, few: int, together: int
) -> None:
    rng, missing = np.random.default_rng(seed), (3, 1, 4, 2, 2)
    columns, spans = [rng.integers(code + 1, size=records) for code in missing], [*missing]
    if seed % 2:
        columns.append(rng.integers(10**6, size=records) * 10**6)  # complete, and wide
        spans.append(10**12 + 1)
    codes = list(np.unique(np.stack(columns), axis=1))
    sizes = rng.integers(1, 9, size=len(codes[0]))
    rows = np.arange(len(sizes))
    histogram = add_up(rows, rng.integers(5, size=len(rows)), sizes, len(rows), 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tcdp_audit.core.classes.wildcard_rows, "DENSE", dense)
        patch.setattr(tcdp_audit.core.classes.wildcard_rows, "WORTHWHILE", worthwhile)
        patch.setattr(tcdp_audit.core.classes.wildcard_rows, "FEW", few)
        patch.setattr(tcdp_audit.core.classes.wildcard, "MOST_COMPATIBLE", together)
        match = Compatibility(codes, spans)
        values = match.in_order(Values.of(histogram, 5))
        blocks = [block for part in range(parts) for block in match.blocks([sizes], [values], (part, parts), 20)]
    (expected,) = compared(match, [sizes], [values])
    order = np.argsort(np.concatenate([block.classes for block in blocks]))
    assert np.concatenate([block.sums[0] for block in blocks])[order].tolist() == expected.sums[0].tolist()
    joined = tcdp_audit.core.classes.wildcard_rows.concatenated([block.histograms[0] for block in blocks]).take(order)
    assert joined.values.tolist() == expected.histograms[0].values.tolist()
    assert joined.counts.tolist() == expected.histograms[0].counts.tolist()
    assert joined.offsets.tolist() == expected.histograms[0].offsets.tolist()


def scattered(records: int, attributes: int, values: int) -> tuple[pa.Table, dict[str, Any]]:
    """A release in which nearly every record has a pattern of missingness of its own."""
    rng = np.random.default_rng(0)
    columns = {
        f"q{i}": pa.array(rng.integers(values, size=records).astype(str), mask=rng.random(records) < 1 / 3)
        for i in range(attributes)
    }
    document = {
        "version": 1,
        "attributes": {name: {"role": "quasi_identifier"} for name in columns},
        "conventions": {"missing_quasi_identifier": "wildcard"},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    return pa.table(columns), document


def test_a_pattern_for_nearly_every_record() -> None:
    """Many times slower than a test may be where patterns are joined two by two."""
    release, document = scattered(2000, 14, 2)
    columns = [
        [None if one is None else int(one) for one in release[name].to_pylist()] for name in release.column_names
    ]
    codes = np.array([[2 if one is None else one for one in column] for column in columns])
    one, other = codes[:, :, None].astype(np.int8), codes[:, None, :].astype(np.int8)
    sizes = np.logical_and.reduce([(a == b) | (a == 2) | (b == 2) for a, b in zip(one, other, strict=True)]).sum(axis=1)

    (actual,) = audit(release, document).expectations

    assert actual.observed == sizes.min()
    assert actual.records is not None
    assert actual.records.failing == (sizes < 2).sum()


@pytest.mark.long
def test_thousands_of_incomplete_quasi_identifiers() -> None:
    release, document = scattered(20, 1500, 2)

    (actual,) = audit(release, document).expectations

    assert (actual.status.value, actual.observed) == ("failed", 1)


def test_what_outgrows_the_memory_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    release, document = scattered(50, 3, 2)
    monkeypatch.setattr(tcdp_audit.core.auditor.measuring, "RECORD_BYTES", 2**40)
    result = audit(release, document, memory=2**30)

    assert result.exit_code() == 3
    (actual,) = result.expectations
    assert actual.message.startswith("`missing_quasi_identifier: wildcard` needs about 51200.0 GiB for 50 records that")
    assert "1.0 GiB may be used; give more with --memory" in actual.message


def test_what_would_take_days_is_refused_with_the_number_of_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    release, document = scattered(50, 3, 2)
    monkeypatch.setattr(tcdp_audit.core.auditor.measuring, "MOST_ROWS", 10)
    result = audit(release, document)

    assert result.exit_code() == 3
    assert "are missing in 8 different patterns; leave out" in result.expectations[0].message


def test_progress_is_reported_by_parts_of_a_single_shard() -> None:
    release, document = scattered(200, 4, 2)
    reported: list[tuple[str, int, int]] = []

    audit(release, document, progress=lambda *step: reported.append(step))

    measuring = [(done, total) for step, done, total in reported if step == "measuring"]
    assert len(measuring) > 1
    assert measuring[-1][0] == measuring[-1][1]


def test_a_combination_lists_the_combinations_that_are_compatible(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, missing = np.random.default_rng(0), (2, 4, 3)
    columns = [rng.integers(code + 1, size=40) for code in missing]
    combination: Combination | None = Combination.of_nothing(40)
    for column, code in zip(columns, missing, strict=True):
        assert combination is not None
        combination = combination.extended(column, code)
    assert combination is not None
    distinct, codes = np.unique(np.stack(columns), axis=1, return_inverse=True)
    one, other, wild = distinct[:, :, None], distinct[:, None, :], np.array(missing)[:, None, None]
    compatible = ((one == other) | (one == wild) | (other == wild)).all(axis=0)

    assert combination.codes.tolist() == codes.tolist()
    assert combination.others.tolist() == np.nonzero(compatible)[1].tolist()
    assert np.diff(combination.upto).tolist() == compatible.sum(axis=1).tolist()
    upto, first, end = combination.runs
    for code, row in enumerate(compatible):
        runs = range(upto[code], upto[code + 1])
        assert [i for run in runs for i in range(first[run], end[run])] == np.flatnonzero(row).tolist()

    monkeypatch.setattr(tcdp_audit.core.classes.wildcard, "MOST_COMPATIBLE", 2)
    assert combination.extended(columns[0], missing[0]) is None


def test_values_of_a_complete_quasi_identifier_are_a_run_each() -> None:
    combination = Combination.of_nothing(4).extended(np.arange(4), 4)

    assert combination is not None
    assert [one.tolist() for one in combination.runs] == [[0, 1, 2, 3, 4], [0, 1, 2, 3], [1, 2, 3, 4]]
