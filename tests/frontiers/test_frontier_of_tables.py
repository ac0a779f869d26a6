"""The frontier of several linked tables: folders that come again from their lines, without an orphan or a pseudonym."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
import yaml
from frontier_samples import BUILT_IN

import tcdp_audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import DataError, PolicyError, UsageError
from tcdp_audit.core.results.frontier import Frontier
from tcdp_audit.frontiers.trial import Repairs
from tcdp_audit.frontiers.varied import Variation
from tcdp_audit.frontiers.workers import Blueprint
from tcdp_audit_reports.html_report import render_frontier as html
from tcdp_audit_reports.markdown_report import render_frontier as markdown

KNOWN = {"role": "quasi_identifier", "scale": "nominal"}
POLICY: dict[str, Any] = {
    "version": 1,
    "unit": "patient",
    "tables": {
        "patients": {"file": "patients.csv", "attributes": {"sex": KNOWN}},
        "visits": {
            "file": "visits.csv",
            "belongs_to": "patients",
            "time": "month",
            "attributes": {"month": {"role": "quasi_identifier"}},
        },
        "drugs": {"file": "drugs.csv", "belongs_to": "visits", "by": "visit", "attributes": {"drug": KNOWN}},
    },
    "expect": [{"k_anonymity": {"k": 2}}],
    "remedy": [{"coarsen_time": {"table": "visits", "to": "year"}}, {"suppress_units": {}}],
}
VARY = {"k_anonymity": [4]}
PSEUDONYM = re.compile(r"\b[uv]-\d+")


def tables_of(seed: int, patients: int = 24) -> dict[str, pa.Table]:
    """Patients, visits and drugs, at random; pseudonyms look like nothing else."""
    draw = random.Random(seed)  # noqa: S311 - a generated table
    people = [(f"u-{draw.randrange(10**6)}{one:02}", draw.choice("fm")) for one in range(patients)]
    visits, drugs = [], []
    for person, _ in people:
        for _ in range(draw.choice([0, 1, 1, 2])):
            visit = f"v-{draw.randrange(10**6)}{len(visits):02}"
            visits.append((person, visit, f"2024-{draw.choice([1, 2, 7]):02}"))
            drugs += [(visit, draw.choice("AAB")) for _ in range(draw.choice([0, 0, 1]))]
    every: dict[str, tuple[tuple[str, ...], list[Any]]] = {
        "patients": (("patient", "sex"), people),
        "visits": (("patient", "visit", "month"), visits),
        "drugs": (("visit", "drug"), drugs),
    }
    return {
        name: pa.table({column: pa.array([row[at] for row in rows], pa.string()) for at, column in enumerate(columns)})
        for name, (columns, rows) in every.items()
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frontier")
    for name, table in tables_of(3).items():
        pyarrow.csv.write_csv(table, folder / f"{name}.csv", pyarrow.csv.WriteOptions(quoting_style="needed"))
    (folder / "p.tcdp.yaml").write_text(json.dumps(POLICY), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def explored(folder: Path) -> Frontier:
    return tcdp_audit.frontier(folder, folder / "p.tcdp.yaml", vary=VARY, plugins=BUILT_IN, resume=folder / "state")


def without_time(explored: Frontier) -> dict[str, Any]:
    return {name: value for name, value in explored.as_json().items() if name not in ("made_at", "run")}


def test_it_is_never_worse_than_fix_and_says_what_an_intruder_finds(explored: Frontier, folder: Path) -> None:
    fixed = tcdp_audit.fix(folder, folder / "p.tcdp.yaml", plugins=BUILT_IN, output=folder / "fixed")
    own, least = explored.trials[0], explored.least(explored.own)
    assert fixed.passed
    assert least is not None
    assert least.total_loss <= own.total_loss == fixed.log.loss["total"]
    assert own.sha256 == fixed.after.release.sha256
    (linked,) = [one.details for one in fixed.after.outcomes if one.check == "linked_rows"]
    assert own.reidentified == linked["whole_histories"]["classes"] / linked["units"]
    assert own.suppressed == own.loss["records_suppressed"] == fixed.log.suppressed


def test_every_point_is_a_folder_that_comes_again_from_its_lines(explored: Frontier, folder: Path) -> None:
    before = {cell for path in folder.glob("*.csv") for cell in PSEUDONYM.findall(path.read_text(encoding="utf-8"))}
    assert before
    assert explored.points
    for place, point in enumerate(explored.points):
        policy = {**POLICY, **yaml.safe_load(point.lines)}
        output = folder / f"point{place}"
        assert tcdp_audit.fix(folder, policy, plugins=BUILT_IN, output=output).passed
        audit = tcdp_audit.audit(output, policy, plugins=BUILT_IN)
        assert audit.passed
        assert audit.release.sha256 == point.sha256
        assert [one.observed for one in audit.expectations] == [*point.figures[0]]
        written = {path.name: path.read_text(encoding="utf-8") for path in output.iterdir()}
        assert written.keys() == {"patients.csv", "visits.csv", "drugs.csv"}
        assert not [one for text in written.values() for one in PSEUDONYM.findall(text) if one in before]
        assert without_orphans({name: pyarrow.csv.read_csv(output / f"{name}.csv") for name in POLICY["tables"]})


def without_orphans(tables: Mapping[str, pa.Table]) -> bool:
    links = (("visits", "patients", "patient"), ("drugs", "visits", "visit"))
    return all({*tables[child][by].to_pylist()} <= {*tables[parent][by].to_pylist()} for child, parent, by in links)


def test_a_finished_run_is_read_and_belongs_to_these_tables(
    explored: Frontier, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (folder / "state").read_text(encoding="utf-8")
    assert not PSEUDONYM.findall(text)
    monkeypatch.setattr(Repairs, "tried", None)
    with tcdp_audit.open_session(folder, folder / "p.tcdp.yaml", plugins=BUILT_IN) as session:
        assert without_time(session.frontier(vary=VARY, resume=folder / "state")) == without_time(explored)
    others = {**tables_of(3), "drugs": tables_of(4)["drugs"].slice(0, 0)}
    with pytest.raises(UsageError, match="belongs to another release"):
        tcdp_audit.frontier(others, folder / "p.tcdp.yaml", vary=VARY, plugins=BUILT_IN, resume=folder / "state")


def test_tables_in_memory_are_explored_in_one_process(explored: Frontier, folder: Path) -> None:
    tables = {name: pyarrow.csv.read_csv(folder / f"{name}.csv") for name in POLICY["tables"]}
    with tcdp_audit.open_session(tables, POLICY, plugins=BUILT_IN) as session:
        again = session.frontier(vary=VARY)
        variation = Variation.asked(session.policy, VARY)
        with pytest.raises(UsageError, match="the table 'patients' is a table in memory; several workers"):
            Blueprint.of(Repairs(session, variation, None), POLICY, 2**30)
    assert [(one.setting, one.figures, one.total_loss) for one in again.points] == [
        (one.setting, one.figures, one.total_loss) for one in explored.points
    ]


def test_another_process_finds_the_same(explored: Frontier, folder: Path) -> None:
    paths = {name: folder / f"{name}.csv" for name in POLICY["tables"]}
    with tcdp_audit.open_session(paths, folder / "p.tcdp.yaml", plugins=BUILT_IN, memory=2**30) as session:
        own = Repairs(session, Variation.asked(session.policy, VARY), explored.release.sha256)
        blueprint = Blueprint.of(own, folder / "p.tcdp.yaml", 2**30)
    repairs, task = blueprint.repairs(), (explored.own, False)
    with repairs.session:
        assert repairs.tried(task, {}) == explored.trials[0]
        with pytest.raises(DataError, match="the release has changed"):
            Repairs(repairs.session, repairs.variation, "0" * 64).tried(task, {})


def test_reports_name_the_tables_and_whom_an_intruder_finds(explored: Frontier) -> None:
    for render in (html, markdown):
        text = str(render(explored))
        assert ("3 tables: patients 24 records, visits" in text) is (render is html)
        assert "people whom an intruder who knows all rows of everyone" in text
        assert "pMSE" not in text
        assert not PSEUDONYM.findall(text)


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """`tcdp-audit ...` in this process."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments[0], list(arguments[1:]))
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize("call", [("FOLDER",), ()])
def test_the_command_takes_a_folder_or_each_table(
    folder: Path, explored: Frontier, here: Any, monkeypatch: pytest.MonkeyPatch, call: tuple[str, ...]
) -> None:
    monkeypatch.chdir(folder)
    tables = [part for name in POLICY["tables"] for part in ("--table", f"{name}={name}.csv")]
    given = [str(folder)] if call else tables
    arguments = ["--policy", "p.tcdp.yaml", "--vary", "k_anonymity=4", "--workers", "1", "--resume", "state"]
    code, out, err = here("frontier", *given, *arguments, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["points"] == explored.as_json()["points"]
    assert here("frontier", *given, *arguments)[1].startswith("patients.csv, visits.csv, drugs.csv: 3 tables")


def test_points_are_verified_and_compared_as_folders(explored: Frontier, folder: Path, here: Any) -> None:
    results = []
    for place in (0, len(explored.points) - 1):
        point, output = explored.points[place], folder / f"compared{place}"
        policy = folder / f"point{place}.tcdp.yaml"
        policy.write_text(json.dumps({**POLICY, **yaml.safe_load(point.lines)}), encoding="utf-8")
        result = folder / f"point{place}.json"
        fixing = ["fix", str(folder), "--policy", str(policy), "--output", str(output), "--report", str(result)]
        assert here(*fixing, "--quiet")[0] == 0
        verifying = ["verify", str(result), str(output), "--policy", str(policy)]
        assert here(*verifying, "--source-release", str(folder))[0] == 0
        results.append(str(result))
    assert "k-anonymity" in here("diff", results[0], results[-1])[1]


def test_calls_that_cannot_work(folder: Path) -> None:
    with (
        tcdp_audit.open_session(folder, folder / "p.tcdp.yaml", plugins=BUILT_IN, show_values=True) as session,
        pytest.raises(UsageError, match="examples show records of one table"),
    ):
        session.frontier(vary=VARY, examples=[0])
    apart = {name: {"attributes": {"sex": KNOWN}} for name in ("first", "second")}
    policy = {"version": 1, "tables": apart, "expect": [{"subset_differencing": {"tables": [*apart], "k": 2}}]}
    people = {name: tables_of(3)["patients"].select(["sex"]) for name in apart}
    with pytest.raises(PolicyError, match="nothing links the tables"):
        tcdp_audit.frontier(people, policy, vary={"subset_differencing": [3]}, plugins=BUILT_IN)
