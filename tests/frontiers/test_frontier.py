"""The frontier of a small release: no worse than `fix`, and every point comes again from its lines."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from multiprocessing import Pipe
from pathlib import Path
from time import sleep
from typing import Any

import pyarrow.csv
import pytest
import yaml
from frontier_samples import BUILT_IN, POLICY, release

import tcdp_audit
from tcdp_audit.core.base.errors import DataError, UsageError
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.release import release as release_module
from tcdp_audit.core.results.frontier import Frontier
from tcdp_audit.core.session import inputs, tables
from tcdp_audit.frontiers import workers
from tcdp_audit.frontiers.trial import Repairs, kind_of
from tcdp_audit.frontiers.varied import Variation
from tcdp_audit.frontiers.workers import Blueprint, ProcessPool, serve

VARY = {"k_anonymity": [6], "t_closeness": ["0.5"]}
REMEDIED = {**POLICY, "remedy": [{"mondrian": {}}]}  # one remedy, so that a trial is short


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frontier")
    pyarrow.csv.write_csv(release(), folder / "release.csv")
    (folder / "p.tcdp.yaml").write_text(yaml.safe_dump({**POLICY, "release": "release.csv"}), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def detected(folder: Path) -> Frontier:
    return tcdp_audit.frontier(folder / "release.csv", POLICY, vary=VARY, plugins=BUILT_IN, resume=folder / "state")


def without_time(detected: Frontier) -> dict[str, Any]:
    return {name: value for name, value in detected.as_json().items() if name not in ("made_at", "run")}


def test_it_is_never_worse_than_fix(detected: Frontier, folder: Path):
    fixed = tcdp_audit.fix(folder / "release.csv", POLICY, plugins=BUILT_IN, output=folder / "fixed.csv")
    least, own = detected.least(detected.own), detected.trials[0]
    assert fixed.passed
    assert least is not None
    assert least.total_loss <= float(fixed.log.loss["total"]) == own.total_loss
    assert own.setting == detected.own
    assert own.sha256 == hashlib.sha256((folder / "fixed.csv").read_bytes()).hexdigest()


@pytest.mark.long
def test_every_point_comes_again_from_its_lines(detected: Frontier, folder: Path):
    assert len(detected.points) > 1
    for place, point in enumerate(detected.points):
        output = folder / f"{place}.csv"
        policy = {**POLICY, **yaml.safe_load(point.lines)}
        fixed = tcdp_audit.fix(folder / "release.csv", policy, plugins=BUILT_IN, output=output)
        assert fixed.passed
        assert hashlib.sha256(output.read_bytes()).hexdigest() == point.sha256


def test_a_finished_run_is_read_and_not_repeated(detected: Frontier, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Repairs, "tried", None)
    again = tcdp_audit.frontier(folder / "release.csv", POLICY, vary=VARY, plugins=BUILT_IN, resume=folder / "state")
    assert without_time(again) == without_time(detected)


def test_no_setting_opens_the_release_or_encodes_a_column_of_it_again(folder: Path, monkeypatch: pytest.MonkeyPatch):
    opened, encoded = list[tuple[str, Any]](), list[tuple[str, Any]]()
    open_table, domain_of, open_written = tables.open_table, release_module.domain_of, inputs.open_any

    def record_opened(table: Any, *further: Any) -> Any:
        engine = open_table(table, *further)
        opened.append((str(table), engine))
        return engine

    def record_written(table: Any, *further: Any) -> Any:
        engine = open_written(table, *further)
        opened.append((str(table), engine))
        return engine

    def record_encoded(attribute: str, raw: Any, *further: Any) -> Any:
        encoded.append((attribute, raw))
        return domain_of(attribute, raw, *further)

    monkeypatch.setattr(tables, "open_table", record_opened)
    monkeypatch.setattr(inputs, "open_any", record_written)
    monkeypatch.setattr(release_module, "domain_of", record_encoded)
    made = tcdp_audit.frontier(folder / "release.csv", POLICY, vary=VARY, plugins=BUILT_IN)

    assert len(made.trials) > 1
    [engine] = [engine for path, engine in opened if path == str(folder / "release.csv")]
    files = [path for path, _ in opened if path.endswith(".csv")]
    # of each setting one record is written first, to test that it can be read, and then the release
    assert len(files) == len(set(files)) == 1 + 2 * len(made.trials)
    assert sorted(name for name, raw in encoded if raw is engine.domain(name)) == ["age", "illness", "sex"]
    assert len(encoded) > 3  # those of the written releases


def test_what_is_retained_for_the_next_run_has_no_cell(detected: Frontier, folder: Path):
    assert detected.is_complete
    retained = json.loads((folder / "state").read_text(encoding="utf-8"))
    assert set(retained) == {"frontier", "key", "sha256", "trials"}
    trials = json.dumps(retained["trials"])
    assert "0.5" in trials
    assert not [cell for cell in ('"f"', '"m"', '"a"', '"b"', '"c"') if cell in trials]


def test_no_file_is_left(detected: Frontier, folder: Path):
    assert detected.points
    assert not list(folder.glob(".tcdp*"))


def test_a_call_that_cannot_work_is_reported(folder: Path):
    calls: list[tuple[dict[str, Any], str]] = [
        ({"budget": 0}, "budget: must be a positive number"),
        ({"workers": 0}, "workers: must be a whole number"),
        ({"resume": folder / "release.csv"}, "must be a file of its own"),
        ({"resume": folder / "state2", "vary": {}}, "names no demand"),
    ]
    for given, sentence in calls:
        with pytest.raises(UsageError, match=sentence):
            tcdp_audit.frontier(folder / "release.csv", POLICY, plugins=BUILT_IN, **given)


def repairs(folder: Path, given: Any = None, policy: Any = REMEDIED, sha256: str | None = None) -> Repairs:
    variation = Variation.asked(read_policy(policy, BUILT_IN), VARY)
    table = folder / "release.csv"
    digest = sha256 or hashlib.sha256(table.read_bytes()).hexdigest()
    session = tcdp_audit.open_session(table if given is None else given, plugins=BUILT_IN, memory=2**30)
    return Repairs(session, variation, digest)


def test_other_processes_are_given_no_tables_plugins_or_policies_of_this_one(folder: Path):
    with pytest.raises(UsageError, match="release is a table in memory"):
        Blueprint.of(repairs(folder, release()), REMEDIED, 2**30)
    own = repairs(folder)
    with pytest.raises(UsageError, match="policy was made by this program"):
        Blueprint.of(own, own.variation.policy, 2**30)


@pytest.mark.long
def test_another_process_finds_the_same(folder: Path):
    own = repairs(folder)
    here, there = Pipe()
    task = (own.variation.own, False)
    here.send((task, {}))
    here.close()
    near, far = Pipe()
    far.send((task, {}))
    near_side = Recorder(near)
    far.close()
    serve(near_side, Blueprint.of(own, REMEDIED, 2**30))  # type: ignore[arg-type]
    there.close()
    assert near_side.sent == [own.tried(task, {})]


class Recorder:
    """A connection whose answers stay here."""

    def __init__(self, connection: Any) -> None:
        self.connection, self.sent = connection, list[Any]()

    def recv(self) -> Any:
        return self.connection.recv()

    def send(self, report: Any) -> None:
        self.sent.append(report)


def test_another_process_reports_errors_and_defects_without_their_texts(folder: Path, monkeypatch: pytest.MonkeyPatch):
    changed = Blueprint.of(repairs(folder, sha256="0" * 64), REMEDIED, 2**30)
    near, far = Pipe()
    for _ in range(2):
        far.send(((repairs(folder).variation.own, False), {}))
    far.close()
    recorder = Recorder(near)
    defects = [True, False]

    def tried(*_: Any) -> Any:
        if defects.pop():
            raise ValueError("a cell")
        raise DataError("the release has changed")

    monkeypatch.setattr(workers.Repairs, "tried", tried)
    serve(recorder, changed)  # type: ignore[arg-type]
    assert [type(one) for one in recorder.sent] == [DataError, str]
    assert recorder.sent[1].startswith("ValueError in test_frontier.py:")
    assert "a cell" not in recorder.sent[1]


def test_another_process_ends_quietly_where_no_one_waits(folder: Path, monkeypatch: pytest.MonkeyPatch):
    near, far = Pipe()
    far.send(((repairs(folder).variation.own, False), {}))
    far.close()
    monkeypatch.setattr(workers.Repairs, "tried", lambda *_: None)
    serve(near, Blueprint.of(repairs(folder), REMEDIED, 2**30))
    assert not near.closed


def test_a_policy_or_a_release_that_changed_is_an_error(folder: Path):
    with pytest.raises(DataError, match="the release has changed"):
        repairs(folder, sha256="0" * 64).tried((repairs(folder).variation.own, False), {})
    blueprint = Blueprint.of(repairs(folder), POLICY, 2**30)  # another one than that of the repairs
    with pytest.raises(DataError, match="the policy has changed"):
        blueprint.repairs()


def test_tables_of_pandas_are_repaired_too():
    people = release(20).to_pandas()
    one = Variation.asked(read_policy(REMEDIED, BUILT_IN), {"k_anonymity": [3]})
    digest = tcdp_audit.audit(people, REMEDIED, plugins=BUILT_IN).release.sha256
    with tcdp_audit.open_session(people, plugins=BUILT_IN) as session:
        assert Repairs(session, one, digest).tried((one.own, False), {}).passed


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.csv", ".csv"), ("a.CSV.gz", ".csv.gz"), ("a.parquet", ".parquet"), ("a.sav", ".parquet"), ("a", ".parquet")],
)
def test_the_kind_of_file(name: str, kind: str):
    assert kind_of(name) == kind_of(Path(name)) == kind
    assert kind_of(release(3)) == kind_of("sqlite://x?table=a.csv") == ".parquet"


@pytest.mark.long
def test_several_processes_find_what_one_does(detected: Frontier, folder: Path):
    together = tcdp_audit.frontier(folder / "release.csv", POLICY, vary=VARY, plugins=BUILT_IN, workers=2)
    assert without_time(together) == without_time(detected)


@pytest.mark.long
def test_a_process_that_ends_is_reported_and_leaves_no_one(folder: Path):
    with ProcessPool(Blueprint.of(repairs(folder), REMEDIED, 2**30), 2) as workers:
        workers.begin((repairs(folder).variation.own, False), {})
        (process,) = workers._processes.values()
        process.kill()
        with pytest.raises(DataError, match="has ended"):
            workers.finished()
    assert not process.is_alive()


@pytest.mark.long
def test_an_interrupted_command_says_so_and_leaves_nothing(folder: Path, tmp_path: Path):
    call = [sys.executable, "-m", "tcdp_audit", "frontier", "--policy", "p.tcdp.yaml", "--workers", "2"]
    call += ["--vary", "k_anonymity=3..12", "--vary", "t_closeness=0.2..0.5", "--resume", "interrupted"]
    place = {**os.environ, "TMPDIR": str(tmp_path)}
    running = subprocess.Popen(
        call, cwd=folder, env=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    while running.poll() is None and not (folder / "interrupted").exists():
        sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, b"")
    assert err.strip() == b"tcdp-audit: interrupted; written: interrupted"
    assert list(tmp_path.glob("tcdp-audit-*")) == []


@pytest.mark.long
def test_a_killed_command_goes_on_where_it_was(folder: Path):
    call = [sys.executable, "-m", "tcdp_audit", "frontier", "--policy", "p.tcdp.yaml", "--workers", "1", "--json"]
    call += ["--vary", "k_anonymity=3,6", "--vary", "t_closeness=0.5", "--resume", "killed"]
    first = subprocess.Popen([*call, "--quiet"], cwd=folder, stdout=subprocess.DEVNULL)
    while first.poll() is None and not (folder / "killed").exists():
        sleep(0.05)
    first.kill()
    first.wait()
    ended = subprocess.run(call, cwd=folder, capture_output=True, check=True)
    whole = subprocess.run([*call[:-1], "whole"], cwd=folder, capture_output=True, check=True)
    results = [json.loads(one.stdout) for one in (ended, whole)]
    for one in results:
        del one["made_at"], one["run"]
    assert results[0] == results[1]
