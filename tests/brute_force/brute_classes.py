"""Equivalence classes and every figure of a class, in plain Python fractions; nothing here is the auditor's.

A record is a mapping from column to text, or None for a missing cell. Only what the pages promise is built on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, inf, log
from typing import Any

Record = Mapping[str, str | None]
Value = Any  # a text, a tuple of texts for attributes read together, or None for a missing value
Counts = Mapping[Value, int]
Figure = Fraction | float
QUASI_IDENTIFIERS, SENSITIVE, UNIT, TOKENS = ("sex", "zip"), ("illness", "stage"), "person", ("*",)


@dataclass(frozen=True)
class Conventions:
    """What a verdict means."""

    unit: bool = False
    missing_quasi_identifier: str = "own_category"
    missing_sensitive: str = "excluded"
    suppressed: str = "counted"
    multiple_sensitive: str = "per_attribute"
    reference: str = "release"

    def document(self) -> dict[str, str]:
        """The section of a policy."""
        return {name: value for name, value in vars(self).items() if name != "unit"}


@dataclass(frozen=True)
class OneClass:
    """An equivalence class.

    Args:
        records: how many records it has.
        size: what k counts.
        counts: the attribute in the records that it is judged by.
        members: how many records, or people, have a value among these.
        positions: which records of the release they are.
        held: values that all members of a larger class have, of which this is a part.
        of_members: whether a share is the share of members that have a value.
    """

    records: int
    size: int
    counts: Counts
    members: int = 0
    positions: Sequence[int] = ()
    held: Sequence[Value] = ()
    of_members: bool = False

    @property
    def certain(self) -> Sequence[Value]:
        """The values that all members have, alone or beside others."""
        return [*self.held, *(value for value, count in self.counts.items() if count == self.members)]


@dataclass(frozen=True)
class Judged:
    """The classes of one attribute, and what they are measured against.

    Args:
        classes: the classes.
        reference: how much each value weighs.
        everyone: how many people, or records, there are.
        having: how many people have a value, where one may have several of them; None for the sum of the weights.
    """

    classes: Sequence[OneClass]
    reference: Counts
    everyone: int
    having: int | None = None
    distribution: Mapping[Value, Fraction] = field(init=False)

    def __post_init__(self) -> None:
        """Turn counts into shares."""
        total = sum(self.reference.values()) if self.having is None else self.having
        shares = {value: Fraction(count, total) for value, count in self.reference.items()} if total else {}
        object.__setattr__(self, "distribution", shares)


def judged(
    records: Sequence[Record],
    attributes: Sequence[str],
    known: Sequence[str],
    conventions: Conventions,
    other_reference: Counts | None = None,
) -> Judged:
    """The classes in which an attribute (or several read together) is judged.

    Args:
        records: the release.
        attributes: what is measured.
        known: the sensitive attributes that classes are grouped by as well.
        conventions: the policy's.
        other_reference: what closeness is measured against, where that is not the release.
    """
    positions = [i for i, one in enumerate(records) if not _is_exempt(one, conventions)]
    counted = [records[i] for i in positions]
    names = [*QUASI_IDENTIFIERS, *known]
    keys = [tuple(one[name] for name in names) for one in counted]
    mixture: Counter[Value] = Counter()
    classes = []
    for key, size in Counter(keys).items():
        own = [one for one, other in zip(counted, keys, strict=True) if other == key]
        places = [i for i, other in zip(positions, keys, strict=True) if other == key]
        mixture.update(_histogram(own, attributes, conventions))
        if conventions.missing_quasi_identifier == "wildcard":
            own = [one for one, other in zip(counted, keys, strict=True) if _compatible(key, other)]
        entities = len({one[UNIT] for one in own}) if conventions.unit else len(own)
        members = _members(own, attributes, conventions)
        classes.append(OneClass(size, entities, _histogram(own, attributes, conventions), members, places))
    everyone = len({one[UNIT] for one in counted}) if conventions.unit else len(counted)
    return Judged(classes, mixture if other_reference is None else other_reference, everyone)


def _is_exempt(record: Record, conventions: Conventions) -> bool:
    return conventions.suppressed == "exempt" and all(record[c] in TOKENS for c in (*QUASI_IDENTIFIERS, *SENSITIVE))


def _compatible(one: Sequence[str | None], other: Sequence[str | None]) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def value_of(record: Record, attributes: Sequence[str]) -> Value:
    """The value of an attribute, or the combination of several, of which a missing part makes it missing."""
    parts = tuple(record[name] for name in attributes)
    return parts[0] if len(parts) == 1 else None if None in parts else parts


def _histogram(records: Sequence[Record], attributes: Sequence[str], conventions: Conventions) -> Counts:
    values = [(one[UNIT], value_of(one, attributes)) for one in records]
    counts = Counter(value for _, value in (set(values) if conventions.unit else values))
    if conventions.missing_sensitive != "own_category":
        counts.pop(None, None)
    return counts


def _members(records: Sequence[Record], attributes: Sequence[str], conventions: Conventions) -> int:
    valued = [
        value_of(one, attributes) is not None or conventions.missing_sensitive == "own_category" for one in records
    ]
    having = [one[UNIT] for one, has in zip(records, valued, strict=True) if has]
    return len(set(having)) if conventions.unit else len(having)


# Figures of one class: None stands for a class without any value


def shares(one: OneClass) -> dict[Value, Fraction]:
    """The distribution in a class."""
    total = one.members if one.of_members else sum(one.counts.values())
    return {value: Fraction(count, total) for value, count in one.counts.items()}


def equal(one: OneClass, judged: Judged) -> Figure:
    """Half the sum of differences."""
    p, q = shares(one), judged.distribution
    return sum((abs(p.get(v, Fraction(0)) - q.get(v, Fraction(0))) for v in {*p, *q}), Fraction(0)) / 2


def ordered(order: Sequence[str]) -> Callable[[OneClass, Judged], Figure]:
    """By rank in an order."""

    def distance(one: OneClass, judged: Judged) -> Figure:
        p, q, moved, total = shares(one), judged.distribution, Fraction(0), Fraction(0)
        for value in order:
            moved += p.get(value, Fraction(0)) - q.get(value, Fraction(0))
            total += abs(moved)
        return total / (len(order) - 1)

    return distance


def multiplicative(one: OneClass, judged: Judged) -> Figure:
    """The largest factor either way."""
    p, q = shares(one), judged.distribution
    return max(_over(a, b) for v in {*p, *q} for a, b in _both(p.get(v, Fraction(0)), q.get(v, Fraction(0))))


def _both(p: Fraction, q: Fraction) -> list[tuple[Fraction, Fraction]]:
    return [(p, q), (q, p)] if p or q else [(Fraction(1), Fraction(1))]


def _over(a: Fraction, b: Fraction) -> Figure:
    return a / b if b else inf


def gain(one: OneClass, judged: Judged) -> Figure:
    """The largest relative gain of a share."""
    q = judged.distribution
    return max(_over(p - q.get(v, Fraction(0)), q.get(v, Fraction(0))) for v, p in shares(one).items())


def factor(one: OneClass, judged: Judged) -> Figure:
    """The largest ratio of a share to the reference's."""
    return max(_over(p, judged.distribution.get(v, Fraction(0))) for v, p in shares(one).items())


def disclosure(one: OneClass, judged: Judged) -> Figure:
    """The largest |ln p/q|."""
    result = multiplicative(one, judged)
    return log(result) if result < inf else inf


def recursive(l: int, dont_care: Sequence[str] = ()) -> Callable[[OneClass, Judged], Figure]:
    """The least c that a class does not keep, by the two cases of the paper."""

    def ratio(one: OneClass, _: Judged) -> Figure:
        if any(value not in dont_care for value in one.certain):
            return inf
        ranked = sorted(one.counts.items(), key=lambda pair: (-pair[1], pair[0] in dont_care))
        r = [0, *(count for _, count in ranked)]
        y = next((i for i, (value, _) in enumerate(ranked, 1) if value not in dont_care), None)
        if y is None:
            return Fraction(0)
        tail = sum(r[l:]) if y <= l - 1 else sum(r[l - 1 : y]) + sum(r[y + 1 :])
        return _over(Fraction(r[y]), Fraction(tail))

    return ratio


def perplexity(one: OneClass, _: Judged) -> Figure:
    """exp(H)."""
    return 1 if one.certain else exp(-sum(float(p) * log(p) for p in shares(one).values()))
