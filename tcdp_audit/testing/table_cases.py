"""Generated releases with everything that they can be compared with, all of as many records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.api import Integers
from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.testing.cases import SEED, VALUE_MARKER, hierarchy_of
from tcdp_audit.testing.remedy_cases import AGES, DISEASES, LEVELS, ROLES, SALARIES, SEXES, ZIPS

RECORDS = 60
EARLIER = 54  # records of the earlier release
NUMERIC = {"age": AGES, "salary": SALARIES}
LABELS: Mapping[str, Sequence[str]] = {"zip": ZIPS, "education": LEVELS, "sex": SEXES, "disease": DISEASES}
QUASI_IDENTIFIERS = ("age", "zip", "education", "sex")
KEY = "person"
NONE = -1  # the code of a missing cell
Records = Mapping[str, Integers]  # a code for each record, by attribute


@dataclass(frozen=True)
class TableCase:
    """A release, its original, the population that it was drawn from, and other tables, as codes of each attribute.

    Args:
        name: what a message calls it.
        release: the release; record i has the key i.
        original: what it was made from, key by key.
        population: the quasi-identifiers of everybody.
        holdout: records of the original's kind that the release was not made from.
        registry: the quasi-identifiers of some of the population, as somebody else could have them.
        previous: an earlier release; record i has the key i.
        labels: the values of the attributes that are text, in the order of their codes.
    """

    name: str
    release: Records
    original: Records
    population: Records
    holdout: Records
    registry: Records
    previous: Records
    labels: Mapping[str, Sequence[str]] = field(default_factory=lambda: LABELS)

    def relabelled(self) -> TableCase:
        """The same with other names for the values of text, which also sort in another order."""
        renamed = {name: [f"{one}x" for one in reversed(values)] for name, values in self.labels.items()}
        return replace(self, labels=renamed)

    def tables(self, shuffle: int | None = None) -> dict[str, pa.Table]:
        """All tables by name, their records in the order of a seed."""
        random = None if shuffle is None else np.random.default_rng(shuffle)
        tables = {"release": self.release, "original": self.original}
        tables |= {"population": self.population, "holdout": self.holdout, "registry": self.registry}
        tables["previous"] = self.previous
        people = {"holdout": "stranger"}
        return {name: self._table(records, random, people.get(name, "person")) for name, records in tables.items()}

    def _table(self, records: Records, random: np.random.Generator | None, people: str) -> pa.Table:
        size = len(next(iter(records.values())))
        order = np.arange(size) if random is None else random.permutation(size)
        columns = {name: self._cells(name, codes[order]) for name, codes in records.items()}
        if "salary" in records:
            columns[KEY] = [f"{VALUE_MARKER}-{people}{number:02}" for number in order]
        return pa.table(columns)

    def _cells(self, name: str, codes: Integers) -> list[Any]:
        domain = [int(one) for one in NUMERIC[name]] if name in NUMERIC else self.labels[name]
        return [None if code == NONE else domain[code] for code in codes]

    def document(self, check: str) -> PolicyDocument:
        """A policy for these tables that expects a check."""
        attributes: dict[str, Any] = {name: dict(ROLES[name]) for name in self.release}
        for name in ("zip", "disease"):
            attributes[name]["hierarchy"] = hierarchy_of(self.labels[name])
        attributes["education"]["order"] = list(self.labels["education"])
        attributes[KEY] = {"role": "insensitive"}
        files = {name: f"{name}.csv" for name in ("original", "population", "holdout", "registry", "previous")}
        content = {"version": 1, **files, "key": KEY, "attributes": attributes, "expect": [{check: None}]}
        return PolicyDocument.model_validate(content)

    def tells_a_cell(self, text: str) -> bool:
        """Whether a text shows a cell of these tables."""
        plain = text.replace(",", "")
        return VALUE_MARKER in text or any(str(number) in plain for number in (*AGES, *SALARIES))


def table_cases() -> Iterator[TableCase]:
    """Tables of every kind that a check on tables may meet."""
    random = np.random.default_rng(SEED)
    coarse = _records(random, {"age": 3, "zip": 2, "education": 2, "sex": 1})
    yield _case("classes of several records", coarse, _masked(random, coarse), random)
    apart = {**_records(random, {}), "age": np.arange(RECORDS) % len(AGES), "zip": np.arange(RECORDS) % len(ZIPS)}
    yield _case("every record alone", apart, _masked(random, apart), random)
    yield _case("released as it was", apart, apart, random)
    alike = _records(random, {"age": 1, "zip": 1, "education": 1, "sex": 1})
    yield _case("one class", alike, _masked(random, alike), random)
    gaps = {
        name: np.where(np.arange(RECORDS) % 7 == place, NONE, codes)
        for place, (name, codes) in enumerate(coarse.items())
    }
    yield _case("cells are missing", gaps, _masked(random, gaps), random)


def _records(random: np.random.Generator, sizes: Mapping[str, int]) -> Records:
    """Records whose attributes have so many different values, by default all."""
    domains = {"age": AGES, **{name: LABELS[name] for name in ("zip", "education", "sex")}, "salary": SALARIES}
    domains["disease"] = DISEASES
    return {name: random.integers(0, sizes.get(name, len(domain)), RECORDS) for name, domain in domains.items()}


def _masked(random: np.random.Generator, original: Records) -> Records:
    """A release of an original: ages and salaries a little beside what they were."""
    release = dict(original)
    for name, domain in NUMERIC.items():
        codes = original[name]
        moved = np.clip(codes + random.integers(-2, 3, len(codes)), 0, min(codes.max(), len(domain) - 1))
        release[name] = np.where(codes == NONE, NONE, moved)
    return release


def _case(name: str, original: Records, release: Records, random: np.random.Generator) -> TableCase:
    """The release of an original, after one of most records, in a population where each has up to two doubles."""
    doubles = np.repeat(np.arange(RECORDS), random.integers(1, 4, RECORDS))
    others = _records(random, {})
    population = {one: np.concatenate([release[one][doubles], others[one]]) for one in QUASI_IDENTIFIERS}
    registry = {one: codes[::2] for one, codes in population.items()}
    earlier = {one: codes[:EARLIER] for one, codes in original.items()}
    return TableCase(name, release, original, population, _records(random, {}), registry, earlier)
