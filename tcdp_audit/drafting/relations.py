"""Relations between the columns of one table, which say what a column is where its own name does not.

same      each of its values goes with one of another column, and the other way round: a logarithm, a square, a code
part      each value of another column has one of its values: a coarser form of it
category  exactly one of neighbouring marks is set in each record: together they are one category
scale     several columns have the same answers, such as 1 to 5
panel     a number that occurs once at most in each period, and in several: the number of a person
battery   columns next to each other begin alike and have the same few answers: questions of one list
block     most of the columns around it that are named have one role

Relations are looked for in a sample of records; the counts of all records must agree with them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.vocabulary import topic_of
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import Domain, Engine
from tcdp_audit.plugin.remedy import silent

CHANCE = -20.0  # logarithm of the chance that two columns without a relation seem to have one
LEAST = 1e-300  # whose logarithm is a number
COMPARED = 100_000  # records at most in which relations are looked for
DRAWN = 2_000  # of these, by which most pairs are refuted
MOST_DISTINCT = 50_000  # values of a column that is compared
REPEATED = 3  # records for each value, on average, below which any other column may seem to follow from it
FEWEST = 3  # columns of a category or of a scale
AROUND, NAMED, AGREED = 6, 3, 0.75  # columns of a block on each side; how many must be named, and agree
BESIDE = 2  # columns away at most, on both sides, where a column lies between what others may know
MOST_PAIRS = 20_000
FEWEST_PLACES, IN_A_PLACE = 20, 10  # places, and records of each on average, whose figure a column may be
FEWEST_PERSONS, MOST_PERIODS = 100, 100  # of a panel
LEAST_OF_BATTERY, MOST_ANSWERS, SHORTEST_STEM = 4, 11, 2  # questions of a list; answers; letters that they begin with

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Relation:
    """A relation of a column to others.

    Args:
        kind: same, part, category, scale or panel.
        columns: the other columns, the nearest first.
    """

    kind: str
    columns: Sequence[str]


def relations_of(
    engine: Engine,
    facts: Mapping[str, ColumnFacts],
    named: Collection[str],
    progress: Callable[[str, int, int], None] = silent,
) -> dict[str, list[Relation]]:
    """The relations of the columns that are not named to others.

    Args:
        engine: the table.
        facts: of each column, in the table's order.
        named: columns whose names or values say what they are.
        progress: called with (step, columns or pairs done, in all).

    Returns:
        For each column that has relations those to others, the surest first.

    Cost: one pass over part of the columns, and O(pairs) comparisons of a sample.
    """
    relations: dict[str, list[Relation]] = defaultdict(list)
    open_ones = [name for name, one in facts.items() if name not in named and one.raw is not None and one.distinct > 1]
    for name, period in _panels(engine, facts, open_ones):
        relations[name].append(Relation("panel", [period]))
    pairs = [*_pairs(facts, open_ones, named), *_figures_of_places(facts)] if engine.ordered else []
    marks = [*_runs_of_marks(facts)]
    codes = _codes(engine, facts, {one for pair in pairs for one in pair} | {one for run in marks for one in run})
    for place, (name, other) in enumerate(pairs):
        progress("columns compared", place, len(pairs))
        if name in codes and other in codes:
            _compare(name, other, codes, facts, relations)
    taken = set[str]()
    for run in marks:
        if not taken.intersection(run) and _are_category(run, codes, facts):
            taken |= {*run}
            for name in run:
                relations[name].append(Relation("category", [one for one in run if one != name]))
    for family in scales(facts, open_ones):
        for name in family:
            relations[name].append(Relation("scale", [one for one in family if one != name]))
    return dict(relations)


def _pairs(
    facts: Mapping[str, ColumnFacts], open_ones: Sequence[str], named: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Columns that may say the same, by how often their values occur; or one a part of the other."""
    shapes = {name: _shape(one) for name, one in facts.items() if one.raw is not None and one.distinct > 2}
    left = MOST_PAIRS
    for name in open_ones:
        for other, one in facts.items():
            if other == name or other not in shapes or left <= 0 or one.distinct > MOST_DISTINCT:
                continue
            is_same = name in shapes and shapes[name] == shapes[other] and one.distinct * 10 > facts[name].distinct
            is_part = other in named and facts[name].distinct < one.distinct
            if is_same or (is_part and one.distinct * REPEATED <= one.filled):
                left -= 1
                yield name, other


def _figures_of_places(facts: Mapping[str, ColumnFacts]) -> Iterator[tuple[str, str]]:
    """Numbers that are named as a person's secrets, with places of many records each, whose figures they may be."""
    keys = {name: topic.key for name in facts if (topic := topic_of(name)) is not None}
    places = [name for name, one in facts.items() if keys.get(name) == "place" and one.distinct >= FEWEST_PLACES]
    for name, one in facts.items():
        if keys.get(name) in ("money", "health") and one.numbers is not None and one.distinct > 2:
            for place in places:
                if facts[place].distinct * IN_A_PLACE <= one.filled and one.distinct <= facts[place].distinct:
                    yield name, place


def _shape(facts: ColumnFacts) -> tuple[int, ...]:
    """Numbers made of how often values occur, which equal columns share."""
    counts = np.sort(facts.counts)
    return (len(counts), int((counts * np.arange(1, len(counts) + 1)).sum()), int((counts**2).sum()))


def _codes(
    engine: Engine, facts: Mapping[str, ColumnFacts], columns: Collection[str], most: int = COMPARED
) -> dict[str, Codes]:
    """Codes of columns in some records, at most so many, and -1 for a missing value."""
    names = [name for name in facts if name in columns]
    if not names:
        return {}
    engine.group_by(names)
    domains = [_domain(name, engine) for name in names]
    parts: dict[str, list[Codes]] = {name: [] for name in names}
    rows = 0
    for batch in engine.counted(domains):
        for name in names:
            parts[name].append(np.asarray(batch[name][: most - rows], np.int64))
        rows += batch.rows
        if rows >= most:
            break
    return {name: np.concatenate(one) for name, one in parts.items()}


def _domain(name: str, engine: Engine) -> Domain:
    raw = engine.domain(name)
    return Domain(name, raw.values, raw.counts, raw.nulls, np.arange(len(raw.values)))


def _compare(
    name: str,
    other: str,
    codes: Mapping[str, Codes],
    facts: Mapping[str, ColumnFacts],
    relations: Mapping[str, list[Relation]],
) -> None:
    """Add the relation of a column to another one, if no record contradicts it and chance does not explain it."""
    own, of = codes[name], codes[other]
    few = np.random.default_rng(0).choice(len(own), min(DRAWN, len(own)), replace=False)
    if _contradicts(own[few], of[few]) or _contradicts(own, of):
        return
    if _chance(own, np.unique(of, return_counts=True)[1]) > CHANCE:
        return
    is_same = facts[name].distinct == facts[other].distinct
    relations[name].append(Relation("same" if is_same else "part", [other]))


def _contradicts(own: Codes, of: Codes) -> bool:
    """Whether two records have one value of a column and two of the one that would follow from it."""
    together = np.unique((own + 1) * (int(of.max(initial=0)) + 2) + of + 1)
    return len(together) > len(np.unique(of))


def _chance(own: Codes, sizes: Codes) -> float:
    """The logarithm of the chance that values drawn by their shares never differ within groups of these sizes."""
    shares = np.unique(own, return_counts=True)[1] / len(own)
    groups, number = np.unique(sizes, return_counts=True)
    return float(
        sum(times * np.log(max((shares**size).sum(), LEAST)) for size, times in zip(groups, number, strict=True))
    )


def _runs_of_marks(facts: Mapping[str, ColumnFacts]) -> Iterator[tuple[str, ...]]:
    """Neighbouring columns of 0 and 1 whose ones are as many as the records, the longest of each start first."""
    names = [*facts]
    ones = [_ones(facts[name]) for name in names]
    for start, first in enumerate(names):
        total, ends = 0, list[int]()
        for end in range(start, len(names)):
            mark = ones[end]
            if mark is None or total > facts[first].filled:
                break
            total += mark
            if total == facts[first].filled and end - start + 1 >= FEWEST:
                ends.append(end + 1)
        yield from (tuple(names[start:end]) for end in reversed(ends))


def _ones(facts: ColumnFacts) -> int | None:
    """The number of records with a 1, in a column of 0 and 1; None in another."""
    numbers = facts.numbers
    if facts.distinct != 2 or numbers is None or {*numbers.tolist()} != {0.0, 1.0}:
        return None
    return int(facts.counts[numbers == 1].sum())


def _are_category(run: Iterable[str], codes: Mapping[str, Codes], facts: Mapping[str, ColumnFacts]) -> bool:
    """Whether exactly one mark is set in each record that was compared and has no missing value."""
    marks = []
    for name in run:
        raw = facts[name].raw
        numbers = [] if raw is None else [float(one) if str(one).strip() else np.nan for one in raw.values.tolist()]
        marks.append(np.array([*numbers, np.nan])[codes[name]])
    total = np.sum(marks, axis=0)
    return bool(len(total)) and bool(np.isnan(total).mean() < 0.5) and bool((total[~np.isnan(total)] == 1).all())


def _panels(engine: Engine, facts: Mapping[str, ColumnFacts], open_ones: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Columns of whole numbers with a period in which each number occurs once at most, in all records.

    Numbers that are no measurement, of more than a hundred persons, with two records or more each on average. Drawn
    freely, so many would meet in a period: two records of n that share a number share one of p periods in one of p
    cases.
    """
    periods = [name for name, one in facts.items() if _is_period(name, one)] if engine.ordered else []
    for name in open_ones:
        one = facts[name]
        is_number = (
            one.is_whole and not one.has_answers and one.filled == one.records and one.distinct >= FEWEST_PERSONS
        )
        for period in periods if is_number and one.filled >= 2 * one.distinct else ():
            fits = one.counts.max() <= facts[period].distinct
            if fits and _is_unique_together(engine, facts, name, period):
                yield name, period
                break


def _is_period(name: str, facts: ColumnFacts) -> bool:
    topic = topic_of(name)
    is_date = topic is not None and topic.key == "date"
    return is_date and 2 <= facts.distinct <= MOST_PERIODS and facts.numbers is not None


def _is_unique_together(engine: Engine, facts: Mapping[str, ColumnFacts], name: str, period: str) -> bool:
    codes = _codes(engine, facts, {name, period}, most=engine.records)
    together = codes[name] * facts[period].distinct + codes[period]
    return len(np.unique(together)) == len(together)


def scales(facts: Mapping[str, ColumnFacts], columns: Sequence[str]) -> Iterator[Sequence[str]]:
    """Columns with the same answers: whole numbers in a row from 0 or 1, at least three columns of them."""
    answers: dict[tuple[int, int], list[str]] = defaultdict(list)
    for name in columns:
        numbers = facts[name].numbers
        if numbers is not None and facts[name].distinct > 2 and facts[name].has_answers:
            answers[int(numbers.min()), int(numbers.max())].append(name)
    yield from (family for family in answers.values() if len(family) >= FEWEST)


def batteries(facts: Mapping[str, ColumnFacts], open_ones: Collection[str]) -> Iterator[Sequence[str]]:
    """Columns next to each other that are no one's by name, begin alike and have the same few answers.

    At least four of them that differ in letters: `natcrime`, `natdrug`, `nateduc`, `natspac`. A beginning that is a
    word or an abbreviation, such as `hus`, says whose the columns are, and not that they are questions of one list.

    Args:
        facts: of all columns, in the table's order.
        open_ones: the columns that no full word names.
    """
    run: list[str] = []
    for name, one in facts.items():
        fits = name in open_ones and 2 <= one.distinct <= MOST_ANSWERS
        if fits and run and _begin_alike([*run, name]) and _answers(facts[run[0]]) == _answers(one):
            run.append(name)
            continue
        yield from _as_battery(run, facts)
        run = [name] if fits else []
    yield from _as_battery(run, facts)


def _as_battery(names: Sequence[str], facts: Mapping[str, ColumnFacts]) -> Iterator[Sequence[str]]:
    """Columns in a row, if they differ in letters and each record may have several of them."""
    if len({re.sub(r"\d", "", one) for one in names}) >= LEAST_OF_BATTERY and not _may_be_category(names, facts):
        yield names


def _begin_alike(names: Sequence[str]) -> bool:
    """Whether names begin with the same two letters at least, which are no abbreviation, and differ in letters."""
    first, last = min(names, key=str.lower).lower(), max(names, key=str.lower).lower()  # which differ the soonest
    shared = next(
        (place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first)
    )
    letters = re.sub(r"[^a-z].*", "", first[:shared])
    return len(letters) >= SHORTEST_STEM and topic_of(f"{letters} x") is None


def _may_be_category(names: Sequence[str], facts: Mapping[str, ColumnFacts]) -> bool:
    """Whether at most one of several marks may be set in each record, as those of an industry are."""
    ones = [_ones(facts[name]) for name in names]
    set_marks = [one for one in ones if one is not None]
    return len(set_marks) == len(ones) and sum(set_marks) <= max(facts[name].filled for name in names)


def _answers(facts: ColumnFacts) -> frozenset[str]:
    return frozenset(facts.texts)


def families(columns: Sequence[str]) -> dict[str, Sequence[str]]:
    """The columns whose names differ in their numbers only, for each of them: `q1`, `q2`, `q3`.

    A letter in place of the only number is one of them: `readk` next to `read1` and `read2`.

    Example:
        >>> families(["age", "py010n", "py050n", "py080n"])["py050n"]
        ['py010n', 'py050n', 'py080n']
        >>> families(["readk", "read1", "read2", "reads"])
        {}
        >>> families(["readk", "read1", "read2"])["readk"]
        ['readk', 'read1', 'read2']
    """
    named: dict[str, list[str]] = defaultdict(list)
    for name in columns:
        if re.search(r"\d", name):
            named[re.sub(r"\d+", "#", name)].append(name)
    for stem, family in named.items():
        others = [name for name in columns if re.fullmatch(re.escape(stem[:-1]) + "[A-Za-z]", name)]
        if len(family) >= FEWEST - 1 and stem.endswith("#") and len(others) == 1:
            family.sort(key=[*columns].index)
            family.insert(0, *others)
    return {name: family for family in named.values() if len(family) >= FEWEST for name in family}


def role_of_block(name: str, order: Sequence[str], role_of: Callable[[str], Role | None]) -> tuple[Role, str] | None:
    """The role that most of the named columns around one have, and the nearest of them; None where they differ.

    A column counts the more, the nearer it is. What others may know is proposed only if all of them agree and the
    column lies between them: a secret among what is known is common, and the other error is the smaller one.
    """
    place = order.index(name)
    votes: Counter[Role] = Counter()
    nearest: dict[Role, str] = {}
    sides = set[bool]()
    neighbours = [*_neighbours(place, order, role_of)]
    for other, role, vote in neighbours:
        votes[role] += vote
        nearest.setdefault(role, order[other])
        sides |= {other < place} if abs(other - place) <= BESIDE else set()
    if len(neighbours) < NAMED:
        return None
    (role, weight), *_ = votes.most_common(1)
    if role is Role.QUASI_IDENTIFIER and (len(votes) > 1 or len(sides) < 2):
        return None
    return (role, nearest[role]) if weight >= AGREED * sum(votes.values()) else None


def is_among_known(name: str, order: Sequence[str], role_of: Callable[[str], Role | None]) -> bool:
    """Whether most of the named columns around one are known to others, twice as many as secret ones at least."""
    votes: Counter[Role] = Counter()
    for _, role, vote in _neighbours(order.index(name), order, role_of):
        votes[role] += vote
    return votes[Role.QUASI_IDENTIFIER] > 2 * votes[Role.SENSITIVE]


def _neighbours(
    place: int, order: Sequence[str], role_of: Callable[[str], Role | None]
) -> Iterator[tuple[int, Role, int]]:
    """The named columns around a place, the nearest first: their places, roles and votes."""
    for distance in range(1, AROUND + 1):
        for other in (place - distance, place + distance):
            role = role_of(order[other]) if 0 <= other < len(order) else None
            if role is Role.QUASI_IDENTIFIER or role is Role.SENSITIVE:
                yield other, role, 60 // distance  # a whole number for each distance up to six
