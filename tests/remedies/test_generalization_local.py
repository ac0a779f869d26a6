"""Local recoding after generalization: what it keeps, what it saves, and that nothing more is to be had."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from math import inf, isclose
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st

from tcdp_audit import fix, load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import RemedyError, Treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.generalization import GENERALIZATION

PLUGINS = Plugins.load(external=False)
TOWNS = {"*": {"north": ["a", "b"], "south": ["c", "d"]}}
PENALTY = {**dict.fromkeys("abcdfm", 0.0), "north": 0.5, "south": 0.5, "*": 1.0}
LEVELS = {"a": ["a", "north", "*"], "b": ["b", "north", "*"], "c": ["c", "south", "*"], "d": ["d", "south", "*"]}
ATTRIBUTES: Mapping[str, Any] = {
    "town": {"role": "quasi_identifier", "scale": "nominal", "hierarchy": TOWNS},
    "sex": {"role": "quasi_identifier", "scale": "nominal"},
    "answer": {"role": "sensitive", "scale": "nominal"},
}
Row = tuple[str, str, str]  # town, sex, answer
Cells = tuple[str, ...]  # released town and sex
Keeps = Callable[[Sequence[str], Sequence[str]], bool]  # the answers of a class, and those of all records

rows = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("fm"), st.sampled_from("xyz")), min_size=2, max_size=18
)


def policy_of(*expect: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "attributes": ATTRIBUTES, "expect": list(expect), **more}


def table(drawn: Sequence[Row]) -> pa.Table:
    return pa.table(dict(zip(("town", "sex", "answer"), map(list, zip(*drawn, strict=True)), strict=True)))


def treated(drawn: Sequence[Row], policy: Mapping[str, Any], **parameters: Any) -> Treatment:
    with open_engine(table(drawn), 2**28) as engine:
        view = RemedyView(Release(engine, load_policy(policy, PLUGINS)), (), 0, lambda _: ())
        asked = {"local_recoding": True, **parameters}
        return GENERALIZATION.apply(view, GENERALIZATION.parameters.model_validate(asked))


def released(drawn: Sequence[Row], treatment: Treatment) -> list[Cells]:
    """The town and the sex of each record, those of a dropped one too."""
    towns, sexes = (
        [row[number] for row in drawn] if name not in treatment.columns else _cells(treatment, name)
        for number, name in enumerate(("town", "sex"))
    )
    return list(zip(towns, sexes, strict=True))


def _cells(treatment: Treatment, name: str) -> list[str]:
    column = treatment.columns[name]
    return [str(cell) for cell in column.cells[column.codes]]


def at_least(k: int) -> Keeps:
    return lambda own, _: len(own) >= k


def close(own: Sequence[str], everyone: Sequence[str]) -> bool:
    p, q = Counter(own), Counter(everyone)
    return sum(abs(Fraction(p[v], len(own)) - Fraction(q[v], len(everyone))) for v in q) / 2 <= Fraction("0.4")


POLICIES: list[tuple[Mapping[str, Any], Keeps]] = [
    ({"k_anonymity": {"k": 2}}, at_least(2)),
    ({"k_anonymity": {"k": 3}}, at_least(3)),
    ({"distinct_l_diversity": {"l": 2}}, lambda own, _: len(set(own)) > 1),
    ({"t_closeness": {"t": 0.4}}, close),
]
NOT_MONOTONE: Mapping[str, Any] = {"delta_disclosure": {"delta": 0.7, "absent_values": "ignored"}}
K2 = POLICIES[0][0]


# By hand

NORTH = [("a", "f", "x")] * 3 + [("b", "f", "x")] * 3
SOUTH = [("c", "f", "x"), ("d", "f", "x")]


def test_classes_that_can_be_divided_are_and_others_keep_their_labels() -> None:
    treatment = treated([*NORTH, *SOUTH], policy_of(K2))
    assert treatment.notes["levels"] == {"town": [1, 2], "sex": [0, 1]}
    assert treatment.notes["loss"] == 0.25
    assert _cells(treatment, "town") == ["a"] * 3 + ["b"] * 3 + ["south"] * 2
    assert "sex" not in treatment.columns
    assert treatment.notes["local_recoding"] == {
        "loss": 1 / 16 + 1 / 16 - 1 / 16,
        "classes": 3,
        "suppressed": 0,
        "start": "levels",
        "steps": "next",
    }


def test_what_was_suppressed_is_generalised_again() -> None:
    treatment = treated([*NORTH, *SOUTH], policy_of(K2), suppression="0.25", loss="discernibility")
    assert (treatment.notes["levels"]["town"], treatment.notes["suppressed"], treatment.notes["grouped"]) == (
        [0, 2],
        2,
        True,
    )
    assert _cells(treatment, "town") == ["a"] * 3 + ["b"] * 3 + ["south"] * 2
    assert "sex" not in treatment.columns
    assert treatment.notes["local_recoding"]["suppressed"] == 0


def test_the_smallest_part_stays_where_the_rest_would_fail_alone() -> None:
    drawn = [("a", "f", "x")] * 4 + [("b", "f", "x")] * 3 + [("c", "f", "x")]
    treatment = treated(drawn, policy_of(K2), levels={"sex": 0})
    assert _cells(treatment, "town") == ["a"] * 4 + ["*"] * 4


def test_a_fixed_level_stays() -> None:
    drawn = [*NORTH, *SOUTH]
    treatment = treated(drawn, policy_of(K2), levels={"town": 1})
    assert _cells(treatment, "town") == ["north"] * 6 + ["south"] * 2
    assert treatment.notes["local_recoding"]["loss"] == 0.25


def test_dropped_records_stay_dropped_and_the_others_get_finer_labels() -> None:
    drawn = [*NORTH, ("c", "f", "x")]
    without_token = policy_of(K2, conventions={"suppressed_tokens": []})
    treatment = treated(drawn, without_token, suppression="0.2", levels={"sex": 0})
    assert treatment.retained is not None
    assert treatment.retained.tolist() == [True] * 6 + [False]
    assert treatment.notes["local_recoding"]["suppressed"] == 1
    assert treatment.notes["local_recoding"]["loss"] == pytest.approx(1 / 7)


def test_no_more_is_hidden_than_is_allowed() -> None:
    drawn = [("a", "f", "y"), ("b", "f", "x"), ("b", "f", "y"), ("c", "f", "x"), ("c", "f", "x"), ("d", "m", "y")]
    strict = treated(drawn, policy_of(K2)).notes["local_recoding"]
    assert (strict["loss"], strict["suppressed"], strict["start"]) == (0.5, 0, "levels")
    lenient = treated(drawn, policy_of(K2), suppression="0.4", levels={"sex": 0}).notes["local_recoding"]
    assert (lenient["loss"], lenient["suppressed"]) == (pytest.approx(1 / 3), 2)


def test_a_release_that_passes_stays_as_it_is() -> None:
    treatment = treated([*NORTH, *NORTH], policy_of(K2))
    assert (treatment.columns, treatment.retained) == ({}, None)


@pytest.mark.parametrize(("measure", "loss"), [("discernibility", 9 + 9 + 4), ("average_class_size", 8 / 3)])
def test_every_measure_is_that_of_the_release(measure: str, loss: float) -> None:
    treatment = treated([*NORTH, *SOUTH], policy_of(K2), loss=measure)
    assert treatment.notes["local_recoding"]["loss"] == pytest.approx(loss)


# Of any table


def _classes(cells: Sequence[Cells], retained: Sequence[bool]) -> dict[Cells, list[int]]:
    actual: dict[Cells, list[int]] = defaultdict(list)
    for number, label in enumerate(cells):
        if retained[number]:
            actual[label].append(number)
    return actual


def _penalty(cells: Sequence[Cells]) -> float:
    return sum(PENALTY[cell] for label in cells for cell in label) / 2 / len(cells)


def _divided(drawn: Sequence[Row], label: Cells, members: Sequence[int]) -> Iterator[dict[Cells, list[int]]]:
    """A class by one finer level of one quasi-identifier: the parts with another label."""
    for column, lineages in ((0, LEVELS), (1, {"f": ["f", "*"], "m": ["m", "*"]})):
        for level in range(3 - column - 1):
            parts = defaultdict(list)
            for number in members:
                lineage = lineages[drawn[number][column]]
                if level < lineage.index(label[column]):
                    parts[(*label[:column], lineage[level], *label[column + 1 :])].append(number)
            yield parts


def _can_be_divided(drawn: Sequence[Row], cells: Sequence[Cells], retained: Sequence[bool], keeps: Keeps) -> bool:
    """Whether some class has parts at a finer level that keep the demands, and so does what is left of it."""
    answers = [row[2] for row in drawn]
    everyone = [answer for answer, stays in zip(answers, retained, strict=True) if stays]

    def fine(members: Sequence[int]) -> bool:
        return keeps([answers[number] for number in members], everyone)

    for label, members in _classes(cells, retained).items():
        for parts in _divided(drawn, label, members):
            good = [number for part in parts.values() if fine(part) for number in part]
            rest = [number for number in members if number not in good]
            if good and (not rest or fine(rest)):
                return True
    return False


@pytest.mark.long
@settings(max_examples=50)
@given(
    drawn=rows,
    chosen=st.lists(st.sampled_from(POLICIES), min_size=1, max_size=2, unique_by=str),
    limit=st.sampled_from(["0", "0.2", "0.5"]),
)
def test_every_class_keeps_the_demands_at_labels_that_cannot_be_finer(
    drawn: list[Row], chosen: list[tuple[Mapping[str, Any], Keeps]], limit: str
) -> None:
    def keeps(own: Sequence[str], everyone: Sequence[str]) -> bool:
        return all(one(own, everyone) for _, one in chosen)

    policy = policy_of(*(one for one, _ in chosen))
    result = None
    with suppress(RemedyError):
        result = treated(drawn, policy, suppression=limit)
    assume(result is not None)
    assert result is not None
    cells, local = released(drawn, result), result.notes["local_recoding"]
    retained = [True] * len(drawn) if result.retained is None else result.retained.tolist()
    everyone = [row[2] for row, stays in zip(drawn, retained, strict=True) if stays]
    for members in _classes(cells, retained).values():
        assert keeps([drawn[number][2] for number in members], everyone)
    for (town, sex, _), label in zip(drawn, cells, strict=True):
        assert label[0] in LEVELS[town]
        assert label[1] in (sex, "*")
    shown = [label if stays else ("*", "*") for label, stays in zip(cells, retained, strict=True)]
    assert isclose(local["loss"], _penalty(shown), abs_tol=1e-12)
    assert local["loss"] <= result.notes["loss"] + 1e-12
    assert local["suppressed"] == shown.count(("*", "*")) <= Fraction(limit) * len(drawn)
    if local["steps"] == "any":
        assert not _can_be_divided(drawn, cells, retained, keeps)


def _least(drawn: Sequence[Row], keeps: Keeps, allowed: int) -> float:
    """The least penalty of any labels at all, those of one value alike, as they are here."""
    answers, values = [row[2] for row in drawn], sorted({row[:2] for row in drawn})
    least = inf
    for labels in product(*(product(LEVELS[town], (sex, "*")) for town, sex in values)):
        of_value = dict(zip(values, labels, strict=True))
        cells = [of_value[row[:2]] for row in drawn]
        hidden = cells.count(("*", "*"))
        classes = _classes(cells, [True] * len(cells)).values()
        if hidden <= allowed and all(keeps([answers[n] for n in one], answers) for one in classes):
            least = min(least, _penalty(cells))
    return least


@pytest.mark.long
@settings(max_examples=20)
@given(
    drawn=st.lists(st.tuples(st.sampled_from("abc"), st.just("f"), st.sampled_from("xy")), min_size=3, max_size=12),
    chosen=st.sampled_from(POLICIES),
)
def test_what_is_detected_is_between_the_least_there_is_and_the_best_levels(
    drawn: list[Row], chosen: tuple[Mapping[str, Any], Keeps]
) -> None:
    policy = policy_of(chosen[0])
    least = _least(drawn, chosen[1], len(drawn) - 1)
    assume(least < 1)
    treatment = treated(drawn, policy, suppression="0.99")
    assume(treatment.retained is None)  # with records dropped the distribution is another one
    assert least - 1e-12 <= treatment.notes["local_recoding"]["loss"] <= treatment.notes["loss"] + 1e-12


@pytest.mark.long
@settings(max_examples=6)
@given(drawn=rows, expectation=st.sampled_from([*(one for one, _ in POLICIES), NOT_MONOTONE]))
def test_what_is_released_passes_and_has_lost_what_the_notes_say(
    drawn: list[Row], expectation: Mapping[str, Any]
) -> None:
    remedy = {"generalization": {"local_recoding": True, "suppression": "0.3"}}
    policy = policy_of(expectation, remedy=[remedy])
    done = fix(table(drawn), policy, plugins=PLUGINS)
    assume(done.passed and not done.log.is_unchanged)
    step = done.log.steps[0]
    assert isclose(step.notes["local_recoding"]["loss"], done.log.loss["certainty_penalty"]["after"], abs_tol=1e-12)
    assert done.released.num_rows == len(drawn) - done.log.suppressed
    assert fix(done.released, policy, plugins=PLUGINS).log.is_unchanged
