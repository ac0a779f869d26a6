"""Generated releases that fail their policies, for remedies to repair; their cells would be recognised in any text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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

    def tells_a_cell(self, text: str) -> bool:
        """Whether a text shows a cell of the release, its thousands separated or not."""
        plain = re.sub(r"(?<=\d),(?=\d)", "", text)
        return VALUE_MARKER in text or any(str(number) in plain for number in (*AGES, *SALARIES))


def remedy_cases() -> Iterator[RemedyCase]:
    """Releases of every kind that a remedy may meet."""
    demands = [{"k_anonymity": {"k": 4}}, {"distinct_l_diversity": {"l": 2, "attribute": "disease"}}]
    everywhere = {name: {**ROLES[name], "hierarchy": hierarchy_of(leaves)} for name, leaves in _leaves().items()}
    yield RemedyCase("every cell is there", _table(_records(240)), _policy(demands, {}))
    yield RemedyCase("a hierarchy for every quasi-identifier", _table(_records(240)), _policy(demands, everywhere))
    yield RemedyCase("cells are missing or suppressed", _table(_records(240), gaps=True), _policy(demands, {}))
    yield RemedyCase("twelve records", _table(_records(12)), _policy(demands, {}))
    closeness = [{"t_closeness": {"t": 0.2, "attribute": "salary"}}]
    yield RemedyCase("numbers are generalised already", _generalised(_records(240)), _policy(closeness, {}))


def _leaves() -> Mapping[str, list[str]]:
    return {"age": [str(age) for age in AGES], "education": LEVELS, "sex": SEXES}


def _policy(expect: list[Any], declared: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"version": 1, "attributes": {**ROLES, **declared}, "expect": expect, "seed": 5}


def _records(number: int) -> dict[str, NDArray[Any]]:
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
