"""Releases under very many demands: columns under each check, scenarios, tables of figures, units, odd columns."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from tcdp_audit import audit
from tcdp_audit.core.results.audit import Audit

KNOWN = {"role": "quasi_identifier", "scale": "nominal"}
SECRET = {"role": "sensitive", "scale": "nominal"}
THREE = [{"distinct_l_diversity": {"l": 3}}, {"entropy_l_diversity": {"l": 2}}, {"t_closeness": {"t": 0.25}}]
RECORDS, SECRETS = 400, 54


def many_attributes(*, columns: int = SECRETS, **further: Any) -> Audit:
    """A survey with 54 sensitive columns under three checks each, some of which fail."""
    draw = random.Random(1)  # noqa: S311 - a table to test on
    known = {"age": [f"{draw.randrange(2, 6)}*" for _ in range(RECORDS)], "sex": draw.choices("fm", k=RECORDS)}
    secret = {
        f"answer_{number:02}": draw.choices(range(2 + number % 9), [9, *[1 + number % 4] * (1 + number % 9)], k=RECORDS)
        for number in range(1, columns + 1)
    }
    attributes = dict.fromkeys(known, KNOWN) | dict.fromkeys(secret, SECRET)
    policy = {
        "version": 1,
        "unit_name": "person",
        "attributes": attributes,
        "expect": [{"k_anonymity": {"k": 5}}, *THREE],
    }
    return audit(pa.table({**known, **secret}), policy, **further)


def many_columns() -> Audit:
    """Two hundred columns of one kind: half are not declared, and twenty that the policy declares are not there."""
    draw = random.Random(2)  # noqa: S311 - likewise
    names = [f"measurement_{number:03}" for number in range(1, 201)]
    table = {"age": [draw.randrange(2, 6) for _ in range(RECORDS)], "illness": draw.choices("abcd", k=RECORDS)}
    table |= {name: [draw.randrange(40) for _ in range(RECORDS)] for name in names}
    declared = {name: {"role": "insensitive"} for name in [*names[:100], *(f"gone_{number}" for number in range(20))]}
    attributes = {"age": KNOWN, "illness": SECRET, **declared}
    expect = [{"k_anonymity": {"k": 5}}, {"distinct_l_diversity": {"l": 2}}]
    return audit(pa.table(table), {"version": 1, "unit_name": "person", "attributes": attributes, "expect": expect})


def many_scenarios() -> Audit:
    """Twelve intruders, each of whom knows two of seven columns or more, under five demands each."""
    draw = random.Random(3)  # noqa: S311 - likewise
    known = ["age", "sex", "job", "town", "school", "car", "club"]
    table = {name: draw.choices("abcd"[: 2 + number % 3], k=RECORDS) for number, name in enumerate(known)}
    table |= {name: draw.choices("uvwxyz", [9, 5, 4, 3, 2, 1], k=RECORDS) for name in ("illness", "income")}
    pairs = itertools.islice(itertools.combinations(known, 2), 12)
    scenarios = {
        f"intruder_{number}": {
            "knows": list(dict.fromkeys([*pair, *known[5 : 5 + number % 3]])),
            "says": f"the neighbour of house {number}",
        }
        for number, pair in enumerate(pairs)
    }
    attributes = {name: {"role": "insensitive"} for name in known} | {"illness": SECRET, "income": SECRET}
    attributes |= {known[0]: KNOWN}
    expect = [{"k_anonymity": {"k": 5}}, {"t_closeness": {"t": 0.3}}, {"distinct_l_diversity": {"l": 3}}]
    policy = {"version": 1, "unit_name": "person", "attributes": attributes, "scenarios": scenarios, "expect": expect}
    return audit(pa.table(table), policy)


def many_tables() -> Audit:
    """Thirty tables of figures on one population, some with small counts."""
    draw, tables, declared = random.Random(4), {}, {}  # noqa: S311 - likewise
    for number in range(30):
        name, kinds = f"ward_{number:02}", [f"kind {one}" for one in range(6)]
        counts = [[draw.randrange(3, 90) for _ in kinds] for _ in "fm"]
        rows = [
            (sex, kind, n) for sex, own in zip("fm", counts, strict=True) for kind, n in zip(kinds, own, strict=True)
        ]
        columns = list(zip(*rows, strict=True))
        tables[name] = pa.table({"sex": columns[0], "kind": columns[1], "patients": columns[2]})
        declared[name] = {
            "about": {"ward": str(number)},
            "dimensions": {"sex": {}, "kind": {}},
            "measures": {"patients": {"counts": "people"}},
        }
    expect = [{"cell_frequency": {"k": 10}}, {"derivable_small_count": {"k": 10}}, {"table_differencing": {"k": 10}}]
    return audit(tables, {"version": 1, "unit_name": "patient", "tables": declared, "expect": expect})


def many_units() -> Audit:
    """Persons in homes: every demand of each of them, on twelve columns."""
    draw = random.Random(5)  # noqa: S311 - likewise
    secret = {f"answer_{number:02}": draw.choices("abcd", [9, 4, 3, 1], k=RECORDS) for number in range(1, 13)}
    table = {"home": [number // 2 for number in range(RECORDS)], "person": [*range(RECORDS)]}
    table |= {"age": [f"{draw.randrange(2, 6)}*" for _ in range(RECORDS)], **secret}
    insensitive = {"role": "insensitive"}
    attributes = {"home": insensitive, "person": insensitive, "age": KNOWN, **dict.fromkeys(secret, SECRET)}
    demands = [{"k_anonymity": {"k": 5}}, *THREE]
    of_homes = [{name: {**own, "unit": "home"} for name, own in one.items()} for one in demands]
    policy = {"version": 1, "unit_name": "person", "attributes": attributes, "expect": [*demands, *of_homes]}
    return audit(pa.table(table), policy)


CASES: Mapping[str, Callable[[], Audit]] = {
    "attributes": many_attributes,
    "columns": many_columns,
    "scenarios": many_scenarios,
    "tables": many_tables,
    "units": many_units,
}
