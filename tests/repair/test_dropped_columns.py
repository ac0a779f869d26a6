"""Identifiers and the key are not written; what needs them is judged with them put back beside what was written."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import toy_remedies as toys
from pyarrow import csv, feather, parquet

from tcdp_audit import Remediation, audit, fix
from tcdp_audit.core.base.errors import DataError, PolicyError
from tcdp_audit.core.base.outcome import Status
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.repair.output import OutputFile
from tcdp_audit.core.repair.restored_columns import PutBack
from tcdp_audit.core.results.verdict import verdict_title
from tcdp_audit.plugin.remedy import NewColumn, RemedyView, Treatment

AGES = [20, 21, 33, 34, 51, 52, 67, 68, 39, 40]
NOTES = [f"n{i}" for i in range(len(AGES))]
NAMES = [f"zqname{i}" for i in range(len(AGES))]
IDS = [int(i * 7 % 11) + 100 for i in range(len(AGES))]
COSTS = [10, 80, 30, 60, 50, 40, 70, 20, 90, 11]  # the last is mistaken for the first
ORIGINAL = pa.table({"id": IDS, "age": AGES, "cost": COSTS})
ATTRIBUTES = {
    "note": {"role": "insensitive"},
    "name": {"role": "identifier"},
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "cost": {"role": "insensitive", "scale": "numeric"},
}
PAIRED = {"distance_record_linkage": {"attributes": ["age", "cost"], "at_most": 0.95}}


def table(**columns: Any) -> pa.Table:
    plain = {"name": NAMES, "note": NOTES, "id": IDS, "age": AGES, "cost": COSTS}
    return pa.table({**plain, **columns})


def policy(*expect: dict[str, Any], remedy: str = "coarse", **more: Any) -> dict[str, Any]:
    demands = [{"k_anonymity": {"k": 2}}, *expect]
    plain = {"version": 1, "key": "id", "attributes": ATTRIBUTES, "expect": demands, "remedy": [{remedy: None}]}
    return {**plain, **more}


def coarse(view: RemedyView, _: Any) -> Treatment:
    """Ages to two hundreds: 20 to 40, and above."""
    one = view.attribute("age")
    return Treatment({"age": NewColumn(np.array([30, 60]), np.where(one.numbers[one.codes] <= 40, 0, 1))})


def few(view: RemedyView, on: Any) -> Treatment:
    """The same, without the two oldest."""
    one = view.attribute("age")
    return replace(coarse(view, on), retained=one.numbers[one.codes] < 67)


def far(view: RemedyView, on: Any) -> Treatment:
    """The youngest have what the oldest had, so that hardly anybody is linked."""
    return toys.constant(view, on)


PLUGINS = toys.plugins(coarse=coarse, few=few, far=far)


def repaired(release: Any, asked: dict[str, Any], **more: Any) -> Remediation:
    return fix(release, asked, ORIGINAL, plugins=PLUGINS, **more)


def with_ids(released: pa.Table) -> pa.Table:
    """A released table with the key again, by the notes, which no remedy touches."""
    id_of = dict(zip(NOTES, IDS, strict=True))
    return released.append_column("id", [[id_of[note] for note in released["note"].to_pylist()]])


def linkage(outcomes: Any) -> Any:
    return next(one for one in outcomes if one.check == "distance_record_linkage")


LONG = pytest.mark.long


@LONG
@pytest.mark.parametrize(("remedy", "keep_order"), [("few", False), ("coarse", False), ("few", True)])
def test_demands_on_pairs_are_judged_with_the_right_key(remedy: str, *, keep_order: bool) -> None:
    done = repaired(table(), policy(PAIRED, remedy=remedy), keep_order=keep_order)
    assert done.passed
    assert done.released.column_names == ["note", "age", "cost"]
    assert [(one.name, one.why) for one in done.log.dropped] == [("name", "identifier"), ("id", "key")]
    assert (done.log.order == "kept") is keep_order
    assert done.log.judged_with_columns == ("id",)
    known = audit(with_ids(done.released), policy(PAIRED), ORIGINAL, plugins=PLUGINS)
    judged, truth = linkage(done.after.outcomes), linkage(known.outcomes)
    assert judged.details["judged_with_columns"] == ["id"]
    assert (judged.observed, judged.records, judged.details["matched"]) == (
        truth.observed,
        truth.records,
        truth.details["matched"],
    )
    shifted = with_ids(done.released)
    wrong = shifted.set_column(3, "id", [np.roll(shifted["id"].to_numpy(), 1)])
    assert linkage(audit(wrong, policy(PAIRED), ORIGINAL, plugins=PLUGINS).outcomes).observed < 0.3 < judged.observed


KINDS = ("f.tsv.gz", "f.parquet", "f.feather", "f.jsonl")


@pytest.mark.parametrize("name", ["f.csv", *(pytest.param(name, marks=LONG) for name in KINDS)])
def test_no_kind_of_file_has_them(tmp_path: Path, name: str) -> None:
    csv.write_csv(table(), tmp_path / "release.csv")
    done = repaired(tmp_path / "release.csv", policy(PAIRED, remedy="few"), output=tmp_path / name)
    assert (done.passed, done.log.suppressed, done.after.release.records) == (True, 2, 8)
    with closing(open_engine(tmp_path / name, 2**28)) as engine:
        read = engine.table()
    assert read.column_names == ["note", "age", "cost"]
    whole = dict(zip(NOTES, table().to_pylist(), strict=True))
    assert [str(whole[one["note"]]["cost"]) for one in read.to_pylist()] == read["cost"].to_pylist()
    assert b"zqname" not in (tmp_path / name).read_bytes()
    known = audit(with_ids(read), policy(PAIRED), ORIGINAL, plugins=PLUGINS)
    assert linkage(known.outcomes).observed == linkage(done.after.outcomes).observed
    assert done.after.release.columns == 3
    assert {one.name for one in done.after.columns if not one.is_present} == {"name"}
    alone = audit(tmp_path / name, policy(PAIRED), ORIGINAL, plugins=PLUGINS)
    assert (alone.status, alone.exit_code()) == ("error", 3)  # nobody can pair its records


def test_a_key_beside_other_records_is_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = OutputFile._write

    def reversed_with_the_key(self: OutputFile, released: Any, path: Path) -> None:
        order = list(range(released.table.num_rows))[::-1]
        wrong = replace(released, table=released.table.take(order)) if "id" in released.table.column_names else released
        write(self, wrong, path)

    monkeypatch.setattr(OutputFile, "_write", reversed_with_the_key)
    with pytest.raises(DataError, match="what was read back differs from what was released; nothing is kept"):
        repaired(table(), policy(PAIRED), output=tmp_path / "f.csv")
    assert list(tmp_path.iterdir()) == []


@LONG
def test_the_order_says_nothing_of_the_key_or_of_the_input(tmp_path: Path) -> None:
    other = table(id=IDS[::-1], name=NAMES[::-1]).take(list(range(len(AGES)))[::-1])
    asked = policy()
    for number, one in enumerate((table(), other)):
        repaired(one, asked, output=tmp_path / f"{number}.csv")
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()
    passing = table(age=[20] * 5 + [51] * 5)
    done = repaired(passing, asked)
    assert (done.log.steps, done.log.order, done.log.is_unchanged) == ((), "shuffled", False)
    assert done.released["note"].to_pylist() != NOTES
    assert sorted(done.released["note"].to_pylist()) == NOTES
    assert done.log.cells == {"note": 0, "age": 0, "cost": 0}


@LONG
def test_fixing_what_was_fixed_changes_nothing(tmp_path: Path) -> None:
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    repaired(table(), policy(), output=once)
    again = repaired(once, policy(), output=twice)
    assert again.log.is_unchanged
    assert once.read_bytes() == twice.read_bytes()
    assert verdict_title(audit(once, policy(), plugins=PLUGINS)) == "Fit for release"


@LONG
def test_cells_that_stay_are_written_as_they_stood(tmp_path: Path) -> None:
    lines = ['{"name": "x", "id": 7, "age": 20, "cost": 5, "note": 1.50}', '{"age": 20, "id": 8, "cost": 6}']
    (tmp_path / "in.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")
    done = repaired(tmp_path / "in.jsonl", policy(), output=tmp_path / "out.jsonl", keep_order=True)
    assert done.passed
    written = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert written == ['{"age": 20, "cost": 5, "note": 1.50}', '{"age": 20, "cost": 6}']
    typed = table(id=pa.array(IDS, pa.int16()), note=pa.array(range(len(AGES)), pa.uint8()))
    feather.write_feather(typed, tmp_path / "in.feather")
    repaired(tmp_path / "in.feather", policy(), output=tmp_path / "out.parquet")
    assert parquet.read_schema(tmp_path / "out.parquet").field("note").type == pa.uint8()


@LONG
def test_what_is_not_written_does_not_have_to_fit_the_file(tmp_path: Path) -> None:
    done = repaired(table(name=pa.array([b"zq"] * len(AGES))), policy(), output=tmp_path / "f.csv")
    assert done.passed


@LONG
def test_a_release_that_fails_is_written_without_them_too(tmp_path: Path) -> None:
    asked = policy(expect=[{"k_anonymity": {"k": 9}}])
    done = repaired(table(), asked, output=tmp_path / "f.csv", keep_failing=True)
    assert (done.passed, done.written) == (False, tmp_path / "f.csv")
    assert (tmp_path / "f.csv").read_text(encoding="utf-8").startswith("note,age,cost\n")
    assert verdict_title(done.after) == "Not fit for release"


def test_a_key_that_is_retained_is_an_error_unless_the_file_internal_only(tmp_path: Path) -> None:
    refused = repaired(table(), policy(PAIRED, keep_key=True), output=tmp_path / "f.csv")
    assert (refused.passed, refused.written, refused.after.exit_code()) == (False, None, 1)
    assert refused.log.reason.startswith("no remedy can change this: linkable_key: column 'id' is the key")
    inside = policy(PAIRED, keep_key=True, internal_only=True)
    done = repaired(table(), inside, output=tmp_path / "f.csv")
    assert done.passed
    assert [one.name for one in done.log.dropped] == ["name"]
    assert done.log.judged_with_columns == ()
    for again in (done.after, audit(tmp_path / "f.csv", inside, ORIGINAL, plugins=PLUGINS)):
        assert again.passed
        assert verdict_title(again) == "Fit to stay inside: the key is in the file"
    assert "Fit to stay inside: the key is in the file" in done.after.render(".md")


@LONG
def test_a_key_that_is_retained_is_no_identifier_that_should_be_gone() -> None:
    inside = policy(PAIRED, keep_key=True, internal_only=True)
    as_identifier = {**inside, "attributes": {**ATTRIBUTES, "id": {"role": "identifier"}}}
    assert repaired(table(), as_identifier).passed


def test_no_verdict_over_a_file_with_a_key_says_fit_for_release() -> None:
    passing = table(age=[20] * 5 + [51] * 5).drop_columns(["name"])
    result = audit(passing, policy(), plugins=PLUGINS)
    assert (result.passed, result.exit_code()) == (True, 0)
    assert verdict_title(result) == "Fit once its key is dropped: id"
    for text in (result.render(".md"), result.render(".json"), result._repr_html_()):
        assert "Fit for release" not in text
        assert "Fit once its key is dropped: id" in text


@LONG
def test_a_file_that_internal_only_may_be_useless_too() -> None:
    constant_columns = repaired(table(), policy(remedy="far", keep_key=True, internal_only=True))
    assert verdict_title(constant_columns.after) == "Fit to stay inside: the key is in the file, and useless for: age"


@pytest.mark.parametrize("role", ["quasi_identifier", "sensitive"])
def test_a_key_that_people_are_to_have_is_a_contradiction(role: str) -> None:
    asked = policy(attributes={**ATTRIBUTES, "id": {"role": role}})
    with pytest.raises(PolicyError, match=rf"key: 'id' is declared as {role.replace('_', '-')} as well, and no key"):
        repaired(table(), asked)
    trial = audit(table(), asked, plugins=PLUGINS, try_remedies=True).remedy_trial
    assert trial is not None
    assert trial.reason.startswith("remedies could not be tried: ")
    assert not trial.passes


def test_a_policy_cannot_keep_a_key_that_it_does_not_name() -> None:
    asked = {name: one for name, one in policy(keep_key=True).items() if name != "key"}
    with pytest.raises(PolicyError, match="keep_key: the policy names no `key:` that could be kept"):
        repaired(table(), asked)


def test_where_nothing_would_be_left_that_is_said() -> None:
    with pytest.raises(
        DataError, match="nothing would be left: every column of the release is an identifier, the key or the unit"
    ):
        repaired(table().select(["name", "id"]), policy())


@LONG
def test_a_unit_that_is_dropped_still_counts_people() -> None:
    """Two people have all the records of each class, so that counting records would pass where counting them fails."""
    people = ["p", "q"] * 5
    rows = table(person=people)
    asked = policy(unit="person", attributes={**ATTRIBUTES, "person": {"role": "identifier"}})
    done = repaired(rows, asked)
    assert done.passed
    assert "person" not in done.released.column_names
    assert done.log.judged_with_columns == ("id", "person")
    missing = next(one for one in done.after.structure if one.check == "missing_columns")
    assert (missing.status, missing.details["judged_with_columns"]) == (Status.PASSED, ["id", "person"])
    (size,) = done.after.expectations
    assert size.observed == 2
    harder = repaired(rows, {**asked, "expect": [{"k_anonymity": {"k": 3}}]})
    assert not harder.passed
    assert audit(done.released, asked, plugins=PLUGINS).status == "error"  # who has the file alone cannot count people


@LONG
def test_an_expectation_that_names_an_identifier_is_judged_with_it() -> None:
    original = ORIGINAL.append_column("name", [NAMES])
    declared = {**ATTRIBUTES, "name": {"role": "identifier", "scale": "nominal"}}
    asked = policy({"exact_match_rate": {"attributes": ["name"], "at_most": 0.5}}, attributes=declared)
    done = fix(table(), asked, original, plugins=PLUGINS)
    assert not done.passed
    assert done.log.reason == "1 of 2 demands still fails: exact_match_rate"
    match = next(one for one in done.after.expectations if one.check == "exact_match_rate")
    assert (match.status, match.details["judged_with_columns"]) == (Status.FAILED, ["name", "id"])


@LONG
def test_under_rows_aligned_columns_and_the_order_go() -> None:
    asked = policy(PAIRED, rows_aligned=True)
    del asked["key"]
    done = repaired(table().drop_columns(["id"]), asked)
    assert done.passed
    assert done.released.column_names == ["note", "age", "cost"]
    assert done.released["note"].to_pylist() != NOTES
    assert sorted(done.released["note"].to_pylist()) == NOTES
    assert (done.log.judged_with_columns, done.log.order) == ((), "shuffled")
    known = audit(table().drop_columns(["id", "name"]), asked, ORIGINAL, plugins=PLUGINS)
    assert linkage(known.outcomes).observed > 0


@LONG
def test_a_frame_comes_back_without_them() -> None:
    done = repaired(table().to_pandas(), policy(PAIRED))
    assert done.passed
    assert done.released.column_names == ["note", "age", "cost"]
    assert done.after.release.columns == 3


@LONG
@pytest.mark.parametrize("kind", ["polars", "relation", "sqlite"])
def test_other_engines_give_the_same(kind: str, tmp_path: Path) -> None:
    plain = repaired(table(), policy(PAIRED, remedy="few"))
    done = repaired(_as(kind, tmp_path), policy(PAIRED, remedy="few"), output=tmp_path / "f.parquet")
    assert done.passed
    assert done.released.column_names == plain.released.column_names
    assert done.released.to_pylist() == plain.released.to_pylist()
    assert linkage(done.after.outcomes).observed == linkage(plain.after.outcomes).observed


def _as(kind: str, folder: Path) -> Any:
    """The table in another form."""
    if kind == "polars":
        return pl.from_arrow(table())
    if kind == "relation":
        return duckdb.from_arrow(table())
    with closing(sqlite3.connect(folder / "t.db")) as connection:
        connection.execute("CREATE TABLE people (name TEXT, note TEXT, id INTEGER, age INTEGER, cost INTEGER)")
        rows = [tuple(one.values()) for one in table().to_pylist()]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
        connection.commit()
    return f"sqlite:///{folder / 't.db'}?table=people"


SCHEMA = """
schema_type: dataframe
version: 0.20.0
columns:
  note: {dtype: str, nullable: false, coerce: false, required: true, unique: false}
  age: {dtype: null, nullable: false, coerce: false, required: true, unique: false}
  cost: {dtype: null, nullable: false, coerce: false, required: true, unique: false}
checks: null
index: null
coerce: false
strict: true
"""


@LONG
def test_a_schema_judges_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    asked = policy(PAIRED, schema=str(tmp_path / "schema.yaml"))
    assert audit(table(), asked, ORIGINAL, plugins=PLUGINS).status == "failed"
    done = repaired(table(), asked, output=tmp_path / "f.parquet")
    assert done.passed
    assert [one.status for one in done.after.outcomes if one.is_schema] == [Status.PASSED]
    (tmp_path / "schema.yaml").write_text(SCHEMA.replace("strict: true", "strict: false").replace("  note:", "  id:"))
    assert not repaired(table(), asked).passed  # it asks for the key


@LONG
def test_what_fails_without_the_columns_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is judged as people get it as well: a failure there does not go away with the key."""
    asked = policy(PAIRED, expect=[{"k_anonymity": {"k": 2}}, PAIRED])
    joined = PutBack._joined

    def without_classes(self: PutBack, alone: Any, beside: Any) -> Any:
        broken = [replace(one, status=Status.FAILED) if one.check == "k_anonymity" else one for one in alone]
        return joined(self, broken, beside)

    monkeypatch.setattr(PutBack, "_joined", without_classes)
    done = repaired(table(), asked)
    assert not done.passed
    assert [one.check for one in done.after.expectations if one.status is Status.FAILED] == ["k_anonymity"]


@LONG
def test_results_say_first_what_was_dropped(tmp_path: Path) -> None:
    done = repaired(table(), policy(PAIRED), output=tmp_path / "f.csv")
    log = json.loads(done.after.to_json())["change_log"]
    assert next(iter(log)) == "columns_dropped"
    assert log["columns_dropped"] == [{"name": "name", "why": "identifier"}, {"name": "id", "why": "key"}]
    assert log["judged_with_columns"] == ["id"]
    said = "Dropped from what is written: name (identifier) and 'id' (key that links to the original)."
    assert said in done.after.render(".md").splitlines()[4]
    assert "Demands that need 'id' were judged with it together with the written cells." in done.after.render(".md")


@LONG
def test_a_report_of_a_release_that_only_lost_columns_says_so() -> None:
    done = repaired(table(age=[20] * 10), policy())
    for text in (done.after.render(".html"), done.after.render(".md")):
        assert "What was dropped from this release" in text
        assert "No entry was changed: without these columns the release passes. Records were sorted by content" in text
