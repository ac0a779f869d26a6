"""Random small releases of one to three linked tables, with and without households, against plain Python.

Every check on classes is asked without a threshold, at figures of its classes and next to them; the numbers of
failing classes and records must be those of the definition. See `brute_tables`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isclose
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from brute_checks import CHECKS, Known, figures
from brute_classes import Conventions, Judged, Record
from brute_histories import CELLS, READINGS
from brute_tables import Table, Trees
from hypothesis import given, settings, strategies as st
from test_brute_force_classes import ROLES, as_written, is_error, reference_of

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
FIRST_TIER = [one for one in CHECKS if one.name in {"k_anonymity", *READINGS}]
SHAPES = (  # the tables, each with the one that its rows belong to
    {"people": None},
    {"people": None, "visits": "people"},
    {"people": None, "visits": "people", "drugs": "visits"},
    {"people": None, "visits": "people", "drugs": "people"},
)


@dataclass
class Drawn:
    """The tables of a release while they are drawn."""

    draw: Random
    rows: dict[str, list[Record]] = field(default_factory=dict)
    of: dict[str, list[int]] = field(default_factory=dict)


def trees(seed: int, conventions: Conventions, *, other: bool = False) -> Trees:
    """A release of few people and few different cells, so that histories are alike; or another of the same tables."""
    draw = Random(seed)  # noqa: S311 - tables to test on
    shape = draw.choice(SHAPES)
    places = {name: draw.choice([*shape]) for name in ("illness", "stage", "zip")} | {"sex": "people"}
    cells: dict[str, Sequence[str | None]] = {
        "sex": draw.choice([["f"], ["f", "m"], ["f", "m", None]]),
        "zip": draw.choice([["02139"], ["02139", "02140", None]]),
        "illness": draw.choice([["flu", "gout"], ["flu", "gout", "cold", None], ["flu", "flu", None]]),
        "stage": draw.choice([["low"], ["low", "high"], ["low", "middle", None]]),
    }
    by_household = draw.random() < 0.4
    draw = Random(-seed) if other else draw  # noqa: S311 - likewise
    drawn = Drawn(draw)
    most, people = draw.choice([1, 2]), draw.choice([2, 4, 7])
    for unit in range(people):
        hidden = draw.random() < 0.15 and unit > 0  # one is never suppressed, so that something counts
        _grow(drawn, shape, places, cells, most, None, hidden=hidden)
    tables = [
        Table(
            name,
            drawn.rows.get(name, []),
            [one for one in ("sex", "zip") if places[one] == name],
            [one for one in ("illness", "stage") if places[one] == name],
            parent,
            drawn.of.get(name, []),
        )
        for name, parent in shape.items()
    ]
    home: list[Hashable] = [draw.randrange(3) for _ in range(people)] if by_household else []
    return Trees(tables, conventions, home)


def _grow(
    drawn: Drawn, shape: Any, places: Any, cells: Any, most: int, at: tuple[str, int] | None, *, hidden: bool
) -> None:
    """A row of the table of units, or some of each child table of a row, with everything below."""
    draw = drawn.draw
    for name, parent in shape.items():
        if parent != (None if at is None else at[0]):
            continue
        for _ in range(1 if at is None else draw.randint(0, most)):
            own = {one: "*" if hidden else draw.choice(cells[one]) for one in cells if places[one] == name}
            drawn.rows.setdefault(name, []).append(own)
            if at is not None:
                drawn.of.setdefault(name, []).append(at[1])
            _grow(drawn, shape, places, cells, most, (name, len(drawn.rows[name]) - 1), hidden=hidden)


def as_tables(release: Trees, draw: Random | None = None) -> dict[str, pa.Table]:
    """The tables with their links, which are texts in the one and numbers in the other; shuffled, where asked for."""
    tables = {}
    for one in release.tables:
        columns: dict[str, list[Any]] = {}
        places = [*range(len(one.rows))]
        if draw is not None:
            draw.shuffle(places)
        columns = {name: [one.rows[place][name] for place in places] for name in (*one.known, *one.secrets)}
        if one.parent is None:
            columns["person"] = [f"p{place}" for place in places]
            columns |= {"home": [f"h{release.home[place]}" for place in places]} if release.home else {}
        elif one.parent == "people":
            columns["person"] = [f"p{one.of[place]}" for place in places]
            columns["visit"] = [f"v{place}" for place in places] if one.name == "visits" else []
        else:
            columns["visit"] = [f"v{one.of[place]}" for place in places]
        types = {name: pa.string() for name in columns}
        remaining = {name: pa.array(values, types[name]) for name, values in columns.items() if values or not one.rows}
        tables[one.name] = pa.table(remaining)
    return tables


def policy_of(release: Trees, expect: Sequence[Any], **more: Any) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for one in release.tables:
        attributes = {name: {**ROLES[name], "scale": ROLES[name].get("scale", "nominal")} for name in one.known}
        attributes |= {name: ROLES[name] for name in one.secrets}
        link = {} if one.parent is None else {"belongs_to": one.parent}
        link |= {"by": "visit"} if one.parent == "visits" else {}
        tables[one.name] = {**link, "attributes": attributes}
        if one.name == "visits" and not any(other.parent == "visits" for other in release.tables):
            attributes["visit"] = {"role": "insensitive"}
    household = {"household": "home"} if release.home else {}
    conventions = {**release.conventions.document(), **more}
    return {
        "version": 1,
        "unit": "person",
        **household,
        "tables": tables,
        "conventions": conventions,
        "expect": [*expect],
    }


def judged(release: Trees, known: Known, original: Trees | None) -> list[tuple[str | None, Judged]]:
    """What one check is asked of, each with its classes."""
    if not known.of_values:
        return [(None, release.judged(None, CELLS))]
    names = sorted(
        ["illness", "stage"],
        key=lambda name: next(f"{one.name}.{name}" for one in release.tables if name in one.secrets),
    )
    names = [known.given["attribute"]] if "attribute" in known.given else names
    reading = READINGS.get(known.name, CELLS)
    if original is not None:  # where each unit counts once for a value, as in the release
        own, theirs = ({name: of.judged(name, reading) for name in names} for of in (release, original))
        return [
            (name, replace(own[name], reference=theirs[name].reference, having=theirs[name].having)) for name in names
        ]
    return [(name, release.judged(name, reading, reference_of((name,), [], release.conventions))) for name in names]


def has_no_answer(release: Trees, known: Known, name: str | None, one: Judged, original: Trees | None) -> bool:
    """Whether the definition has no answer."""
    target = (() if name is None else (name,), ())
    not_suppressed = {"sex": "f", "zip": "02139"}
    secrets, originals = (
        [{**not_suppressed, **row} for table in tables if name in table.secrets for row in table.rows]
        for tables in (release.tables, () if original is None else original.tables)
    )
    rows = [not_suppressed] if name is None else secrets
    if original is not None and name is not None and not any(one.reference[value] for value in one.reference if value):
        return True
    return is_error(known, target, one, (rows, originals), release.conventions)


def agrees(outcome: Outcome, known: Known, result: Judged, threshold: Fraction | None) -> None:
    """Compare everything that an outcome says of classes."""
    every = figures(known, result)
    worst = [known.worst_possible if one is None else float(one) for one in every]
    expected = min(worst) if known.keeps == ">=" else max(worst)
    assert outcome.observed is not None, outcome.message
    assert outcome.observed == expected or isclose(outcome.observed, expected, rel_tol=1e-12, abs_tol=1e-12)
    assert outcome.classes is not None
    assert outcome.records is not None
    assert (outcome.classes.total, outcome.records.total) == (len(every), sum(one.records for one in result.classes))
    if threshold is None:
        assert outcome.status is Status.MEASURED
        return
    fails = [one for one, figure in zip(result.classes, every, strict=True) if not known.retained(figure, threshold)]
    assert (outcome.status is Status.FAILED) is bool(fails)
    if outcome.classes.failing is not None:
        failing = (len(fails), sum(one.records for one in fails))
        assert (outcome.classes.failing, outcome.records.failing) == failing


def compare(release: Trees, checks: Sequence[Known], shards: int, original: Trees | None = None) -> int:
    """Ask every check without a threshold, at the figures of its classes and next to them; how much was compared."""
    asked = []
    for known in checks:
        targets = judged(release, known, original)
        every = [
            figure
            for name, one in targets
            if not has_no_answer(release, known, name, one, original)
            for figure in figures(known, one)
        ]
        asked += [(known, threshold, targets) for threshold in (None, *known.thresholds(every))]
    expect = [as_written(known, threshold) for known, threshold, _ in asked]
    result = audit(
        as_tables(release),
        policy_of(release, expect),
        original=None if original is None else as_tables(original),
        plugins=PLUGINS,
        memory=2**28,
        shards=shards,
    )
    outcomes = iter(result.expectations)
    for known, threshold, targets in asked:
        for name, one in targets:
            outcome = next(outcomes)
            if has_no_answer(release, known, name, one, original):
                assert outcome.status is Status.ERROR, (known.name, name, outcome.observed)
            else:
                agrees(outcome, known, one, threshold)
    assert next(outcomes, None) is None
    linked = next(one for one in result.structure if one.check == "linked_rows").details
    sizes = release.sizes
    assert linked["whole_histories"] == {"k": min(sizes), "classes": len(sizes), "alone": sizes.count(1)}
    per_row = {one.name: dict(zip(("k", "classes"), release.per_row(one), strict=True)) for one in release.tables}
    assert linked["per_row"] == per_row
    return len(asked)


conventions = st.builds(
    Conventions,
    unit=st.just(value=True),
    missing_sensitive=st.sampled_from(["excluded", "own_category"]),
    suppressed=st.sampled_from(["counted", "exempt"]),
    reference=st.sampled_from(["release", "release", "declared"]),
)
seeds = st.integers(0, 10**9)


@settings(max_examples=8)
@given(seed=seeds, conventions=conventions, shards=st.sampled_from([1, 3]))
def test_linked_tables_are_judged_as_defined(seed: int, conventions: Conventions, shards: int) -> None:
    assert compare(trees(seed, conventions), FIRST_TIER, shards)


@pytest.mark.long
@settings(max_examples=120)
@given(seed=seeds, conventions=conventions, shards=st.sampled_from([1, 3, 7]))
def test_many_releases_of_linked_tables_are_judged_as_defined(seed: int, conventions: Conventions, shards: int) -> None:
    assert compare(trees(seed, conventions), CHECKS, shards)


def compare_with_original(seed: int, conventions: Conventions, checks: Sequence[Known]) -> int:
    """Ask the same where the reference is the distribution among the units of an original."""
    own = replace(conventions, reference="original")
    return compare(trees(seed, own), checks, 1, trees(seed, own, other=True))


@settings(max_examples=4)
@given(seed=seeds, conventions=conventions)
def test_the_reference_is_that_of_the_units_of_an_original(seed: int, conventions: Conventions) -> None:
    assert compare_with_original(seed, conventions, FIRST_TIER)


@pytest.mark.long
@settings(max_examples=40)
@given(seed=seeds, conventions=conventions)
def test_the_reference_is_that_of_the_units_of_many_originals(seed: int, conventions: Conventions) -> None:
    assert compare_with_original(seed, conventions, CHECKS)
