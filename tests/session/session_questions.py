"""Random tables, policies and levels, to ask of a session and of `audit`."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tcdp_audit
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
QUESTIONS = 6
Stored = Callable[[pa.Table, Path], Any]  # puts a table where a folder, or its name, says
AGES = {"*": {"young": {"0-9": ["3", "7"], "10-19": ["12", "18"]}, "old": {"60-69": ["60", "64"], "70-79": ["71"]}}}
PLACES = {"*": {"north": ["a1", "a2"], "south": ["b1", "b2", "b3"]}}
CELLS: dict[str, list[Any]] = {
    "age": ["3", "7", "12", "18", "60", "64", "71"],
    "place": ["a1", "a2", "b1", "b2", "b3"],
    "sex": ["f", "m"],
    "ill": ["flu", "cough", "ache", "none"],
    "pay": ["10", "20", "25", "40", "80"],
    "person": [f"p{number}" for number in range(40)],
}
HEIGHTS = {"age": 3, "place": 2}
CHECKS: list[dict[str, Any]] = [
    {"k_anonymity": {"k": 2}},
    {"k_anonymity": {"k": 5}},
    {"distinct_l_diversity": {"l": 2, "attribute": "ill"}},
    {"entropy_l_diversity": {"l": 2, "attribute": "ill"}},
    {"t_closeness": {"t": "1/4", "attribute": "ill"}},
    {"t_closeness": {"t": 0.3, "attribute": "pay", "distance": "ordered"}},
    {"basic_beta_likeness": {"beta": 2, "attribute": "ill"}},
    {"individual_risk": {"highest": 0.3}},
    {"sample_uniqueness": {"share": 0.1}},
    {"homogeneity": {"share": 0.2}},
]


@pytest.fixture(autouse=True)
def same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every audit is of one moment; a test file imports this."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def drawn(seed: int) -> random.Random:
    """What a sequence of questions is drawn by."""
    return random.Random(seed)  # noqa: S311 - tables to test on


def table(draw: random.Random, rows: int) -> pa.Table:
    """Cells as texts, some of them empty."""
    columns = {
        name: [None if name != "person" and draw.random() < 0.03 else draw.choice(cells) for _ in range(rows)]
        for name, cells in CELLS.items()
    }
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


def policy(draw: random.Random) -> dict[str, Any]:
    """A policy that declares all columns, with some demands."""
    attributes: dict[str, dict[str, Any]] = {
        "age": {"role": "quasi_identifier", "hierarchy": AGES},
        "place": {"role": draw.choice(["quasi_identifier", "insensitive"]), "hierarchy": PLACES},
        "sex": {"role": draw.choice(["quasi_identifier", "insensitive", "quasi_identifier"])},
        "ill": {"role": "sensitive"},
        "pay": {"role": "sensitive", "scale": "numeric"},
        "person": {"role": "insensitive"},
    }
    conventions = {
        "missing_quasi_identifier": draw.choice(["own_category", "own_category", "wildcard", "fail"]),
        "missing_sensitive": draw.choice(["excluded", "excluded", "own_category"]),
        "multiple_sensitive": draw.choice(["per_attribute", "per_attribute", "others_as_quasi_identifiers"]),
    }
    unit = {"unit": "person"} if draw.random() < 0.2 else {}
    if unit:
        conventions["known_rows"] = draw.choice(["all", "one"])
    expect = draw.sample(CHECKS, draw.randint(1, 4))
    read = {"version": 1, **unit, "attributes": attributes, "conventions": conventions, "expect": expect}
    try:
        tcdp_audit.load_policy(read, PLUGINS)
    except tcdp_audit.PolicyError:  # what conventions or the unit rule out
        return policy(draw)
    return read


def levels(draw: random.Random) -> dict[str, int]:
    """A level for some columns."""
    return {name: draw.randint(1, height) for name, height in HEIGHTS.items() if draw.random() < 0.5}


def outcomes(audit: tcdp_audit.Audit) -> str:
    """The JSON of an audit without what names the file that was read, and the digest of all of it."""
    written = json.loads(audit.render(".json"))
    return json.dumps(
        {name: part for name, part in written.items() if name not in ("release", "proof")}, sort_keys=True
    )


def masked(cells: pa.Table, chosen: dict[str, int]) -> pa.Table:
    """The table whose cells are replaced by the labels above them, in plain Python."""
    for name, level in chosen.items():
        above = _labels({"age": AGES, "place": PLACES}[name])
        column = [None if cell is None else above[cell][level] for cell in cells[name].to_pylist()]
        cells = cells.set_column(cells.column_names.index(name), name, pa.array(column, pa.string()))
    return cells


def ask(stored: Stored, folder: Path, seed: int, room: int | None = None, masked_as: Stored | None = None) -> None:
    """One sequence of questions to a session, some cancelled; each answer is that of a call on a table so masked.

    Args:
        stored: puts the release in its place.
        folder: where it may write.
        seed: what the questions are drawn by.
        room: the bytes that the session may hold.
        masked_as: puts a masked table in its place, where it costs less to read there.
    """
    draw = drawn(seed)
    cells = table(draw, draw.choice([1, 7, 40, 120]))
    policies = [policy(draw) for _ in range(3)]
    release = stored(cells, folder)
    (folder / "masked").mkdir(exist_ok=True)
    expected: dict[tuple[int, tuple[tuple[str, int], ...]], str] = {}  # by policy and levels: asked again, the same
    with tcdp_audit.open_session(release, policies[0]) as session:
        if room is not None:
            session._tables.cache.room = room
        for _ in range(QUESTIONS):
            one, chosen = draw.choice(policies), levels(draw) if draw.random() < 0.4 else {}
            view = session.levels(chosen)
            if draw.random() < 0.3:
                cancel(view, one, draw.randrange(6))
            question = (policies.index(one), tuple(chosen.items()))
            if question not in expected:
                inner = (masked_as or stored)(masked(cells, chosen), folder / "masked") if chosen else release
                expected[question] = answer(tcdp_audit.audit(inner, one, plugins=PLUGINS), chosen)
            assert answer((view if chosen else session).audit(one), chosen) == expected[question], (seed, chosen)


def answer(audit: tcdp_audit.Audit, chosen: dict[str, int]) -> str:
    """What is compared: all of an audit of the release itself, except when a database saw it."""
    if chosen:
        return outcomes(audit)
    written = json.loads(audit.render(".json"))
    if "snapshot" in written["release"].get("state", {}):
        del written["release"]["state"], written["proof"]  # the digest of all of it
    return json.dumps(written)


def cancel(session: tcdp_audit.Session, asked: Any, step: int) -> None:
    """Ask a session, and cancel at one of the steps that it reports; a short computation ends before."""
    steps = count()
    with contextlib.suppress(tcdp_audit.Cancelled):
        session.audit(asked, progress=lambda *_: session.cancel() if next(steps) == step else None)


def _labels(tree: Any, above: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    if isinstance(tree, list):
        return {leaf: (leaf, *above) for leaf in tree}
    return {leaf: path for label, inner in tree.items() for leaf, path in _labels(inner, (label, *above)).items()}
