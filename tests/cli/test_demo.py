"""The demonstration: the same bytes every time, a verdict worth reading, and nobody's files lost."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcdp_audit import audit
from tcdp_audit.demo import FILES, POLICY, make_discharges
from tcdp_audit.demo.discharges import Draw

WRITTEN = {*FILES, "report.html", "result.json"}
MADE = make_discharges()


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(MADE[name])))


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No remedies are tried, which takes long, where a test is about something else."""
    monkeypatch.setattr("tcdp_audit.core.repair.fixing.remedy_trial", lambda *_: None)


def test_it_writes_everything_and_says_what_check_would_exit_with(process: Any, tmp_path: Path):
    answer = process("demo")
    folder = tmp_path / "tcdp-audit-demo"

    assert (answer.code, answer.err) == (0, "")
    assert {path.name for path in folder.iterdir()} == WRITTEN
    assert "The release does not meet its policy: `tcdp-audit check` exits with 1 here." in answer.out
    assert all(name in answer.out for name in WRITTEN)
    assert max(map(len, answer.out.splitlines())) <= 80
    assert answer.out.endswith(f"  edit {Path('tcdp-audit-demo', POLICY)} and check again\n")
    assert process("check", "--policy", folder / POLICY).code == 1


@pytest.mark.usefixtures("untried")
def test_the_result_beside_it_is_of_this_release(here: Any, tmp_path: Path):
    assert here("demo", tmp_path / "demo").code == 0
    result = json.loads((tmp_path / "demo" / "result.json").read_text(encoding="utf-8"))
    report = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")

    assert result["status"] == "failed"
    assert result["release"]["records"] == 8_000
    assert result["release"]["sha256"] == hashlib.sha256(MADE["discharges.csv"].encode()).hexdigest()
    assert report.startswith("<!DOCTYPE html>")


def test_the_policy_shows_every_kind_of_outcome(tmp_path: Path):
    for name, text in MADE.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="\n")
    outcomes = audit(None, tmp_path / POLICY).expectations
    reported = [(one.check, one.attribute, one.status.value, one.severity.value) for one in outcomes]

    assert reported == [
        ("k_anonymity", None, "failed", "error"),
        ("distinct_l_diversity", "diagnosis", "passed", "error"),
        ("entropy_l_diversity", "diagnosis", "failed", "error"),
        ("t_closeness", "diagnosis", "failed", "error"),
        ("t_closeness", "cost", "passed", "error"),
        ("t_closeness", "length_of_stay", "failed", "warning"),
        ("entropy_l_diversity", "length_of_stay", "measured", "error"),
    ]
    classes = [one.classes for one in outcomes]
    assert [one.failing for one in classes if one] == [11, 0, 34, 57, 0, 8, None]
    assert {one.total for one in classes if one} == {360}
    assert [one.observed for one in outcomes][:2] == [4, 2]


def test_k_and_l_are_those_of_a_plain_count():
    classes = Counter((r["age"], r["sex"], r["postcode"], r["admission_month"]) for r in _rows("discharges.csv"))

    assert (len(classes), min(classes.values()), sum(n < 10 for n in classes.values())) == (360, 4, 11)


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("discharges.csv", "c142c1994feb781122225f94ebbf41a6cc19bb7e32b815b0d8cffa5a47517b1a"),
        ("original.csv", "d1b6f729a27994c63b9e3ed0fdc80dbc0f108b647c0ea660693cff23dcbfe4e1"),
        ("register.csv", "07fd51ab39d8927de0cb1d5b718b5a14eca3d1f99a4dfb59fa1141baf0be08af"),
    ],
)
def test_the_same_seed_gives_the_same_bytes(name: str, digest: str):
    assert hashlib.sha256(MADE[name].encode()).hexdigest() == digest


def test_another_seed_gives_other_records():
    other = make_discharges(seed=7)

    assert other["discharges.csv"] != MADE["discharges.csv"]
    assert other[POLICY] == MADE[POLICY]


def test_the_release_is_the_original_generalised():
    exact = {row["discharge"]: row for row in _rows("original.csv")}
    release = _rows("discharges.csv")

    assert len(release) == len(exact) == 8_000
    for row in release:
        source = exact[row["discharge"]]
        low, _, high = row["age"].rstrip("+").partition("-")
        assert int(low) <= int(source["age"]) <= int(high or 99)
        assert len(source["postcode"]) == 5
        assert source["postcode"].startswith(row["postcode"])
        assert source["admission_date"].startswith(row["admission_month"])
        assert source["diagnosis"] == row["diagnosis"]
        assert abs(float(source["cost"]) - int(row["cost"])) <= 50
    assert all(row["postcode"].startswith("0") for row in release)
    assert "patient" not in release[0]


def test_every_released_class_is_in_the_register():
    keys = ("age", "sex", "postcode", "admission_month")
    register = Counter(tuple(row[key] for key in keys) for row in _rows("register.csv"))
    released = Counter(tuple(row[key] for key in keys) for row in _rows("discharges.csv"))

    assert register.total() == 40_000
    assert all(register[key] >= count for key, count in released.items())


def test_every_diagnosis_has_a_path_of_equal_length_to_one_root():
    paths = [line.split(";") for line in MADE["diagnosis.csv"].splitlines()]

    assert {row["diagnosis"] for row in _rows("discharges.csv")} == {path[0] for path in paths}
    assert {(len(path), path[-1]) for path in paths} == {(4, "*")}


@pytest.mark.long
@pytest.mark.usefixtures("untried")
def test_a_second_run_renews_the_reports_of_an_unchanged_demonstration(here: Any, tmp_path: Path):
    folder = tmp_path / "demo"
    assert here("demo", folder).code == 0
    (folder / "result.json").write_text("old")
    (folder / "mine.txt").write_text("mine")

    assert here("demo", folder).code == 0
    assert json.loads((folder / "result.json").read_text())["status"] == "failed"
    assert (folder / "mine.txt").read_text() == "mine"


@pytest.mark.long
@pytest.mark.usefixtures("untried")
def test_an_edited_policy_is_not_overwritten_unless_forced(here: Any, tmp_path: Path):
    assert here("demo", tmp_path).code == 0
    (tmp_path / POLICY).write_text("mine")

    answer = here("demo", tmp_path)

    assert (answer.code, answer.out) == (2, "")
    assert "its discharges.tcdp.yaml is not the demonstration's" in answer.err
    assert (tmp_path / POLICY).read_text() == "mine"
    assert here("demo", tmp_path, "--force").code == 0
    assert (tmp_path / POLICY).read_text() == MADE[POLICY]


def test_a_folder_of_other_files_is_refused(here: Any, tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("mine")

    answer = here("demo", tmp_path)

    assert answer.code == 2
    assert answer.err == (
        f"tcdp-audit: {tmp_path}: holds other files; name a new folder, or write over what is there with --force\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_folder(here: Any, tmp_path: Path):
    (tmp_path / "demo").write_text("mine")

    for arguments in ([tmp_path / "demo"], [tmp_path / "demo", "--force"]):
        answer = here("demo", *arguments)
        assert answer.code == 2
        assert str(tmp_path / "demo") in answer.err


def test_an_interrupted_run_leaves_nothing(here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from tcdp_audit.cli import demo

    def interrupt(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "_audited", interrupt)

    assert here("demo", tmp_path / "demo").code == 130
    assert not (tmp_path / "demo").exists()
    (tmp_path / "empty").mkdir()
    assert here("demo", tmp_path / "empty").code == 130
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.usefixtures("untried")
def test_it_does_not_load_anybody_elses_plugin(here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from tcdp_audit.core.session.registry import Plugins

    loaded: list[bool] = []
    load = Plugins.load

    def noting(*, external: bool = True, blocked: Any = ()) -> Plugins:
        loaded.append(external)
        return load(external=external, blocked=blocked)

    monkeypatch.setattr(Plugins, "load", noting)

    assert here("demo", tmp_path).code == 0
    assert loaded == [False]


def test_draws_keep_their_bounds_and_weights():
    draw = Draw(1)
    picked = Counter(draw.pick((1, 0, 3), 40_000).tolist())

    assert set(draw.below(7, 10_000).tolist()) == set(range(7))
    assert set(picked) == {0, 2}
    assert picked[0] / 40_000 == pytest.approx(1 / 4, abs=0.01)
    assert sorted(draw.shuffled(50).tolist()) == list(range(50))
    assert draw.below(np.array([1, 2]), 2)[0] == 0
