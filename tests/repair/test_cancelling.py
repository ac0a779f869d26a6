"""A session ends what it computes when another thread asks for it, leaves nothing, and answers on as before."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Event, Thread, Timer
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import tcdp_audit
from tcdp_audit import Cancelled, Session, UsageError, open_session
from tcdp_audit.core.base import cancellation
from tcdp_audit.core.base.cancellation import Cancellation, ThreadPool, cancellable, checkpoint, interruptible
from tcdp_audit.core.session.registry import Plugins

BUILT_IN = Plugins.load(external=False)
RECORDS = 12_000
REMEDIES: dict[str, dict[str, Any]] = {
    "mondrian": {},
    "microaggregation": {"k": 5},
    "redistribution": {},
    "suppression": {"of": "cells"},
    "rank_swapping": {"percent": 10},
    "pram": {"retention": 0.8, "invariant": True},
}


def people(records: int = RECORDS) -> pa.Table:
    random = np.random.default_rng(3)
    columns = {
        "age": random.integers(0, 95, records),
        "zip": [f"z{one}" for one in random.integers(0, 60, records)],
        "sex": random.choice(["f", "m"], records),
        "stay": random.integers(0, 40, records),
    }
    return pa.table(columns)


def policy(remedy: str | None = None) -> dict[str, Any]:
    attributes: dict[str, Any] = {name: {"role": "quasi_identifier"} for name in ("age", "zip", "sex")}
    attributes["age"]["scale"] = attributes.setdefault("stay", {"role": "sensitive"})["scale"] = "numeric"
    remedies = {} if remedy is None else {"remedy": [{remedy: REMEDIES[remedy]}]}
    expect = [{"k_anonymity": {"k": 5}}, {"t_closeness": {"t": 0.5, "attribute": "stay"}}]
    return {"version": 1, "attributes": attributes, "expect": expect, **remedies}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cancelling")
    pyarrow.csv.write_csv(people(), folder / "people.csv")
    pyarrow.parquet.write_table(people(), folder / "people.parquet")
    return folder


def answer(audit: Any) -> str:
    result = audit.as_json()
    return json.dumps(
        {name: value for name, value in result.items() if name not in ("audited_at", "run", "made_at", "proof")}
    )


@pytest.fixture(scope="module")
def expected(folder: Path) -> dict[str, str]:
    files = ("people.csv", "people.parquet")
    return {name: answer(tcdp_audit.audit(folder / name, policy(), plugins=BUILT_IN)) for name in files}


def cancelled_at(session: Session, compute: Callable[[], object], seconds: float) -> bool:
    """Whether a computation that is cancelled after some seconds says so; otherwise it had ended before."""
    outcome: list[bool] = []

    def run() -> None:
        try:
            compute()
        except Cancelled:
            outcome.append(True)
        else:
            outcome.append(False)

    thread = Thread(target=run)
    thread.start()
    thread.join(seconds)
    alive = thread.is_alive()
    session.cancel()
    thread.join(60)
    assert not thread.is_alive()
    assert alive or not outcome[0]
    return outcome[0]


def many_times(session: Session, compute: Callable[[], object], times: int, longest: float) -> int:
    """How many of some computations were cancelled, each at a random moment; shorter ones where they had ended."""
    random, count = Random(2), 0  # noqa: S311 - moments
    for _ in range(times):
        was_cancelled = cancelled_at(session, compute, random.uniform(0, longest))
        count += was_cancelled
        longest = longest if was_cancelled else longest / 2
    return count


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_an_audit_ends_and_the_next_one_is_right(
    name: str, folder: Path, temporary: Path, expected: dict[str, str]
) -> None:
    with open_session(folder / name, policy(), plugins=BUILT_IN) as session:
        assert many_times(session, lambda: session.audit(column_risks=True), 20, 0.2)
        assert answer(session.audit()) == expected[name]
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("remedy", [*REMEDIES, None])
def test_a_repair_ends_and_writes_nothing(
    remedy: str | None, folder: Path, temporary: Path, tmp_path: Path, expected: dict[str, str]
) -> None:
    output = tmp_path / "released.csv"
    with open_session(folder / "people.csv", policy(remedy), plugins=BUILT_IN) as session:
        open_folders = set(temporary.iterdir())
        assert many_times(session, lambda: _fixed_until_cancelled(session, output), 4, 1.0)
        assert set(temporary.iterdir()) <= open_folders
        assert [one.name for one in tmp_path.iterdir()] == ["temporary"]
        assert answer(session.audit(policy())) == expected["people.csv"]
    assert list(temporary.iterdir()) == []


def _fixed_until_cancelled(session: Session, output: Path) -> None:
    try:
        session.fix(output=output)
    except Cancelled:
        assert not output.exists()
        raise
    output.unlink(missing_ok=True)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_frontier_ends(workers: int, folder: Path, temporary: Path, expected: dict[str, str]) -> None:
    with open_session(folder / "people.csv", policy("mondrian"), plugins=BUILT_IN) as session:
        assert many_times(session, lambda: session.frontier(workers=workers), 4, 3.0)
        assert answer(session.audit(policy())) == expected["people.csv"]
    assert list(temporary.iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize("ask", [Session.audit, Session.fix, Session.frontier])
def test_ten_requests_in_a_row(
    ask: Callable[[Session], object], folder: Path, temporary: Path, expected: dict[str, str]
) -> None:
    with open_session(folder / "people.csv", policy(), plugins=BUILT_IN) as session:
        open_folders = set(temporary.iterdir())
        cancelled = 0
        for number in range(10):
            session._tables.cache.clear()  # so that each has to read and count again
            cancelled += many_times(
                session, lambda: ask(session), 1, (0.004 if ask is Session.audit else 0.15) * number
            )
            assert set(temporary.iterdir()) <= open_folders
            assert answer(session.audit()) == expected["people.csv"]
        assert cancelled
    assert list(temporary.iterdir()) == []


def test_a_frontier_ends_in_the_middle_of_its_trials(temporary: Path) -> None:
    with open_session(people(60), policy("mondrian"), plugins=BUILT_IN) as session:
        seen: list[int] = []

        def stop(_: object, front: Any) -> None:
            seen.append(len(front))
            session.cancel()

        with pytest.raises(Cancelled):
            session.frontier(vary={"k_anonymity": [3, 4]}, on_trial=stop)
        assert len(seen) == 1
        assert session.frontier(vary={"k_anonymity": [3]}).points
    assert list(temporary.iterdir()) == []


def test_one_computation_waits_for_another_or_replaces_it() -> None:
    entered, go_on = Event(), Event()

    def hold(*_: object) -> None:
        entered.set()
        go_on.wait(60)

    with open_session(people(500), policy(), plugins=BUILT_IN) as session, ThreadPoolExecutor(3) as pool:
        first = pool.submit(session.audit, progress=hold)
        assert entered.wait(60)
        second = pool.submit(session.audit)
        assert not second.done()
        go_on.set()
        assert answer(first.result(60)) == answer(second.result(60))
        go_on.clear()
        entered.clear()
        other = {**policy(), "expect": [{"k_anonymity": {"k": 7}}]}
        first = pool.submit(session.audit, other, progress=hold)
        assert entered.wait(60)
        second = pool.submit(session.audit, replace_running=True)
        while not session._turns._running.is_requested:  # type: ignore[union-attr]
            pass
        go_on.set()
        with pytest.raises(Cancelled):
            first.result(60)
        assert second.result(60).outcomes


def test_threads_of_a_pool_end_with_their_computation() -> None:
    requested = Cancellation()

    def work() -> None:
        while True:
            checkpoint()
            requested.request()

    def wait() -> None:
        with cancellable(requested), ThreadPool(2) as pool:
            first, *_ = [pool.submit(work) for _ in range(4)]
            cancellation.result_of(first)

    with pytest.raises(Cancelled):
        wait()


def test_a_query_is_interrupted_and_its_connection_goes_on() -> None:
    import duckdb

    connection, requested = duckdb.connect(), Cancellation()
    Timer(0.2, requested.request).start()
    with pytest.raises(Cancelled), cancellable(requested), interruptible(connection.interrupt):
        connection.execute("SELECT sum(a.range * b.range % 7) FROM range(10000000) a, range(100000) b").fetchall()
    assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_the_end_of_an_outer_computation_ends_the_inner_one() -> None:
    outer = Cancellation()

    def endless() -> None:
        with cancellable(outer), cancellable(Cancellation()):
            while True:
                checkpoint()
                outer.request()

    with pytest.raises(Cancelled):
        endless()


def test_one_record_is_shown_before_and_after_where_values_may_be() -> None:
    table = people(200)
    with open_session(table, policy("suppression"), plugins=BUILT_IN) as session:
        with pytest.raises(UsageError, match="opened with `show_values=True`"):
            session.fix().example(0)
        with pytest.raises(UsageError, match="opened with `show_values=True`"):
            session.frontier(examples=[0])
    with open_session(table, policy("suppression"), plugins=BUILT_IN, show_values=True) as session:
        fixed = session.fix(keep_order=True)
        for record in (0, 7, 199):
            example = fixed.example(record)
            assert example.before == table.slice(record, 1).to_pylist()[0]
            assert example.after == fixed.released.slice(record, 1).to_pylist()[0]
        with pytest.raises(UsageError, match="there is no record 200"):
            fixed.example(200)
        with pytest.raises(UsageError, match="there is no record 200"):
            session.frontier(examples=[200])
        front = session.frontier(vary={"k_anonymity": [3]}, examples=[7])
        assert {one.example(7).before["age"] for one in front.trials} == {table["age"][7].as_py()}
        assert "examples" not in json.dumps(front.as_json())
        with pytest.raises(UsageError, match="record 8 was not kept"):
            front.trials[0].example(8)


def test_a_frontier_of_a_session_is_that_of_its_release() -> None:
    with open_session(people(60), policy("mondrian"), plugins=BUILT_IN) as session:
        asked = session.frontier(vary={"k_anonymity": [3]})
        with pytest.raises(UsageError, match="are those of the session"):
            tcdp_audit.frontier(session, memory=2**30)
    alone = tcdp_audit.frontier(people(60), policy("mondrian"), vary={"k_anonymity": [3]}, plugins=BUILT_IN)
    assert answer(asked) == answer(alone)


def test_a_session_writes_over_no_file_that_it_reads(folder: Path) -> None:
    with (
        open_session(folder / "people.csv", policy("mondrian"), plugins=BUILT_IN) as session,
        pytest.raises(UsageError, match="must be a file of its own"),
    ):
        session.fix(output=folder / "people.csv")
