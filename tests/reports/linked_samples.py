"""Audits of several tables to report on: a clinic of three, and a tree of eight with long names."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tcdp_audit import audit
from tcdp_audit.core.results.audit import Audit

KNOWN = {"role": "quasi_identifier"}
SECRET = {"role": "sensitive"}
LONG = "prescriptions_dispensed_by_pharmacies_of_the_region"
TREE = {  # a table and its parent
    "people": None,
    "visits": "people",
    "drugs": "visits",
    LONG: "drugs",
    "<b>batches</b>": LONG,
    "jobs": "people",
    "salaries_and_other_income_by_month": "jobs",
    "cars": "people",
}


def clinic() -> Audit:
    """Three tables: some patients are alone with all, none with the first two."""
    draw, people = random.Random(2), range(200)  # noqa: S311 - a table to test on
    visits = [(person, draw.randrange(4)) for person in people for _ in range(draw.randrange(4))]
    drugs = [(visit, draw.choice("AAABC")) for visit in range(len(visits)) for _ in range(draw.randrange(3))]
    tables = {
        "patients": pa.table({"patient": list(people), "sex": ["fm"[draw.randrange(2)] for _ in people]}),
        "visits": pa.table(
            {
                "patient": [person for person, _ in visits],
                "visit": list(range(len(visits))),
                "quarter": [quarter for _, quarter in visits],
                "diagnosis": [draw.choice(["flu", "gout"]) for _ in visits],
            }
        ),
        "drugs": pa.table({"visit": [visit for visit, _ in drugs], "drug": [drug for _, drug in drugs]}),
    }
    declared = {
        "patients": {"attributes": {"sex": KNOWN}},
        "visits": {"belongs_to": "patients", "attributes": {"quarter": KNOWN, "diagnosis": SECRET}},
        "drugs": {"belongs_to": "visits", "by": "visit", "attributes": {"drug": KNOWN}},
    }
    expect = [{"k_anonymity": {"k": 5}}, {"homogeneity": {"at_most": 0}}, {"entropy_l_diversity": {"l": 2}}]
    return audit(tables, {"version": 1, "unit": "patient", "tables": declared, "expect": expect}, show_values=True)


def tree(parents: Mapping[str, str | None] = TREE, *, rows: int = 40) -> Audit:
    """A tree of tables, each with a quasi-identifier and some rows for each of its parent's."""
    draw, tables, declared = random.Random(3), {}, {}  # noqa: S311 - a table to test on
    for name, parent in parents.items():
        links: dict[str, Any] = {"person": list(range(rows))}
        if parent is not None:
            key = "person" if parents[parent] is None else f"{parent}_number"
            links = {key: [draw.randrange(rows) for _ in range(rows)], f"{name}_number": list(range(rows))}
            if name not in parents.values():
                del links[f"{name}_number"]
        tables[name] = pa.table({**links, "kind": [draw.choice("abc") for _ in range(rows)]})
        link = {} if parent is None else {"belongs_to": parent}
        by = {} if parent is None or parents[parent] is None else {"by": f"{parent}_number"}
        declared[name] = {"attributes": {"kind": KNOWN}, **link, **by}
    policy = {"version": 1, "unit": "person", "tables": declared, "expect": [{"k_anonymity": {"k": 2}}]}
    return audit(tables, policy)
