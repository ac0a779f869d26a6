"""Generated releases: those that remedies repair fail their policies, and others have all that they compare with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.testing.cases import SEED, VALUE_MARKER, hierarchy_of

AGES = 7_000_003 + 1_301 * np.arange(48)
SALARIES = 3_000_017 + 40_009 * np.arange(120)
ZIPS, LEVELS, SEXES, DISEASES = (
    [f"{VALUE_MARKER}-{kind}{number:02}" for number in range(size)]
    for kind, size in (("zip", 18), ("level", 6), ("sex", 2), ("disease", 9))
)
ROLES: Mapping[str, Mapping[str, Any]] = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "zip": {"role": "quasi_identifier", "scale": "nominal", "hierarchy": hierarchy_of(ZIPS)},
    "education": {"role": "quasi_identifier", "scale": "ordinal", "order": LEVELS},
    "sex": {"role": "quasi_identifier", "scale": "nominal"},
    "salary": {"role": "sensitive", "scale": "numeric"},
    "disease": {"role": "sensitive", "scale": "nominal", "hierarchy": hierarchy_of(DISEASES)},
    "hours": {"role": "insensitive"},
}


@dataclass(frozen=True)
class RemedyCase:
    """A release with its policy, as a mapping."""

    name: str
    table: pa.Table
    policy: Mapping[str, Any]

    def shows_a_cell(self, text: str) -> bool:
        """True if a text shows a cell of the release, its thousands separated or not."""
        plain = re.sub(r"(?<=\d),(?=\d)", "", text)
        return VALUE_MARKER in text or any(str(number) in plain for number in (*AGES, *SALARIES))


def remedy_cases() -> Iterator[RemedyCase]:
    """Releases of every kind that a remedy may meet."""
    demands = [{"k_anonymity": {"k": 4}}, {"distinct_l_diversity": {"l": 2, "attribute": "disease"}}]
    everywhere = {name: {**ROLES[name], "hierarchy": hierarchy_of(leaves)} for name, leaves in _leaves().items()}
    yield RemedyCase("every cell is there", _table(_drawn(240)), _policy(demands, {}))
    yield RemedyCase("a hierarchy for every quasi-identifier", _table(_drawn(240)), _policy(demands, everywhere))
    yield RemedyCase("cells are missing or suppressed", _table(_drawn(240), gaps=True), _policy(demands, {}))
    yield RemedyCase("twelve records", _table(_drawn(12)), _policy(demands, {}))
    linked = {"unit": KEY, "time": MONTH}
    further = {KEY: {"role": "insensitive"}, MONTH: {"role": "quasi_identifier"}}
    yield RemedyCase("a unit joins rows", _linked(_drawn(240)), {**_policy(demands[:1], further), **linked})
    closeness = [{"t_closeness": {"t": 0.2, "attribute": "salary"}}]
    yield RemedyCase("numbers are generalised already", _generalised(_drawn(240)), _policy(closeness, {}))


def _leaves() -> Mapping[str, list[str]]:
    return {"age": [str(age) for age in AGES], "education": LEVELS, "sex": SEXES}


def _policy(expect: list[Any], declared: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"version": 1, "attributes": {**ROLES, **declared}, "expect": expect, "seed": 5}


def _drawn(number: int) -> dict[str, NDArray[Any]]:
    """Codes of the values of each column; salaries rise with age."""
    random = np.random.default_rng(SEED)
    age = random.integers(0, len(AGES), number)
    salary = np.clip(2 * age + random.integers(0, 40, number), 0, len(SALARIES) - 1)
    sizes = {"zip": len(ZIPS), "education": len(LEVELS), "sex": len(SEXES), "disease": len(DISEASES), "hours": 60}
    return {"age": age, "salary": salary, **{name: random.integers(0, size, number) for name, size in sizes.items()}}


def _table(records: Mapping[str, NDArray[Any]], *, gaps: bool = False) -> pa.Table:
    domains = {"age": AGES, "zip": ZIPS, "education": LEVELS, "sex": SEXES, "salary": SALARIES, "disease": DISEASES}
    cells = {name: np.array(domain)[records[name]].tolist() for name, domain in domains.items()}
    cells["hours"] = records["hours"].tolist()
    if gaps:
        for period, name in enumerate(("age", "education", "sex", "disease", "salary"), 7):
            cells[name][::period] = [None] * len(cells[name][::period])
        cells["zip"][::5] = ["*"] * len(cells["zip"][::5])
    return pa.table({name: cells[name] for name in ROLES})


def _generalised(records: Mapping[str, NDArray[Any]]) -> pa.Table:
    """Ages and salaries in bins, zip and education suppressed."""
    table = _table(records)
    for name, bin_size, domain in (("age", 16, AGES), ("salary", 12, SALARIES)):
        starts = domain[records[name] // bin_size * bin_size]
        width = bin_size * int(domain[1] - domain[0])
        labels = [f"[{start}, {start + width})" for start in starts]
        table = table.set_column(list(ROLES).index(name), name, pa.array(labels))
    for name in ("zip", "education"):
        table = table.set_column(list(ROLES).index(name), name, pa.array(["*"] * len(table)))
    return table


def _linked(records: Mapping[str, NDArray[Any]]) -> pa.Table:
    """Three rows of each person; those of every second person are the same in what is known, month included."""
    people = np.arange(len(records["age"])) // 3
    alike = people % 2 == 0
    known = {name: np.where(alike, 0, records[name]) for name in QUASI_IDENTIFIERS}
    months = [f"2024-{month:02}" for month in np.where(alike, 1, 1 + records["hours"] % 12)]
    table = _table({**records, **known}).append_column(KEY, [[f"{VALUE_MARKER}-person{one:02}" for one in people]])
    return table.append_column(MONTH, [months])


RECORDS = 60
EARLIER = 54  # records of the earlier release
NUMERIC = {"age": AGES, "salary": SALARIES}
LABELS: Mapping[str, Sequence[str]] = {"zip": ZIPS, "education": LEVELS, "sex": SEXES, "disease": DISEASES}
QUASI_IDENTIFIERS = ("age", "zip", "education", "sex")
KEY = "person"
MONTH = "month"
NONE = -1  # the code of a missing cell
Records = Mapping[str, NDArray[np.integer]]  # a code for each record, by attribute


@dataclass(frozen=True)
class TableCase:
    """A release, its original, the population that it was drawn from, and other tables, as codes of each attribute.

    Args:
        name: what a message calls it.
        records: by table: `release` and `original`, record i of both with the key i; `population`, the
            quasi-identifiers of everyone; `holdout`, records that the release was not made from; `registry`, some of
            the population, as another party could have them; `previous`, an earlier release, record i with the key i.
        labels: the values of the attributes that are text, in the order of their codes.
    """

    name: str
    records: Mapping[str, Records]
    labels: Mapping[str, Sequence[str]] = field(default_factory=lambda: LABELS)

    @property
    def release(self) -> Records:
        """The release."""
        return self.records["release"]

    def relabelled(self) -> TableCase:
        """The same with other names for the values of text, which also sort in another order."""
        renamed = {name: [f"{one}x" for one in reversed(values)] for name, values in self.labels.items()}
        return replace(self, labels=renamed)

    def tables(self, shuffle: int | None = None) -> dict[str, pa.Table]:
        """All tables by name, their records in the order of a seed."""
        random = None if shuffle is None else np.random.default_rng(shuffle)
        people = {"holdout": "stranger"}
        return {name: self._table(one, random, people.get(name, "person")) for name, one in self.records.items()}

    def _table(self, records: Records, random: np.random.Generator | None, people: str) -> pa.Table:
        size = len(next(iter(records.values())))
        order = np.arange(size) if random is None else random.permutation(size)
        columns = {name: self._cells(name, codes[order]) for name, codes in records.items()}
        if "salary" in records:
            columns[KEY] = [f"{VALUE_MARKER}-{people}{number:02}" for number in order]
        return pa.table(columns)

    def _cells(self, name: str, codes: NDArray[np.integer]) -> list[Any]:
        domain = [int(one) for one in NUMERIC[name]] if name in NUMERIC else self.labels[name]
        return [None if code == NONE else domain[code] for code in codes]

    def document(self, check: str, *, unit: bool = False) -> PolicyDocument:
        """A policy for these tables that expects a check; with `unit`, one that joins rows by the key."""
        attributes: dict[str, Any] = {name: dict(ROLES[name]) for name in self.release}
        for name in ("zip", "disease"):
            attributes[name]["hierarchy"] = hierarchy_of(self.labels[name])
        attributes["education"]["order"] = list(self.labels["education"])
        attributes[KEY] = {"role": "insensitive"}
        files = {name: f"{name}.csv" for name in self.records if name != "release"}
        content = {"version": 1, **files, "key": KEY, "attributes": attributes, "expect": [{check: None}]}
        if unit:
            content["unit"] = KEY
        return PolicyDocument.model_validate(content)

    def shows_a_cell(self, text: str) -> bool:
        """True if a text shows a cell of these tables."""
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
    """A release of an original: ages and salaries a little apart from what they were."""
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
    tables = {"release": release, "original": original, "population": population, "holdout": _records(random, {})}
    tables["registry"] = {one: codes[::2] for one, codes in population.items()}
    tables["previous"] = {one: codes[:EARLIER] for one, codes in original.items()}
    return TableCase(name, tables)
