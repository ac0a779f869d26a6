"""Records: failing classes go, others that fail in consequence go too, and few records; against the least number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, reject, settings, strategies as st

import tcdp_audit
from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import RemedyError, Treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.suppression import SUPPRESSION

PLUGINS = Plugins.load(external=False)
Row = tuple[str, str]  # quasi-identifier and sensitive value


def _policy(k: int, t: str | None = None, **more: Any) -> dict[str, Any]:
    expect: list[Any] = [{"k_anonymity": {"k": k}}]
    if t is not None:
        expect.append({"t_closeness": {"t": float(t), "attribute": "s"}})
    roles = {"q": {"role": "quasi_identifier"}, "s": {"role": "sensitive", "scale": "nominal"}}
    return {"version": 1, "attributes": roles, "expect": expect, **more}


def _table(rows: Sequence[tuple[str | None, str]]) -> pa.Table:
    return pa.table({"q": [q for q, _ in rows], "s": [s for _, s in rows]})


@contextmanager
def _view(rows: Sequence[tuple[str | None, str]], policy: Mapping[str, Any]) -> Iterator[RemedyView]:
    with open_engine(_table(rows), 2**28) as engine:
        yield RemedyView(Release(engine, load_policy(policy, PLUGINS)), (), 0, lambda _: ())


def _treatment(rows: Sequence[tuple[str | None, str]], policy: Mapping[str, Any], **parameters: Any) -> Treatment:
    with _view(rows, policy) as view:
        return SUPPRESSION.apply(view, SUPPRESSION.parameters.model_validate(parameters))


def _left(rows: Sequence[Row], policy: Mapping[str, Any]) -> list[Row]:
    retained = _treatment(rows, policy).retained
    return (
        list(rows) if retained is None else [row for row, stays in zip(rows, retained.tolist(), strict=True) if stays]
    )


def _keeps(rows: Sequence[Row], k: int, t: Fraction | None) -> bool:
    """Whether every class has k records and is t-close to all of them, from the definitions."""
    table = Counter(s for _, s in rows)
    for q in {q for q, _ in rows}:
        own = Counter(s for one, s in rows if one == q)
        n = sum(own.values())
        apart = sum((abs(Fraction(own[s], n) - Fraction(table[s], len(rows))) for s in table), Fraction()) / 2
        if n < k or (t is not None and apart > t):
            return False
    return True


def _least(rows: Sequence[Row], k: int, t: Fraction | None) -> int:
    """The least number of records to drop as whole classes, by trying all choices; all of them where none will do."""
    classes = sorted({q for q, _ in rows})
    for_choice = [len(rows)]
    for number in range(len(classes)):
        for gone in combinations(classes, number):
            left = [row for row in rows if row[0] not in gone]
            if _keeps(left, k, t):
                for_choice.append(len(rows) - len(left))
    return min(for_choice)


def _rows(**classes: str) -> list[Row]:
    return [(q, s) for q, values in classes.items() for s in values]


def test_small_classes_are_dropped() -> None:
    rows = _rows(a="112", b="12", c="1212")
    treatment = _treatment(rows, _policy(3))
    assert treatment.retained is not None
    assert treatment.retained.tolist() == [True] * 3 + [False] * 2 + [True] * 4
    assert treatment.notes == {"records": 2, "share": 2 / 9, "classes": 1, "rounds": 1}
    assert not treatment.columns


def test_dropping_a_class_moves_the_distribution_of_the_others() -> None:
    """`b` is too small. With it the 2s are 6/9 and `c` is 3/9 away from the table; without it 4/7 and 3/7."""
    rows = _rows(a="1112", b="22", c="222")
    assert _left(rows, _policy(3, "0.42")) == _rows(a="1112")
    assert _left(rows, _policy(3, "0.43")) == _rows(a="1112", c="222")
    assert _treatment(rows, _policy(3, "0.42")).notes == {"records": 5, "share": 5 / 9, "classes": 2, "rounds": 2}


def test_fewer_records_go_where_one_class_makes_the_others_fail() -> None:
    """All three fail; dropping all in one go would leave nothing, dropping the odd one out is enough."""
    rows = _rows(a="1111111", b="122", c="122")
    assert _left(rows, _policy(2, "0.3")) == _rows(a="1111111")
    rows = _rows(a="111", b="1222", c="1222")
    assert _left(rows, _policy(2, "0.2")) == _rows(b="1222", c="1222")


def test_nothing_is_done_where_nothing_fails() -> None:
    treatment = _treatment(_rows(a="12", b="12"), _policy(2))
    assert treatment.retained is None
    assert treatment.notes == {"records": 0, "share": 0.0, "classes": 0, "rounds": 0}


def test_missing_cells_are_one_class_with_suppressed_ones() -> None:
    assert _treatment([(None, "1"), ("*", "2"), ("a", "1"), ("a", "2")], _policy(2)).retained is None
    treatment = _treatment([(None, "1"), ("*", "2"), ("a", "1")], _policy(2))
    assert treatment.retained is not None
    assert treatment.retained.tolist() == [True, True, False]


def test_exempt_records_stay() -> None:
    exempt = {"conventions": {"suppressed": "exempt"}}
    rows = [("*", "*"), ("a", "1"), ("a", "2"), ("b", "1")]
    treatment = _treatment(rows, _policy(2, **exempt))
    assert treatment.retained is not None
    assert treatment.retained.tolist() == [True, True, True, False]
    with pytest.raises(RemedyError, match="no record would be left: each of the 2 classes fails"):
        _treatment([("*", "*"), ("a", "1"), ("b", "1")], _policy(2, **exempt))


def test_a_release_of_which_nothing_would_be_left_is_refused() -> None:
    with pytest.raises(RemedyError, match="no record would be left: each of the 3 classes fails"):
        _treatment(_rows(a="1", b="1", c="22"), _policy(3))


def test_the_limit_is_named_with_what_would_do() -> None:
    rows = _rows(a="112", b="12", c="1212")
    with pytest.raises(
        RemedyError,
        match=r"2 of 9 records .* allows 1; .* \(`at_most: 0\.2223`\)",
    ):
        _treatment(rows, _policy(3), at_most=0.2)
    assert _treatment(rows, _policy(3), at_most="2/9").notes["records"] == 2


def test_what_it_proposes_without_a_remedy_section() -> None:
    proposals = [{"of": "records", "at_most": "0.05"}, {"of": "cells"}]
    with _view(_rows(a="112", b="12"), _policy(3)) as view:
        assert list(SUPPRESSION.suggest_parameters(view, ())) == proposals
    with _view(_rows(a="112", b="122"), _policy(3)) as view:
        assert list(SUPPRESSION.suggest_parameters(view, ())) == []


def test_fixing_reports_how_many_records_went() -> None:
    rows = _rows(a="112", b="12", c="1212")
    result = tcdp_audit.fix(_table(rows), _policy(3, remedy=[{"suppression": {}}]))
    assert result.passed
    assert result.log.suppressed == 2
    assert Counter(result.released["q"].to_pylist()) == {"a": 3, "c": 4}


tables = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("123")), min_size=2, max_size=30)


@pytest.mark.long
@settings(max_examples=20)
@given(tables, st.integers(2, 3), st.sampled_from([None, "0.2", "0.4"]), st.randoms(use_true_random=False))
def test_what_is_left_keeps_the_policy_whatever_the_order(
    rows: list[Row], k: int, t: str | None, random: Random
) -> None:
    demanded = None if t is None else Fraction(t)
    try:
        left = _left(rows, _policy(k, t))
    except RemedyError:
        assert _least(rows, k, demanded) > 0
        reject()
    assert _keeps(left, k, demanded)
    assert left == rows or not _keeps(rows, k, demanded)
    assert sorted(_left(random.sample(rows, len(rows)), _policy(k, t))) == sorted(left)
    if t is None:
        assert len(rows) - len(left) == _least(rows, k, None)


def _mixed_tables(number: int) -> Iterator[list[Row]]:
    for seed in range(number):
        random = Random(seed)  # noqa: S311 - tables to test on
        classes = random.randint(3, 6)
        yield [(f"q{random.randrange(classes)}", random.choice("112")) for _ in range(random.randint(8, 25))]


@pytest.mark.long
def test_how_far_from_the_least_number_of_records() -> None:
    least = result = 0
    for rows in _mixed_tables(20):
        best = _least(rows, 2, Fraction(1, 5))
        try:
            mine = len(rows) - len(_left(rows, _policy(2, "0.2")))
        except RemedyError:
            mine = len(rows)
        assert mine >= best
        least, result = least + best, result + mine
    assert (least, result) == (63, 63)
