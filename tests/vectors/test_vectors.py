"""The test vectors: their form, who confirms them, and that the auditor answers every one of them."""

from __future__ import annotations

import ast
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tcdp_audit import audit
from tcdp_audit.core.session.registry import Plugins
from vectors import confirm
from vectors.adapters import RefusesError, Reply, tcdp_audit as adapter, verifier
from vectors.make import write
from vectors.reading import CASES, Vector, load
from vectors.reference.answers import threshold_of
from vectors.run import judged

VECTORS = load()
PLUGINS = Plugins.load(external=False)


def test_there_are_hundreds_and_at_most_forty_a_measure() -> None:
    assert len(VECTORS) >= 500
    assert max(Counter(one.measure for one in VECTORS).values()) <= 40
    assert len({one.id for one in VECTORS}) == len(VECTORS)


def test_every_vector_is_whole_and_catches_a_mistake() -> None:
    for one in VECTORS:
        assert one.path.is_file(), one.id
        assert one.licence == "CC0-1.0"
        assert one.source
        assert one.catches["sentence"]
        wrong = (one.catches["answer"], one.catches.get("verdict", ""))
        assert wrong != (one.answer, one.verdict), f"{one.id} does not tell its mistake from the answer"
        assert bool(one.verdict) == (threshold_of(one.measure)[0] in one.parameters or one.answer == "undefined"), (
            one.id
        )


def test_answers_are_fractions_or_narrow_intervals() -> None:
    for one in VECTORS:
        if isinstance(one.answer, str):
            assert one.answer in {"infinite", "undefined"} or str(Fraction(one.answer)) == one.answer, one.id
        else:
            width = Fraction(one.answer["high"]) - Fraction(one.answer["low"])
            assert width == Fraction(1, 10**12), one.id


def test_conventions_are_those_that_differ_from_the_defaults() -> None:
    defaults = {
        "missing_quasi_identifier": "own_category",
        "missing_sensitive": "excluded",
        "suppressed": "counted",
        "multiple_sensitive": "per_attribute",
        "reference": "release",
        "known_rows": "all",
    }
    for one in VECTORS:
        assert not [name for name, chosen in one.conventions.items() if defaults.get(name) == chosen], one.id


def test_every_vector_is_confirmed_twice_apart_from_the_auditor() -> None:
    stored = json.loads(confirm.STORED.read_text(encoding="utf-8"))
    for one in VECTORS:
        by = [name for name, ids in stored.items() if one.id in ids]
        assert one.confirmed_by == by, one.id
        assert {confirm.FRACTIONS, confirm.R} <= {*by}, one.id


def test_the_reference_and_the_confirmations_do_not_know_the_auditor() -> None:
    for path in [*(CASES.parent / "reference").glob("*.py"), CASES.parent / "reading.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.startswith("tcdp_audit")], path.name


def test_fractions_give_every_answer() -> None:
    assert confirm.by_fractions(VECTORS) == [one.id for one in VECTORS]


@pytest.mark.long
def test_r_gives_every_answer(skip_or_fail: Callable[[str], None]) -> None:
    if confirm.R not in confirm.available():
        skip_or_fail("R with jsonlite is not installed")
    assert confirm.by_r(VECTORS) == [one.id for one in VECTORS]


@pytest.mark.long
def test_the_verifier_gives_every_answer_of_its_scope(skip_or_fail: Callable[[str], None]) -> None:
    if confirm.JAVASCRIPT not in confirm.available():
        skip_or_fail("Node, or the verifier, is not here")
    stored = json.loads(confirm.STORED.read_text(encoding="utf-8"))[confirm.JAVASCRIPT]
    assert len(stored) >= 440
    assert confirm.by_javascript(VECTORS) == stored
    replies = [(one, reply) for one, reply in verifier.answers(VECTORS) if isinstance(reply, Reply)]
    assert {judged(one, reply, "").status for one, reply in replies} == {"right"}


@pytest.mark.long
def test_the_files_are_those_that_the_generator_writes(tmp_path: Path) -> None:
    write.main(tmp_path / "cases")
    files = {path.relative_to(CASES): path.read_bytes() for path in CASES.rglob("*") if path.is_file()}
    written = tmp_path / "cases"
    assert {path.relative_to(written): path.read_bytes() for path in written.rglob("*") if path.is_file()} == files


def _asked_together() -> list[list[Vector]]:
    """Vectors of one table, of one policy but for what it expects."""
    groups: dict[str, list[Vector]] = defaultdict(list)
    for one in VECTORS:
        if "attributes" in one.declared:
            groups[json.dumps([str(one.path), one.declared, one.conventions])].append(one)
    return list(groups.values())


@pytest.mark.parametrize("part", [0, *(pytest.param(i, marks=pytest.mark.long) for i in range(1, 4))])
def test_the_auditor_gives_every_answer_on_records(part: int) -> None:
    for vectors in _asked_together()[part::4]:
        first = vectors[0]
        tables = {
            name: first.folder / first.declared[name]["table"] for name in adapter.COMPANIONS if name in first.declared
        }
        policy = {**adapter.policy(first), "expect": [adapter.expectation(one) for one in vectors]}
        if first.answer == "undefined" and first.table.endswith("no_record.csv"):
            assert all(_answer(one) == "right" for one in vectors)
            continue
        outcomes = audit(first.path, policy, **tables, plugins=PLUGINS).expectations
        for one, outcome in zip(vectors, outcomes, strict=True):
            try:
                reply = adapter.reply(one, outcome)
            except RefusesError:
                assert one.answer == "undefined", one.id
            else:
                assert judged(one, reply, "").status == "right", one.id
                assert reply.verdict == one.verdict, one.id


def test_the_auditor_answers_questions_on_cells() -> None:
    cells = [one for one in VECTORS if "attributes" not in one.declared]
    assert len(cells) >= 40
    assert {_answer(one) for one in cells[::5]} == {"right"}


@pytest.mark.long
def test_the_auditor_gives_every_answer_when_asked_one_by_one() -> None:
    assert [one.id for one in VECTORS if _answer(one) != "right"] == []


def _answer(vector: Vector) -> str:
    try:
        return judged(vector, adapter.answer(vector), "").status
    except RefusesError as error:
        return judged(vector, error, "").status
