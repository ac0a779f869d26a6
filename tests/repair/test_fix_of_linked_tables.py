"""Remedies over several linked tables, against trees of rows in plain Python; the folder that `fix` writes."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import Remediation, audit, fix, open_session
from tcdp_audit.cli.schema import result_schema
from tcdp_audit.core.base.errors import PolicyError, UsageError
from tcdp_audit.core.repair import linked_release
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
KNOWN = {"patients": ("sex",), "visits": ("month",), "drugs": ("drug",)}
PARENTS = {"visits": ("patients", "patient"), "drugs": ("visits", "visit")}


def policy_of(depth: int, *remedies: Mapping[str, Any], k: int = 2, **more: Any) -> dict[str, Any]:
    """Patients, their visits and, at depth 3, what was prescribed at each."""
    known: dict[str, Any] = {"role": "quasi_identifier", "scale": "nominal"}
    tables: dict[str, Any] = {
        "patients": {"attributes": {"sex": known}},
        "visits": {
            "belongs_to": "patients",
            "time": "month",
            "attributes": {"month": {"role": "quasi_identifier"}, "visit": {"role": "insensitive"}},
        },
        "drugs": {"belongs_to": "visits", "by": "visit", "attributes": {"drug": known}},
    }
    return {
        "version": 1,
        "unit": "patient",
        "tables": dict(list(tables.items())[:depth]),
        "expect": [{"k_anonymity": {"k": k}}],
        "keep_links": True,  # so that released rows can be compared with those of the input
        **({"remedy": list(remedies)} if remedies else {}),
        **more,
    }


def tables_of(seed: int, depth: int, patients: int = 14) -> dict[str, pa.Table]:
    """A random release; some patients have no visit, and some visits no drug. A quasi-identifier may be missing."""
    draw = random.Random(seed)  # noqa: S311 - a generated table
    people = [(f"p{one:02}", draw.choice(["f", "f", "m", None])) for one in range(patients)]
    visits, drugs = [], []
    for person, _ in people:
        for _ in range(draw.choice([0, 1, 1, 2])):
            visit = f"v{len(visits):03}"
            visits.append((person, visit, f"2024-{draw.choice([1, 1, 2, 7]):02}"))
            drugs += [(visit, draw.choice("AAB")) for _ in range(draw.choice([0, 0, 1, 2]))]
    every = {
        "patients": (("patient", "sex"), people),
        "visits": (("patient", "visit", "month"), visits),
        "drugs": (("visit", "drug"), drugs),
    }
    texts = pa.string()
    return {
        name: pa.table({column: pa.array([row[at] for row in rows], texts) for at, column in enumerate(columns)})
        for name, (columns, rows) in list(every.items())[:depth]
    }


def rows_of(tables: Mapping[str, pa.Table]) -> dict[str, list[dict[str, Any]]]:
    return {name: table.to_pylist() for name, table in tables.items()}


def tree(rows: Mapping[str, Sequence[Mapping[str, Any]]], table: str, row: Mapping[str, Any]) -> Hashable:
    """A row's quasi-identifiers with the multiset of what belongs to it; a missing cell is one value."""
    below = []
    for child, (parent, by) in PARENTS.items():
        if parent == table and child in rows:
            own = [tree(rows, child, one) for one in rows[child] if one[by] == row[by]]
            below.append(frozenset(Counter(own).items()))
    return (*("*" if row[name] in (None, "*") else row[name] for name in KNOWN[table]), *below)


def trees(tables: Mapping[str, pa.Table]) -> dict[str, Hashable]:
    """The tree of each patient."""
    rows = rows_of(tables)
    return {one["patient"]: tree(rows, "patients", one) for one in rows["patients"]}


def without_orphans(tables: Mapping[str, pa.Table]) -> bool:
    rows = rows_of(tables)
    return all(
        {one[by] for one in rows[child]} <= {one[by] for one in rows[parent]}
        for child, (parent, by) in PARENTS.items()
        if child in rows
    )


def released(remediation: Remediation) -> Mapping[str, pa.Table]:
    assert isinstance(remediation.released, Mapping)
    return remediation.released


def as_sets(tables: Mapping[str, pa.Table]) -> dict[str, Counter[Hashable]]:
    """The rows of each table, whatever their order; a suppressed cell is a missing one."""
    return {
        name: Counter(tuple("*" if cell is None else cell for cell in one.values()) for one in rows)
        for name, rows in rows_of(tables).items()
    }


@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 10**6), depth=st.sampled_from([2, 3]), k=st.sampled_from([2, 3]))
def test_exactly_the_units_of_small_classes_go_with_all_their_rows(seed: int, depth: int, k: int) -> None:
    _suppressed_units(seed, depth, k)


@pytest.mark.long
@pytest.mark.parametrize("depth", [2, 3])
def test_many_releases_lose_exactly_the_units_of_small_classes(depth: int) -> None:
    for seed in range(25):
        _suppressed_units(seed, depth, 2 + seed % 2, patients=20)


def _suppressed_units(seed: int, depth: int, k: int, patients: int = 14) -> None:
    tables = tables_of(seed, depth, patients)
    before = trees(tables)
    sizes = Counter(before.values())
    staying = {one for one, whole in before.items() if sizes[whole] >= k}
    result = fix(tables, policy_of(depth, {"suppress_units": {}}, k=k), plugins=PLUGINS)
    if not staying:
        assert not result.passed
        return
    assert result.passed
    after = released(result)
    assert without_orphans(after)
    visits = {one["visit"] for one in tables["visits"].to_pylist() if one["patient"] in staying}
    stays = {
        "patients": lambda one: one["patient"] in staying,
        "visits": lambda one: one["patient"] in staying,
        "drugs": lambda one: one["visit"] in visits,
    }
    expected = {
        name: pa.Table.from_pylist([one for one in table.to_pylist() if stays[name](one)], table.schema)
        for name, table in tables.items()
    }
    assert as_sets(after) == as_sets(expected)
    assert result.log.suppressed == sum(one.num_rows for one in tables.values()) - sum(
        one.num_rows for one in after.values()
    )
    assert min(Counter(trees(after).values()).values()) >= k


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 10**6), depth=st.sampled_from([2, 3]), rows=st.sampled_from([1, 2]))
def test_what_belongs_to_dropped_rows_is_dropped(seed: int, depth: int, rows: int) -> None:
    tables = tables_of(seed, depth)
    policy = policy_of(depth, {"truncate_histories": {"table": "visits", "rows": rows}}, k=2)
    result = fix(tables, policy, plugins=PLUGINS)
    if not any(one.remedy == "truncate_histories" for one in result.log.steps):
        return  # the input passes, or the result is no better
    after = released(result)
    assert without_orphans(after)
    assert len(after["patients"]) == len(tables["patients"])
    visits = rows_of(tables)["visits"]
    staying = {one["visit"] for one in after["visits"].to_pylist()}
    for patient in {one["patient"] for one in visits}:
        own = sorted(one["month"] for one in visits if one["patient"] == patient)
        assert (
            sorted(one["month"] for one in visits if one["visit"] in staying and one["patient"] == patient)
            == own[:rows]
        )
    if "drugs" in tables:
        expected = [one for one in tables["drugs"].to_pylist() if one["visit"] in staying]
        assert as_sets({"drugs": after["drugs"]})["drugs"] == Counter((one["visit"], one["drug"]) for one in expected)


def one_table() -> pa.Table:
    """2,000 patients with one to four visits each: 996 of them are alone with all of theirs."""
    draw = random.Random(5)  # noqa: S311 - a generated table
    rows = [
        (patient, f"2024-{draw.randint(1, 12):02}", draw.choice(["north", "south"]))
        for patient in range(2000)
        for _ in range(draw.randint(1, 4))
    ]
    cells = dict(zip(("patient", "month", "ward"), zip(*rows, strict=True), strict=True))
    return pa.table({**cells, "diagnosis": draw.choices("abcd", k=len(rows))})


def flat_as_two(table: pa.Table) -> dict[str, pa.Table]:
    """A table of visits, with one of patients that has nothing but them."""
    return {"patients": table.select(["patient"]).group_by("patient").aggregate([]), "visits": table}


GOLDEN = [  # DEFINITIONS, section 9: k, units alone, classes; without a time rows stay in the order of the file
    ({"truncate_histories": {"rows": 1}}, False, (61, 0, 24)),
    ({"coarsen_time": {"to": "year"}}, True, (25, 0, 14)),
    ({"truncate_histories": {"rows": 1}}, True, (20, 0, 24)),  # as of one table
]


@pytest.mark.parametrize(("remedy", "is_timed", "figures"), GOLDEN)
def test_the_figures_are_those_of_one_table(
    remedy: Mapping[str, Any], is_timed: bool, figures: tuple[int, int, int]
) -> None:
    known = {"role": "quasi_identifier"}
    visits = {
        "belongs_to": "patients",
        "attributes": {"month": known, "ward": known, "diagnosis": {"role": "sensitive"}},
        **({"time": "month"} if is_timed else {}),
    }
    policy = {
        "version": 1,
        "unit": "patient",
        "tables": {"patients": {}, "visits": visits},
        "expect": [{"k_anonymity": {"k": figures[0]}}],
        "remedy": [remedy],
    }
    result = fix(flat_as_two(one_table()), policy, plugins=PLUGINS)
    assert result.passed
    histories: dict[Any, list[Any]] = {}
    for one in released(result)["visits"].to_pylist():
        histories.setdefault(one["patient"], []).append((one["month"], one["ward"]))
    sizes = Counter(tuple(sorted(rows)) for rows in histories.values()).values()
    assert (min(sizes), sum(one == 1 for one in sizes), len(sizes)) == figures


def test_a_column_of_one_table_is_named_without_it() -> None:
    people = pa.table({"patient": ["a", "b", "c", "d"], "age": [20, 30, 60, 70]})
    visits = pa.table({"patient": ["a", "b", "c", "d"], "month": ["2024-01", "2024-01", "2024-02", "2024-02"]})
    policy = policy_of(2, {"global_recoding": {"breaks": {"age": [50]}}})
    policy["tables"]["patients"]["attributes"] = {"age": {"role": "quasi_identifier", "scale": "numeric"}}
    del policy["tables"]["visits"]["attributes"]["visit"]
    result = fix({"patients": people, "visits": visits}, policy, plugins=PLUGINS)
    assert result.passed
    assert sorted(released(result)["patients"]["age"].to_pylist()) == ["<50", "<50", ">=50", ">=50"]
    assert result.log.cells["patients.age"] == 4
    visits = result.log.loss["tables"]["visits"]
    assert (visits["records"], visits["records_suppressed"], visits["total"]) == (4, 0, 0.0)


def test_without_remedies_in_the_policy_the_least_loss_is_taken() -> None:
    tables = tables_of(11, 3, patients=40)
    result = fix(tables, policy_of(3), plugins=PLUGINS)
    assert result.passed
    assert result.log.planned
    assert {one.remedy for one in (*result.log.steps, *result.log.tried)} >= {"suppress_units", "truncate_histories"}
    assert "release of one table" in result.log.left_out["Mondrian partitioning"]
    passing = [one.loss for one in result.log.tried if one.loss is not None and one.outcomes and not one.failing]
    assert all(result.log.loss["total"] <= loss + 1e-9 for loss in passing if loss is not None)


def written(tmp_path: Path, tables: Mapping[str, pa.Table]) -> dict[str, str]:
    files = {}
    for name, table in tables.items():
        files[name] = str(tmp_path / f"{name}.csv")
        lines = [
            ",".join(table.column_names),
            *(",".join(str(cell or "") for cell in one.values()) for one in table.to_pylist()),
        ]
        Path(files[name]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files


def test_a_folder_has_the_same_bytes_each_time_and_its_audit_is_that_of_its_files(tmp_path: Path) -> None:
    files = written(tmp_path, tables_of(11, 3, patients=40))
    policy = policy_of(3, {"suppress_units": {}})
    results = [fix(files, policy, plugins=PLUGINS, output=tmp_path / name) for name in ("first", "second")]
    assert all(one.passed and one.written is not None for one in results)
    digests = [
        {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / name).iterdir()}
        for name in ("first", "second")
    ]
    assert digests[0] == digests[1]
    assert set(digests[0]) == {"patients.csv", "visits.csv", "drugs.csv"}
    release = results[0].after.release
    assert {Path(one.uri).name: one.sha256 for one in release.tables.values()} == digests[0]
    again = audit({name: tmp_path / "first" / f"{name}.csv" for name in files}, policy, plugins=PLUGINS)
    assert again.release.sha256 == release.sha256
    assert [one.observed for one in again.outcomes] == [one.observed for one in results[0].after.outcomes]


def test_identifiers_are_never_written(tmp_path: Path) -> None:
    tables = tables_of(11, 2, patients=40)
    tables["visits"] = tables["visits"].append_column(
        "name", pa.array([f"n{one}" for one in range(tables["visits"].num_rows)])
    )
    policy = policy_of(2, {"suppress_units": {}})
    policy["tables"]["visits"]["attributes"]["name"] = {"role": "identifier"}
    result = fix(written(tmp_path, tables), policy, plugins=PLUGINS, output=tmp_path / "out")
    assert result.passed
    assert [one.name for one in result.log.dropped] == ["visits.name"]
    assert (tmp_path / "out" / "visits.csv").read_text(encoding="utf-8").startswith("patient,visit,month\n")


def test_what_fails_is_not_written(tmp_path: Path) -> None:
    files = written(tmp_path, tables_of(11, 2, patients=40))
    policy = policy_of(2, {"truncate_histories": {"rows": 2}}, k=30)
    result = fix(files, policy, plugins=PLUGINS, output=tmp_path / "out")
    assert not result.passed
    assert result.written is None
    assert sorted(one.name for one in tmp_path.iterdir()) == ["patients.csv", "visits.csv"]
    forced = fix(files, policy, plugins=PLUGINS, output=tmp_path / "out", keep_failing=True)
    assert not forced.passed
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["patients.csv", "visits.csv"]


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt, RuntimeError])
def test_nothing_is_left_of_a_folder_that_could_not_be_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    files = written(tmp_path, tables_of(11, 2, patients=40))
    fill, calls = linked_release.OutputFile.fill, []

    def failing(self: Any, *arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise kind("the second file")
        fill(self, *arguments)

    monkeypatch.setattr(linked_release.OutputFile, "fill", failing)
    with pytest.raises((kind, UsageError)):
        fix(files, policy_of(2, {"suppress_units": {}}), plugins=PLUGINS, output=tmp_path / "out")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["patients.csv", "visits.csv"]


def test_only_a_new_folder_is_written(tmp_path: Path) -> None:
    files = written(tmp_path, tables_of(11, 2, patients=40))
    policy = policy_of(2, {"suppress_units": {}})
    for place, sentence in (
        (tmp_path, "has files already"),
        (Path(files["visits"]), "names a file"),
        (tmp_path / "new.csv", "names a file"),
        (tmp_path / "nowhere" / "out", "out: the folder .*nowhere does not exist"),
    ):
        with pytest.raises(UsageError, match=sentence):
            fix(files, policy, plugins=PLUGINS, output=place)
    (tmp_path / "empty").mkdir()
    assert fix(files, policy, plugins=PLUGINS, output=tmp_path / "empty").written == tmp_path / "empty"


@pytest.mark.parametrize(
    ("remedy", "sentence"),
    [
        ({"mondrian": {}}, "over several tables work coarsen_time"),
        ({"truncate_histories": {"table": "visit", "rows": 1}}, "has no table 'visit'"),
        ({"truncate_histories": {"rows": 1}}, "visits and drugs; say which"),
        ({"global_recoding": {"breaks": {"patients.sex": ["f"]}}}, "have no order"),
    ],
)
def test_remedies_that_fit_no_table_are_refused(remedy: Mapping[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError, match=sentence):
        fix(tables_of(11, 3), policy_of(3, remedy), plugins=PLUGINS)


def test_faulty_links_are_beyond_repair() -> None:
    tables = tables_of(11, 2, patients=40)
    tables["visits"] = pa.concat_tables(
        [tables["visits"], pa.table({"patient": ["p99999"], "visit": ["x"], "month": ["2024-01"]})]
    )
    result = fix(tables, policy_of(2, {"suppress_units": {}}), plugins=PLUGINS)
    assert not result.passed
    assert "no remedy can change this" in result.log.reason


def test_events_without_a_table_of_units_keep_whole_units() -> None:
    tables = {"visits": tables_of(11, 2, patients=40)["visits"]}
    policy = policy_of(2, {"suppress_units": {}})
    policy["tables"] = {"visits": {**policy["tables"]["visits"], "belongs_to": "units"}}
    result = fix(tables, policy, plugins=PLUGINS)
    assert result.passed
    after, before = (
        Counter(one["patient"] for one in table.to_pylist()) for table in (released(result)["visits"], tables["visits"])
    )
    assert all(before[patient] == rows for patient, rows in after.items())


def test_whole_households_go_together() -> None:
    tables = tables_of(11, 2, patients=40)
    homes = [f"h{number // 2}" for number in range(40)]
    tables["patients"] = tables["patients"].append_column("home", pa.array(homes))
    policy = policy_of(2, {"suppress_units": {}}, household="home")
    policy["tables"]["patients"]["attributes"]["home"] = {"role": "insensitive"}
    result = fix(tables, policy, plugins=PLUGINS)
    assert result.passed
    after = released(result)
    assert all(rows == 2 for rows in Counter(after["patients"]["home"].to_pylist()).values())
    assert without_orphans(after)


def test_a_table_without_rows_is_no_error_of_a_remedy() -> None:
    tables = tables_of(11, 2, patients=5)
    tables["visits"] = tables["visits"].slice(0, 0)
    result = fix(tables, policy_of(2, {"coarsen_time": {"to": "year"}}, k=20), plugins=PLUGINS)
    assert not result.passed
    assert [one.error for one in result.log.tried] == ["the table 'visits' has no rows"]


@pytest.mark.parametrize(
    "demand", [{"homogeneity": {"at_most": 0}}, {"distinct_l_diversity": {"l": 2}}, {"t_closeness": {"t": 0.3}}]
)
def test_units_with_a_secret_in_a_child_table_go_until_an_audit_passes(demand: dict[str, dict[str, Any]]) -> None:
    for seed in (3, 4):
        tables = tables_of(seed, 3, patients=40)
        draw = random.Random(seed)  # noqa: S311 - a generated table
        secrets = [draw.choice(["flu", "gout", None]) for _ in range(tables["visits"].num_rows)]
        tables["visits"] = tables["visits"].append_column("diagnosis", pa.array(secrets, pa.string()))
        ((check, parameters),) = demand.items()
        policy = policy_of(3, {"suppress_units": {}})
        policy["tables"]["visits"]["attributes"]["diagnosis"] = {"role": "sensitive"}
        policy["expect"] = [{check: {"attribute": "diagnosis", **parameters}}]
        result = fix(tables, policy, plugins=PLUGINS)
        assert result.passed
        assert audit(dict(released(result)), policy, plugins=PLUGINS).passed
        assert without_orphans(released(result))


def test_a_session_repairs_its_tables() -> None:
    tables = tables_of(11, 3, patients=40)
    with open_session(tables, policy_of(3, {"suppress_units": {}}), plugins=PLUGINS) as session:
        result = session.fix()
    assert result.passed
    assert as_sets(released(result)) == as_sets(
        released(fix(tables, policy_of(3, {"suppress_units": {}}), plugins=PLUGINS))
    )


def ages(*, of_visits: bool = True) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Patients and their visits, with the age in both tables."""
    people = pa.table({"patient": ["a", "b", "c", "d"], "age": [20, 30, 60, 70]})
    visits = pa.table({"patient": ["a", "b", "c", "d", "d"], "age": [21, 32, 61, 72, 72]})
    policy = policy_of(2)
    del policy["tables"]["visits"]["time"]
    for table in ("patients", "visits"):
        scale = "numeric" if of_visits or table == "patients" else "nominal"
        policy["tables"][table]["attributes"] = {"age": {"role": "quasi_identifier", "scale": scale}}
    return {"patients": people, "visits": visits.slice(0, 4)}, policy


def test_a_column_of_two_tables_is_recoded_alike_in_one_application() -> None:
    tables, policy = ages()
    result = fix(tables, {**policy, "remedy": [{"global_recoding": {"breaks": {"age": [50]}}}]}, plugins=PLUGINS)
    assert result.passed
    (step,) = result.log.steps
    assert step.cells == {"patients.age": 4, "visits.age": 4}
    assert step.notes == {"ranges": 4, "records": 8}
    for table in released(result).values():
        assert dict(zip(table["patient"].to_pylist(), table["age"].to_pylist(), strict=True)) == {
            "a": "<50",
            "b": "<50",
            "c": ">=50",
            "d": ">=50",
        }


def test_breaks_of_single_tables_come_first() -> None:
    tables, policy = ages()
    breaks = {"age": [50], "visits.age": [40, 65]}
    result = fix(
        tables,
        {**policy, "expect": [{"k_anonymity": {"k": 3}}], "remedy": [{"global_recoding": {"breaks": breaks}}]},
        plugins=PLUGINS,
        keep_failing=True,
    )
    (tried,) = (*result.log.steps, *result.log.tried)
    assert tried.cells == {"patients.age": 4, "visits.age": 4}
    assert tried.parameters["breaks"].keys() == {"patients.age", "visits.age"}


def test_a_column_of_two_tables_does_not_stay_finer_in_one() -> None:
    tables, policy = ages()
    alone = [{"global_recoding": {"breaks": {"visits.age": [50]}}}]
    with pytest.raises(PolicyError, match="'age' is a column of 'patients' as well, which would stay finer"):
        fix(tables, {**policy, "remedy": alone}, plugins=PLUGINS)
    tables, policy = ages(of_visits=False)  # another scale, and so no column of the same meaning
    alone = [{"global_recoding": {"breaks": {"patients.age": [50]}}}]
    assert "patients.age" in fix(tables, {**policy, "remedy": alone}, plugins=PLUGINS).log.tried[0].cells


def test_uses_are_measured_in_the_rows_of_their_table() -> None:
    tables = tables_of(11, 2, patients=60)
    draw = random.Random(1)  # noqa: S311 - a generated table
    costs = pa.array([draw.randint(1, 9) for _ in range(len(tables["visits"]))])
    tables["visits"] = tables["visits"].append_column("cost", costs)
    uses = {"counts": [{"by": ["sex"]}, {"by": ["visits.month"]}], "regressions": [{"of": "cost", "by": ["month"]}]}
    policy = policy_of(2, {"suppress_units": {}}, utility=uses, min_utility={"sex": 0.1})
    policy["tables"]["visits"]["attributes"]["cost"] = {"role": "insensitive", "scale": "numeric"}
    result = fix(tables, policy, plugins=PLUGINS)
    assert result.passed
    loss = result.log.loss
    by_sex, by_month = loss["counting_queries"]["tables"]
    before, after = (Counter(some["visits"]["month"].to_pylist()) for some in (tables, released(result)))
    errors = [(before[one] - after[one]) / before[one] for one in before]
    assert list(by_month["by"]) == ["visits.month"]
    assert by_month["value"] == pytest.approx(sum(errors) / len(errors))
    assert by_month["queries"] == len(errors)
    assert loss["tables"]["visits"]["counting_queries"]["value"] == pytest.approx(by_month["value"])
    each = [loss["tables"][name]["counting_queries"] for name in tables]
    assert loss["counting_queries"]["queries"] == sum(one["queries"] for one in each) == 5
    assert loss["counting_queries"]["value"] == pytest.approx(sum(one["value"] * one["queries"] for one in each) / 5)
    assert by_sex["queries"] == 2
    (model,) = loss["regressions"]["models"]
    assert model["records"] == {"before": len(tables["visits"]), "after": len(released(result)["visits"])}
    assert "Counts by visits.month are off by" in " ".join(result.log.utility_impact)
    jsonschema.validate(json.loads(result.after.to_json()), json.loads(result_schema()))
    refused = fix(tables, {**policy, "min_utility": {"sex": 1}}, plugins=PLUGINS)
    assert "min_utility asks for 100%" in refused.log.tried[0].error


def test_uses_of_several_tables_are_refused() -> None:
    policy = policy_of(2, utility={"counts": [{"by": ["sex", "month"]}]})
    sentence = r"utility.counts\[0\]: has columns of patients and visits, and is of the rows of one table"
    with pytest.raises(PolicyError, match=sentence):
        fix(tables_of(11, 2), policy, plugins=PLUGINS)


def test_a_highest_risk_of_whole_histories_is_repaired_as_the_k_that_it_is() -> None:
    tables, risk = tables_of(3, 2, 30), [{"reidentification_risk": {"at_most": 0.5}}]
    by_k = fix(tables, policy_of(2, {"suppress_units": {}}), plugins=PLUGINS)
    by_risk = fix(tables, {**policy_of(2, {"suppress_units": {}}), "expect": risk}, plugins=PLUGINS)
    assert by_k.passed
    assert by_risk.passed
    assert all(by_risk.released[name].equals(by_k.released[name]) for name in tables)
