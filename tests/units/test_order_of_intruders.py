"""Who knows more finds no more people: whole histories, few events and single rows of many small releases at once.

Each small release is a world: its number is known of every unit, so that worlds share no class.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit import audit
from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.auditor.views import views_of
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.session.tables import open_inputs
from tcdp_audit.core.units.histories import Histories
from tcdp_audit.core.units.table_rows import rows_of_table
from tcdp_audit.core.units.trees import TableHistories
from tcdp_audit_plugins.checks.histories.events import events_of
from tcdp_audit_plugins.checks.histories.knowledge import knowledge_of

MEMORY = 2**30
KNOWN = {"role": "quasi_identifier", "scale": "nominal"}
WORLD = {"world": {"role": "quasi_identifier", "scale": "numeric"}}


@contextmanager
def histories_of(release: Any, policy: Mapping[str, Any]) -> Iterator[Histories]:
    with open_inputs(release, policy, None, None, None, Options()) as inputs:
        histories = views_of(Release(inputs.engine, inputs.policy), MEMORY).histories
        assert histories is not None
        yield histories


def sizes_of(histories: Histories) -> np.ndarray[Any, Any]:
    """The number of units with the whole history of each unit, in the order of the units."""
    return histories.sizes[histories.by[()].codes[histories.present]]


# --- trees -----------------------------------------------------------------------------------------------------------


def trees(worlds: int) -> dict[str, list[tuple[Any, ...]]]:
    draw = random.Random(worlds)  # noqa: S311 - the same trees every time
    patients, visits, drugs = [], [], []
    for world in range(worlds):
        wide = draw.randint(1, 3)  # how many values columns have: some worlds have people alike, some none
        for _ in range(draw.randint(1, 6)):
            patient = f"{len(patients):06}"
            patients.append((patient, world, draw.randrange(wide)))
            for _ in range(draw.randint(0, 3)):
                visits.append((patient, len(visits), draw.randrange(wide)))
                drugs += [(visits[-1][1], draw.randrange(wide)) for _ in range(draw.randint(0, 2))]
    return {"patients": patients, "visits": visits, "drugs": drugs}


def tables_of(rows: Mapping[str, list[tuple[Any, ...]]]) -> dict[str, pa.Table]:
    names = {"patients": "patient world sex", "visits": "patient visit month", "drugs": "visit drug"}
    return {
        table: pa.table({name: [row[n] for row in rows[table]] for n, name in enumerate(columns.split())})
        for table, columns in names.items()
    }


TREES: dict[str, Any] = {
    "version": 1,
    "unit": "patient",
    "tables": {
        "patients": {"attributes": {**WORLD, "sex": KNOWN}},
        "visits": {"belongs_to": "patients", "attributes": {"month": KNOWN}},
        "drugs": {"belongs_to": "visits", "by": "visit", "attributes": {"drug": KNOWN}},
    },
    "expect": [
        {"k_anonymity": {}},
        *({"known_events": {"table": table, "m": m}} for table in ("visits", "drugs") for m in (3, 2, 1)),
    ],
}


def row_classes(rows: Mapping[str, list[tuple[Any, ...]]], table: str) -> dict[str, int]:
    """The units in the smallest class of rows that each unit has a row in, in plain Python."""
    static = {patient: (world, sex) for patient, world, sex in rows["patients"]}
    of_visit = {visit: (patient, month) for patient, visit, month in rows["visits"]}
    if table == "visits":
        labelled = [(patient, (static[patient], month)) for patient, _, month in rows["visits"]]
    else:
        labelled = [(of_visit[v][0], (static[of_visit[v][0]], of_visit[v][1], drug)) for v, drug in rows["drugs"]]
    holders = defaultdict[Any, set[str]](set)
    for patient, label in labelled:
        holders[label].add(patient)
    least: dict[str, int] = {}
    for patient, label in labelled:
        least[patient] = min(least.get(patient, len(static)), len(holders[label]))
    return least


def test_who_knows_more_of_a_tree_finds_no_more_people() -> None:
    worlds = 2000
    rows = trees(worlds)
    tables = tables_of(rows)
    with histories_of(tables, TREES) as histories:
        assert isinstance(histories, TableHistories)
        whole = sizes_of(histories)
        chains = {}
        for table in ("visits", "drugs"):
            sizes = knowledge_of(events_of(rows_of_table(histories, None, None, table, MEMORY), timed=False), 3)
            chains[table] = [one.supports for one in reversed(sizes)]
    world = np.array([one for _, one, _ in rows["patients"]])
    k_of_world = [np.full(worlds, len(whole)) for _ in range(4)]
    for table, chain in chains.items():
        least = row_classes(rows, table)
        of_row = np.array([least.get(patient, 0) for patient, _, _ in rows["patients"]])
        has = of_row > 0
        assert (chain[-1][has] == of_row[has]).all()  # one event is a row with what is known of those above
        ordered = [whole, *chain]
        assert all((less <= more).all() for less, more in itertools.pairwise(ordered))
        for k, supports in zip(k_of_world, ordered, strict=True):
            np.minimum.at(k, world, supports)
    assert all((less <= more).all() for less, more in itertools.pairwise(k_of_world))
    assert any((less < more).any() for less, more in itertools.pairwise(k_of_world))
    observed = [one.observed for one in audit(tables, TREES).expectations]
    assert observed == [whole.min(), *(supports.min() for chain in chains.values() for supports in chain)]


# --- one table, as Google's service for sensitive data does it ----------------------------------------------------


def entities(worlds: int) -> list[tuple[int, str, int, int]]:
    """World, entity, and two quasi-identifiers of each row."""
    draw = random.Random(-worlds)  # noqa: S311 - the same rows every time
    rows = []
    for world in range(worlds):
        wide = draw.randint(1, 3)
        for entity in range(draw.randint(1, 8)):
            for _ in range(draw.randint(1, 3)):
                rows.append((world, f"{world:04}-{entity}", draw.randrange(wide), draw.randrange(2)))  # noqa: PERF401
    draw.shuffle(rows)
    return rows


def test_the_quasi_identifiers_of_an_entity_are_one_multiset_as_in_google_dlp() -> None:
    """`entity_id`: "the entire collection of tuples" is the quasi-identifier, "a multiset": frequency counts."""
    rows = entities(1000)
    collections = defaultdict[str, Counter[Any]](Counter)
    for world, entity, *known in rows:
        collections[entity][world, *known] += 1
    composite = {entity: frozenset(own.items()) for entity, own in collections.items()}
    sizes = Counter(composite.values())
    slow = {entity: sizes[own] for entity, own in composite.items()}

    columns = dict(zip(("world", "entity", "a", "b"), zip(*rows, strict=True), strict=True))
    table = pa.table({name: [*cells] for name, cells in columns.items()})
    policy = {
        "version": 1,
        "unit": "entity",
        "attributes": {**WORLD, "a": KNOWN, "b": KNOWN},
        "expect": [{"k_anonymity": {}}],
    }
    with histories_of(table, policy) as histories:
        actual = dict(zip(np.array(histories.unit.labels), sizes_of(histories).tolist(), strict=True))
    assert actual == slow
    (outcome,) = audit(table, policy).expectations
    expected = Counter(sizes.values())
    assert outcome.observed == min(expected)
    assert [[size, classes] for size, classes, *_ in outcome.details["distribution"]] == [
        [size, expected[size]] for size in sorted(expected)
    ]
