"""A session answers as separate calls of `audit` do, whatever was asked before; one computation runs at a time."""

from __future__ import annotations

import gc
import gzip
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pyreadstat
import pytest
import session_questions as asked
from session_questions import same_moment as same_moment  # noqa: PLC0414 - a fixture

import tcdp_audit
from tcdp_audit.core.base.cache import OVERHEAD, Cache, Identity, size_of
from tcdp_audit.core.engines.base import BorrowedEngine
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import OpenTables

SEQUENCES = 50


def as_csv(table: pa.Table, folder: Path) -> Path:
    pyarrow.csv.write_csv(table, folder / "t.csv")
    return folder / "t.csv"


def as_parquet(table: pa.Table, folder: Path) -> Path:
    pq.write_table(table, folder / "t.parquet")
    return folder / "t.parquet"


def as_spss(table: pa.Table, folder: Path) -> Path:
    """A file with labels, and with a cell that it declares missing: where it tells records apart it is a value."""
    labels, missing = {"sex": {"f": "f", "m": "m"}}, {"sex": ["m"], "ill": ["none"]}
    frame = table.to_pandas().fillna("")
    pyreadstat.write_sav(frame, str(folder / "t.sav"), variable_value_labels=labels, missing_ranges=missing)
    return folder / "t.sav"


def as_frame(table: pa.Table, _: Path) -> Any:
    return table.to_pandas()


@pytest.mark.parametrize("stored", [as_csv, as_parquet, as_frame, as_spss])
@pytest.mark.parametrize("room", [None, pytest.param(40_000, marks=pytest.mark.long)])
def test_a_session_answers_as_separate_audits_do(stored: asked.Stored, room: int | None, tmp_path: Path) -> None:
    for seed in range(3):
        asked.ask(stored, tmp_path, seed, room)


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("stored", [as_csv, as_parquet, as_frame, as_spss])
def test_many_sequences_of_questions(stored: asked.Stored, part: int, tmp_path: Path) -> None:
    for seed in range(part, SEQUENCES, 5):
        asked.ask(stored, tmp_path, 1000 + seed, 20_000 if seed % 3 == 0 else None)


def test_a_level_keeps_tokens_and_missing_cells(tmp_path: Path) -> None:
    cells = pa.table({"age": ["3", "*", None, "n/a", "64"], "ill": ["a", "b", "a", "b", "a"]})
    policy = {
        "version": 1,
        "attributes": {"age": {"role": "quasi_identifier", "hierarchy": asked.AGES}, "ill": {"role": "sensitive"}},
        "conventions": {"missing_tokens": ["", "n/a"]},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    higher = cells.set_column(0, "age", pa.array(["young", "*", None, "n/a", "old"]))
    with tcdp_audit.open_session(as_csv(cells, tmp_path), policy) as session:
        (tmp_path / "higher").mkdir()
        expected = tcdp_audit.audit(as_csv(higher, tmp_path / "higher"), policy)
        view = session.levels({"age": 2})
        assert asked.outcomes(view.audit()) == asked.outcomes(expected)
        assert asked.outcomes(view.levels({"age": 0}).audit()) == asked.outcomes(session.audit())


@pytest.mark.parametrize(
    ("levels", "why"),
    [
        ({"age": 9}, "levels: the level of 'age' must be a whole number from 1 to 3"),
        ({"age": 1.5}, "levels: the level of 'age' must be a whole number from 1 to 3"),
        ({"sex": 1}, "levels: the policy declares no hierarchy of 'sex'"),
    ],
)
def test_a_level_that_there_is_not(levels: Any, why: str) -> None:
    draw = asked.drawn(1)
    with (
        tcdp_audit.open_session(asked.table(draw, 10), asked.policy(draw)) as session,
        pytest.raises(tcdp_audit.UsageError, match=why),
    ):
        session.levels(levels).audit()


def test_a_value_without_a_level() -> None:
    table = pa.table({"age": ["3", "secret"]})
    policy = {
        "version": 1,
        "attributes": {"age": {"role": "quasi_identifier", "hierarchy": asked.AGES}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    with tcdp_audit.open_session(table, policy) as session:
        with pytest.raises(tcdp_audit.DataError, match="does not have 1 of its 2 values") as caught:
            session.levels({"age": 1}).audit()
        assert "secret" not in str(caught.value)


def compressed(table: pa.Table, folder: Path) -> Path:
    (folder / "t.csv.gz").write_bytes(gzip.compress(as_csv(table, folder).read_bytes()))
    return folder / "t.csv.gz"


def in_parts(stored: asked.Stored) -> asked.Stored:
    def parts(table: pa.Table, folder: Path) -> Path:
        for number in range(2):
            (folder / "parts" / str(number)).mkdir(parents=True)
            stored(table, folder / "parts" / str(number))
        return folder / "parts"

    return parts


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def add_a_part(path: Path) -> None:
    (path.parent / f"z{path.name}").write_bytes(path.read_bytes())


STORED = [as_csv, as_parquet, as_spss, compressed, in_parts(as_csv), in_parts(as_parquet)]


@pytest.mark.parametrize("change", [append, Path.unlink, add_a_part])
@pytest.mark.parametrize("stored", STORED, ids=["csv", "parquet", "spss", "gz", "parts of csv", "parts of parquet"])
def test_a_file_that_changed_is_noticed(stored: asked.Stored, change: Any, tmp_path: Path) -> None:
    draw = asked.drawn(2)
    release = stored(asked.table(draw, 30), tmp_path)
    if change is add_a_part and release.is_file():
        return  # another file
    with tcdp_audit.open_session(release, asked.policy(draw)) as session:
        session.require_unchanged()
        change(release if release.is_file() else next(one for one in sorted(release.rglob("t.*"))))
        with pytest.raises(tcdp_audit.DataError, match="changed"):
            session.require_unchanged()
        with pytest.raises(tcdp_audit.DataError, match="changed"):
            session.fix(output=tmp_path / "out.csv")
        assert not (tmp_path / "out.csv").exists()


def test_a_stream_and_a_table_in_memory_cannot_change(tmp_path: Path) -> None:
    draw = asked.drawn(2)
    cells = asked.table(draw, 30)
    content = as_csv(cells, tmp_path).read_bytes()
    os.mkfifo(tmp_path / "stream.csv")
    with ThreadPoolExecutor(1) as thread:
        thread.submit((tmp_path / "stream.csv").write_bytes, content)
        with tcdp_audit.open_session(tmp_path / "stream.csv", asked.policy(draw)) as session:
            session.require_unchanged()
            (tmp_path / "stream.csv").unlink()
            session.audit()
            session.require_unchanged()
    with tcdp_audit.open_session(as_frame(cells, tmp_path), asked.policy(draw)) as session:
        session.require_unchanged()


def test_a_file_that_is_opened_again_for_other_codes_is_the_same(tmp_path: Path) -> None:
    cells = asked.table(asked.drawn(2), 30)
    attributes = {"sex": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}}
    policy = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}]}
    path = as_spss(cells, tmp_path)
    with tcdp_audit.open_session(path, policy) as session:
        as_spss(cells.slice(0, 20), tmp_path)
        both = {**attributes, "ill": {"role": "quasi_identifier"}}
        with pytest.raises(tcdp_audit.DataError, match="changed"):
            session.audit({**policy, "attributes": both})


def test_fix_answers_as_the_function_does(tmp_path: Path) -> None:
    draw = asked.drawn(3)
    path = as_csv(asked.table(draw, 60), tmp_path)
    policy = {**asked.policy(draw), "remedy": [{"mondrian": {}}], "conventions": {}, "expect": [asked.CHECKS[1]]}
    policy.pop("unit", None)
    with tcdp_audit.open_session(path, policy) as session:
        session.audit()
        assert session.fix().released.equals(tcdp_audit.fix(path, policy).released)
        session.fix(output=tmp_path / "out.csv")
    assert (tmp_path / "out.csv").exists()


def test_no_table_of_a_repair_remains() -> None:
    cells = asked.table(asked.drawn(3), 60).select(["age", "sex"])
    attributes = {name: {"role": "quasi_identifier"} for name in ("age", "sex")}
    policy = {"version": 1, "attributes": attributes, "remedy": [{"suppression": {}}], "expect": [asked.CHECKS[1]]}
    with tcdp_audit.open_session(cells, policy) as session:
        session.audit()
        before = session._tables.cache.count
        assert session.fix().log.steps
        assert session._tables.cache.count == before


@pytest.mark.parametrize("output", ["t.csv", "t.unknown", "nowhere/t.csv"])
def test_an_output_that_may_not_be_written(output: str, tmp_path: Path) -> None:
    draw = asked.drawn(3)
    path = as_csv(asked.table(draw, 60), tmp_path)
    before = path.read_bytes()
    policy = {**asked.policy(draw), "remedy": [{"mondrian": {}}]}
    with tcdp_audit.open_session(path, policy) as session, pytest.raises(tcdp_audit.UsageError):
        session.fix(output=tmp_path / output)
    assert path.read_bytes() == before


def test_no_policy_and_no_release() -> None:
    why = "no policy: give one to the call, or to `open_session`"
    with tcdp_audit.open_session(pa.table({"a": ["x"]})) as session, pytest.raises(tcdp_audit.UsageError, match=why):
        session.audit()
    with pytest.raises(tcdp_audit.UsageError, match="no release"):
        tcdp_audit.open_session(None, asked.policy(asked.drawn(1)))


@pytest.mark.parametrize("replace_running", [False, True])
def test_a_second_computation_waits_or_ends_the_first(*, replace_running: bool) -> None:
    draw = asked.drawn(4)
    table, policy = asked.table(draw, 50), asked.policy(draw)
    begun, go_on = Event(), Event()

    def progress(*_: object) -> None:
        begun.set()
        go_on.wait(20)

    with tcdp_audit.open_session(table, policy) as session, ThreadPoolExecutor(2) as threads:
        first = threads.submit(session.audit, progress=progress)
        assert begun.wait(20)
        second = threads.submit(session.audit, replace_running=replace_running)
        if replace_running:
            while not session._turns._running.is_requested:
                pass
        assert not second.done()
        go_on.set()
        assert second.result().render(".json") == tcdp_audit.audit(table, policy).render(".json")
        if replace_running:
            with pytest.raises(tcdp_audit.Cancelled):
                first.result()
        else:
            assert first.result().render(".json") == second.result().render(".json")


def test_a_cancelled_computation_leaves_the_session_as_it_was() -> None:
    draw = asked.drawn(5)
    table, policy = asked.table(draw, 50), asked.policy(draw)
    with tcdp_audit.open_session(table, policy) as session:
        with pytest.raises(tcdp_audit.Cancelled):
            session.audit(progress=lambda *_: session.cancel())
        session.cancel()  # nothing runs
        assert session.audit().render(".json") == tcdp_audit.audit(table, policy).render(".json")


def test_a_check_on_tables_measures_once_while_nothing_that_it_reads_differs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    measured: list[str] = []
    plugins = Plugins.load(external=False)
    suda = plugins.checks["suda"]

    def measure(view: Any, parameters: Any) -> Any:
        measured.append(",".join(view.quasi_identifiers))
        return original(view, parameters)

    original = suda.measure
    monkeypatch.setitem(vars(suda), "measure", measure)
    cells = asked.table(asked.drawn(6), 40)
    attributes = {name: {"role": "quasi_identifier"} for name in ("age", "sex")}
    policy = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}, {"suda": {}}]}
    other_role = {**policy, "attributes": {**attributes, "sex": {"role": "insensitive"}}}
    other_k = {**policy, "expect": [{"k_anonymity": {"k": 3}}, {"suda": {}}]}
    with tcdp_audit.open_session(as_csv(cells, tmp_path), policy, plugins=plugins) as session:
        for one in (policy, other_k, other_role, policy):
            answer = session.audit(one).render(".json")
            before = len(measured)
            assert answer == tcdp_audit.audit(tmp_path / "t.csv", one, plugins=plugins).render(".json")
            del measured[before:]
    assert measured == ["age,sex", "age"]


def test_companions_are_opened_once_and_when_they_are_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[str] = []
    original = OpenTables._engine

    def noting(self: OpenTables, table: Any, name: str, *rest: Any) -> Any:
        before = len(self._engines)
        engine = original(self, table, name, *rest)
        opened.extend([name] * (len(self._engines) - before))
        return engine

    monkeypatch.setattr(OpenTables, "_engine", noting)
    cells = asked.table(asked.drawn(6), 40)
    attributes = {"age": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}}
    policy = {"version": 1, "population": str(as_csv(cells, tmp_path)), "attributes": attributes}
    plain, compared = {"k_anonymity": {"k": 2}}, {"k_map": {"k": 2}}
    with tcdp_audit.open_session(cells, {**policy, "expect": [plain]}) as session:
        session.audit()
        assert opened == ["release"]
        for _ in range(2):
            session.audit({**policy, "expect": [plain, compared]})
        assert opened == ["release", "population"]


class Closing:
    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_a_cache_forgets_what_was_used_longest_ago() -> None:
    cache = Cache(3500)
    values = {name: cache.get(name, lambda: [b"x" * 800]) for name in "abc"}
    assert cache.get("a", list) is values["a"]
    cache.get("d", lambda: [b"x" * 800])
    assert (cache.get("a", list), cache.get("b", list)) == (values["a"], [])
    assert cache.size <= 3500


def test_a_borrowed_value_is_closed_when_it_is_forgotten_and_not_before() -> None:
    for room, closed in ((0, 1), (10_000, 0)):
        cache = Cache(room)
        with cache.borrow("a", Closing) as value:
            cache.clear() if room == 0 else None
            assert value.closed == 0
        assert value.closed == closed
    cache.clear()
    assert value.closed == 1


def test_what_fails_is_not_remembered() -> None:
    cache = Cache(1000)
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: 1 // 0)
    assert cache.get("a", lambda: 2) == 2


def test_keys_by_identity() -> None:
    first, second = [1], [1]
    assert Identity(first) == Identity(first) != Identity(second)
    assert len({Identity(first), Identity(first), Identity(second)}) == 2


def test_a_view_has_not_the_size_of_its_table() -> None:
    table = asked.table(asked.drawn(7), 2000)
    with tcdp_audit.open_session(table, asked.policy(asked.drawn(7))) as session:
        session.levels({"age": 1}).audit()
        views = {key: size for key, size in session._tables.cache._sizes.items() if key[0] == "levels"}
        assert [size < 5000 for size in views.values()] == [True]


def test_sizes_count_an_array_once() -> None:
    array = np.zeros(1000)
    assert 8000 <= size_of([array, array, array[:10]]) < 9000


class Proxy:
    """Represents an object elsewhere, as those of py4j do: it answers any attribute."""

    def __init__(self) -> None:
        self.client = b"x" * 10_000

    def __getattr__(self, name: str) -> object:
        return Proxy() if name in {"borrowed", "nbytes", "derived", "items"} else object()


def test_only_objects_of_known_types_are_measured() -> None:
    @dataclass(slots=True)
    class Figures:
        exact: bytes
        proxy: Proxy

    array = pa.array(range(1000))
    assert size_of(Proxy()) == size_of(pa) == size_of(print) == size_of(dict) == OVERHEAD
    assert size_of([array]) == 2 * OVERHEAD + array.nbytes
    assert size_of(Figures(b"x" * 1000, Proxy())) == 3 * OVERHEAD + 1000
    assert 8000 <= size_of(MappingProxyType({"a": np.zeros(1000)})) < 9000


def test_a_class_derived_from_one_of_the_project_is_measured_without_what_it_borrows() -> None:
    class Mapped(BorrowedEngine):
        def __init__(self, lender: Any) -> None:
            super().__init__(lender)
            self.codes = np.zeros(1000)

    places = {"name": "the table", "uri": None, "path": None, "ordered": True, "most": None, "translation": None}
    text = {
        "text_form": None,
        "encoding": "",
        "encoding_is_detected": False,
        "further_content": None,
        "version": None,
        "snapshot": "",
        "hashes_content": False,
    }
    lender = Mapped(SimpleNamespace(**places, **text))
    assert 8000 <= size_of(Mapped(lender)) < 9000


def test_a_value_that_represents_another_object_is_stored() -> None:
    cache, made = Cache(1000), Proxy()
    with cache.borrow("a", lambda: made) as value:
        assert value is made
        assert cache.size == OVERHEAD
    cache.clear()
    assert cache.count == cache.size == 0


@pytest.mark.long
def test_a_session_holds_no_more_than_its_room(tmp_path: Path) -> None:
    draw = asked.drawn(7)
    release = as_parquet(asked.table(draw, 400), tmp_path)
    counts: list[int] = []
    with tcdp_audit.open_session(release, asked.policy(draw)) as session:
        cache = session._tables.cache
        cache.room = 2**20
        for number in range(400):
            view, policy = session.levels(asked.levels(draw)), asked.policy(draw)
            asked.cancel(view, policy, draw.randrange(6)) if draw.random() < 0.2 else view.audit(policy)
            assert cache.size <= cache.room
            if number % 100 == 99:
                gc.collect()
                counts.append(len(gc.get_objects()))
        assert len(session._tables._engines) == 1
        assert sum(map(size_of, cache._values.values())) <= 1.1 * cache.room  # nothing grew after it was weighed
    assert cache.count == cache.size == 0
    assert counts[-1] < 1.1 * counts[0]
