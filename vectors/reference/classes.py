"""Equivalence classes of a table under each convention."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from vectors.reading import Row, Vector, rows

Key = tuple[Hashable, ...]


@dataclass(frozen=True)
class Group:
    """An equivalence class.

    Args:
        key: its quasi-identifiers.
        own: its records, by their positions.
        size: what k counts: records, or people.
        counts: how many records (or people) have each sensitive value.
        members: how many have one at all.
        people: whose records they are.
    """

    key: Key
    own: tuple[int, ...]
    size: int
    counts: Mapping[Hashable, int]
    members: int
    people: frozenset[Hashable]

    @property
    def shares(self) -> dict[Hashable, Fraction]:
        """The distribution of its values."""
        total = sum(self.counts.values())
        return {value: Fraction(count, total) for value, count in self.counts.items()}

    @property
    def certain(self) -> bool:
        """Whether all members have one value, alone or beside others."""
        return any(count == self.members for count in self.counts.values())


@dataclass(frozen=True)
class Judged:
    """The classes of a table, and what closeness compares them with.

    Args:
        groups: the classes.
        reference: the share of each value.
        records: how many records there are.
        people: how many people; the records, where no unit is declared.
        lacks: whether a cell is missing where `fail` forbids it.
    """

    groups: Sequence[Group]
    reference: Mapping[Hashable, Fraction]
    records: int
    people: int
    lacks: bool


def roles(vector: Vector, role: str) -> list[str]:
    """The columns of a role."""
    return [name for name, one in vector.declared["attributes"].items() if one["role"] == role]


def missing(vector: Vector) -> list[str]:
    """The texts that stand for a missing cell."""
    return list(vector.conventions.get("missing_tokens", [""]))


def convention(vector: Vector, name: str, default: str) -> str:
    """A convention, or its default."""
    return str(vector.conventions.get(name, default))


def companion(vector: Vector, name: str) -> tuple[Row, ...]:
    """Another table that the vector declares."""
    return rows(vector.folder / vector.declared[name]["table"])


def counted(vector: Vector, table: Sequence[Row] | None = None) -> list[Row]:
    """The records that are judged: all, or all but those that are suppressed throughout."""
    table = rows(vector.path) if table is None else table
    if convention(vector, "suppressed", "counted") == "counted":
        return list(table)
    tokens = vector.conventions.get("suppressed_tokens", ["*"])
    cells = [*roles(vector, "quasi_identifier"), *roles(vector, "sensitive")]
    return [row for row in table if not all(row[name] in tokens for name in cells)]


def judge(vector: Vector) -> Judged | None:
    """The classes in which a vector's attribute is judged; None for a table without a record to judge."""
    table = counted(vector)
    if not table:
        return None
    lacking = set(missing(vector))
    known, value_of = roles(vector, "quasi_identifier"), _value(vector, lacking)
    attribute = vector.parameters.get("attribute")
    if convention(vector, "multiple_sensitive", "per_attribute") == "others_as_quasi_identifiers":
        known += [name for name in roles(vector, "sensitive") if name != attribute]
    keys = [tuple(None if row[name] in lacking else row[name] for name in known) for row in table]
    values = [value_of(row) for row in table]
    unit = vector.declared.get("unit")
    people = [row[unit] if unit else i for i, row in enumerate(table)]
    own = defaultdict(list)
    for i, key in enumerate(keys):
        own[key].append(i)
    wildcard = convention(vector, "missing_quasi_identifier", "own_category") == "wildcard"
    groups = []
    for key, positions in own.items():
        alike = [i for i, other in enumerate(keys) if compatible(key, other)] if wildcard else positions
        groups.append(_group(key, positions, alike, values, people, is_unit=bool(unit)))
    lacks = (convention(vector, "missing_quasi_identifier", "own_category") == "fail" and _any_missing(keys)) or (
        convention(vector, "missing_sensitive", "excluded") == "fail" and bool(attribute) and None in values
    )
    mixture: Counter[Hashable] = Counter()
    for positions in own.values():
        mixture.update(_histogram(positions, values, people, is_unit=bool(unit)))
    return Judged(groups, _reference(vector, mixture, lacking), len(table), len(set(people)), lacks)


def compatible(one: Key, other: Key) -> bool:
    """Whether two keys agree where neither is missing."""
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def _any_missing(keys: Sequence[Key]) -> bool:
    return any(None in key for key in keys)


def _value(vector: Vector, lacking: set[str]) -> Callable[[Row], Hashable]:
    own_category = convention(vector, "missing_sensitive", "excluded") == "own_category"
    joint = convention(vector, "multiple_sensitive", "per_attribute") == "joint"
    names = roles(vector, "sensitive") if joint else [vector.parameters.get("attribute")]

    def value(row: Row) -> Hashable:
        if names == [None]:
            return None
        parts = tuple(row[str(name)] for name in names)
        gone = any(part in lacking for part in parts)
        return (("missing",) if own_category else None) if gone else parts if joint else parts[0]

    return value


def _group(key: Key, own: list[int], alike: list[int], values: list[Any], people: list[Any], *, is_unit: bool) -> Group:
    having = {people[i] for i in alike if values[i] is not None}
    counts = _histogram(alike, values, people, is_unit=is_unit)
    whose = frozenset(people[i] for i in own)
    return Group(key, tuple(own), len({people[i] for i in alike}), counts, len(having), whose)


def _histogram(positions: Sequence[int], values: list[Any], people: list[Any], *, is_unit: bool) -> Counter[Hashable]:
    pairs = [(people[i], values[i]) for i in positions if values[i] is not None]
    return Counter(value for _, value in (set(pairs) if is_unit else pairs))


def _reference(vector: Vector, mixture: Mapping[Hashable, int], lacking: set[str]) -> dict[Hashable, Fraction]:
    weights: Mapping[Hashable, Fraction | int] = mixture
    kind, attribute = convention(vector, "reference", "release"), str(vector.parameters.get("attribute"))
    if attribute == "None":
        return {}
    if kind == "original":
        weights = Counter(row[attribute] for row in companion(vector, "original") if row[attribute] not in lacking)
    if kind == "declared":
        declared = vector.declared["attributes"][attribute]
        if declared["distribution"] == "uniform":
            weights = dict.fromkeys(declared.get("order", mixture), 1)
        else:
            weights = {value: Fraction(str(weight)) for value, weight in declared["distribution"].items()}
    total = sum(weights.values())
    return {value: Fraction(weight) / total for value, weight in weights.items()} if total else {}
