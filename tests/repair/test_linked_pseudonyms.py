"""New pseudonyms in all linking columns of several tables: the same links, and nothing of the old ones."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import DataError, PolicyError, Remediation, fix, load_policy, verify
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
Tables = dict[str, pa.Table]
LINKS = {
    "patients": {"patient": 0},
    "visits": {"patient": 0, "visit": 1},
    "labs": {"patient": 0},
    "drugs": {"visit": 1},
}  # the columns that link, by table, and what they stand for
PARENTS = {"visits": ("patients", "patient"), "labs": ("patients", "patient"), "drugs": ("visits", "visit")}


def policy_of(*, household: bool = False, copies: bool = False, **more: Any) -> dict[str, Any]:
    known, other = {"role": "quasi_identifier", "scale": "nominal"}, {"role": "insensitive"}
    patients: dict[str, Any] = {"sex": known, "note": other}
    drugs: dict[str, Any] = {"drug": known, **({"person": other} if copies else {})}
    return {
        "version": 1,
        "unit": "patient",
        **({"household": "home"} if household else {}),
        "tables": {
            "patients": {"attributes": patients},
            "visits": {"belongs_to": "patients", "attributes": {"month": known}},
            "labs": {"belongs_to": "patients", "attributes": {"result": other}},
            "drugs": {"belongs_to": "visits", "by": "visit", "attributes": drugs},
        },
        "expect": [{"k_anonymity": {"k": 2}}],
        **more,
    }


def tables_of(
    seed: int, *, numbers: bool = False, household: bool = False, copies: bool = False, people: int = 6
) -> Tables:
    """Random tables in which everyone has a twin; pseudonyms are drawn from a wide range, and rows shuffled."""
    draw = random.Random(seed)  # noqa: S311 - a generated table
    fresh = draw.sample(range(10_000, 60_000), 12 * people)
    called = (lambda _: fresh.pop()) if numbers else (lambda kind: f"{kind}{fresh.pop()}")
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in LINKS}
    for one in range(people):
        sex, note = draw.choice("fm"), draw.choice("xy")
        plan = [
            (draw.choice(["jan", "feb"]), [draw.choice("AB") for _ in range(draw.choice([0, 1, 2]))])
            for _ in range(draw.choice([0, 1, 1, 2]))
        ]
        results = [draw.choice("+-") for _ in range(draw.choice([0, 1]))]
        for twin in "ab":
            patient = called("u")
            home = {"home": f"h{seed % 7}{twin}{one // 2}"} if household else {}
            rows["patients"].append({"patient": patient, "sex": sex, "note": note, **home})
            rows["labs"] += [{"patient": patient, "result": result} for result in results]
            for month, drugs in plan:
                visit = called("v")
                rows["visits"].append({"patient": patient, "visit": visit, "month": month})
                copied = {"person": patient} if copies else {}
                rows["drugs"] += [{"visit": visit, "drug": drug, **copied} for drug in drugs]
    return {name: as_table(draw.sample(some, len(some)), numbers=numbers, name=name) for name, some in rows.items()}


def as_table(rows: Sequence[Mapping[str, Any]], *, numbers: bool, name: str) -> pa.Table:
    columns = {
        "patients": ["patient", "sex", "note"],
        "visits": ["patient", "visit", "month"],
        "labs": ["patient", "result"],
        "drugs": ["visit", "drug"],
    }[name]
    columns += [one for one in (rows[0] if rows else {}) if one not in columns]
    linking = {*LINKS[name], "person"}
    kinds = {one: pa.int32() if numbers and one in linking else pa.string() for one in columns}
    return pa.table({one: pa.array([row[one] for row in rows], kinds[one]) for one in columns})


def tree(tables: Mapping[str, list[dict[str, Any]]], table: str, row: Mapping[str, Any]) -> Hashable:
    """The cells of a row without its links, with the multiset of what belongs to it."""
    below = [
        frozenset(Counter(tree(tables, child, one) for one in tables[child] if one[by] == row[by]).items())
        for child, (parent, by) in PARENTS.items()
        if parent == table
    ]
    left_out = {*LINKS[table], "home", "person"}
    return (*((name, cell) for name, cell in row.items() if name not in left_out), *below)


def forest(tables: Mapping[str, pa.Table]) -> Counter[Hashable]:
    """The multiset of the trees of units, those of each household together."""
    rows = {name: table.to_pylist() for name, table in tables.items()}
    homes = defaultdict(list)
    for number, one in enumerate(rows["patients"]):
        homes[one.get("home", number)].append(tree(rows, "patients", one))
    return Counter(frozenset(Counter(some).items()) for some in homes.values())


def pseudonyms(tables: Mapping[str, pa.Table]) -> set[str]:
    cells = [
        tables[table][column].to_pylist()
        for table in tables
        for column in tables[table].column_names
        if column in ("patient", "visit", "home", "person")
    ]
    return {str(one) for some in cells for one in some}


def released(remediation: Remediation) -> Mapping[str, pa.Table]:
    assert isinstance(remediation.released, Mapping)
    return remediation.released


def renamed(tables: Tables, seed: int) -> Tables:
    """The same tables under other pseudonyms, their rows in another order."""
    draw = random.Random(seed)  # noqa: S311 - a generated order
    known = sorted({cell for table in tables.values() for name in table.column_names for cell in _linking(table, name)})
    other = dict(zip(known, draw.sample(range(60_000, 99_999), len(known)), strict=True))
    result = {}
    for name, table in tables.items():
        rows = draw.sample(table.to_pylist(), len(table))
        changed = [{k: f"u{other[v]}" if (k, v) in _pairs(table) else v for k, v in row.items()} for row in rows]
        result[name] = pa.Table.from_pylist(changed, table.schema)
    return result


def _linking(table: pa.Table, name: str) -> list[Any]:
    return table[name].to_pylist() if name in ("patient", "visit", "home", "person") else []


def _pairs(table: pa.Table) -> set[tuple[str, Any]]:
    return {(name, cell) for name in table.column_names for cell in _linking(table, name)}


def _links_stay(seed: int, *, numbers: bool, household: bool, copies: bool) -> None:
    tables = tables_of(seed, numbers=numbers, household=household, copies=copies)
    policy = policy_of(household=household, copies=copies)
    if household:
        policy["expect"] = [{"known_events": {"table": "visits", "k": 2, "m": 1}}]
    result = fix(tables, policy, plugins=PLUGINS)
    assert not result.log.steps
    assert result.log.order == "shuffled"
    after = released(result)
    assert forest(after) == forest(tables)
    assert not pseudonyms(after) & pseudonyms(tables)
    rows = {name: table.to_pylist() for name, table in after.items()}
    for child, (parent, by) in PARENTS.items():
        assert {one[by] for one in rows[child]} <= {one[by] for one in rows[parent]}
        assert len({one[by] for one in rows[parent]}) == len(rows[parent])
    if copies:
        person = {one["visit"]: one["patient"] for one in rows["visits"]}
        assert all(one["person"] == person[one["visit"]] for one in rows["drugs"])
    for name, table in after.items():
        assert table.schema.types == tables[name].schema.types
    observed = [
        [(one.check, one.status, one.observed) for one in some.outcomes] for some in (result.before, result.after)
    ]
    assert observed[0] == observed[1]
    again = released(fix(dict(after), policy, plugins=PLUGINS))
    assert all(again[name].equals(table) for name, table in after.items())
    if not numbers:
        other = released(fix(renamed(tables, seed), policy, plugins=PLUGINS))
        assert all(other[name].to_pylist() == rows[name] for name in rows)


@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 10**6), numbers=st.booleans(), household=st.booleans(), copies=st.booleans())
def test_links_stay_and_nothing_of_the_old_pseudonyms(
    seed: int,
    numbers: bool,
    household: bool,
    copies: bool,
) -> None:
    _links_stay(seed, numbers=numbers, household=household, copies=copies)


@pytest.mark.long
@pytest.mark.parametrize("household", [False, True])
def test_many_random_trees_of_tables(household: bool) -> None:
    for seed in range(8):
        _links_stay(seed, numbers=seed % 2 == 0, household=household, copies=seed % 3 == 0)


def written(folder: Path, tables: Mapping[str, pa.Table]) -> dict[str, str]:
    files = {}
    for name, table in tables.items():
        file = folder / f"{name}.csv"
        lines = [table.column_names, *([str(cell) for cell in row.values()] for row in table.to_pylist())]
        file.write_text("".join(f"{','.join(line)}\n" for line in lines), encoding="utf-8")
        files[name] = str(file)
    return files


def one_alone(tables: Tables) -> Tables:
    """The tables with one person more, who is alone."""
    added = pa.table({"patient": ["u1234567"], "sex": ["n"], "note": ["x"]})
    return {**tables, "patients": pa.concat_tables([tables["patients"], added])}


@pytest.mark.parametrize("numbers", [False, True])
def test_a_repair_names_no_old_pseudonym_in_any_file_and_is_repeated(tmp_path: Path, *, numbers: bool) -> None:
    tables = tables_of(4, numbers=numbers, copies=True)
    tables = tables if numbers else one_alone(tables)
    files = written(tmp_path, tables)
    policy = tmp_path / "clinic.tcdp.yaml"
    policy.write_text(json.dumps(policy_of(copies=True, remedy=[{"suppress_units": {}}])), encoding="utf-8")
    result = fix(files, policy, plugins=PLUGINS, output=tmp_path / "out")
    assert result.passed
    assert len(result.log.steps) == (not numbers)
    result.write(tmp_path / "report.html")
    result.write(tmp_path / "report.json")
    entry = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["change_log"]
    linking = ["drugs.person", "drugs.visit", "labs.patient", "patients.patient", "visits.patient", "visits.visit"]
    assert sorted(entry["columns_redrawn"]) == linking
    assert entry["cells_changed"].keys().isdisjoint(linking)
    after = {name: (tmp_path / "out" / f"{name}.csv").read_text(encoding="utf-8") for name in files}
    cells = {cell for text in after.values() for line in text.splitlines() for cell in line.split(",")}
    assert not cells & pseudonyms(tables)
    if not numbers:
        assert not [one for one in pseudonyms(tables) if one in (tmp_path / "report.html").read_text(encoding="utf-8")]
    assert "New pseudonyms, alike in all tables" in (tmp_path / "report.html").read_text(encoding="utf-8") or numbers
    confirmed = verify(tmp_path / "report.json", tmp_path / "out", policy=policy, before=files, plugins=PLUGINS)
    assert confirmed.is_confirmed
    alone = verify(tmp_path / "report.json", tmp_path / "out", policy=policy, plugins=PLUGINS)
    assert not alone.is_confirmed
    other = fix(files, {**policy_of(copies=True), "seed": 1}, plugins=PLUGINS).released
    assert any(other[name].to_pylist() != released(result)[name].to_pylist() for name in files)


def test_pseudonyms_that_a_policy_keeps() -> None:
    tables = one_alone(tables_of(4))
    result = fix(tables, policy_of(keep_links=True, remedy=[{"suppress_units": {}}]), plugins=PLUGINS)
    assert result.passed
    assert not result.log.redrawn
    assert pseudonyms(released(result)) == pseudonyms(tables) - {"u1234567"}
    single = {"version": 1, "attributes": {"a": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {"k": 2}}]}
    with pytest.raises(PolicyError, match="the policy has no `tables:` that columns could link"):
        load_policy({**single, "keep_links": True}, PLUGINS)


def test_a_row_that_belongs_to_no_other_gets_no_pseudonym(tmp_path: Path) -> None:
    tables = tables_of(4)
    lost = pa.table({"patient": ["u7654321", None], "result": ["+", "+"]})
    tables["labs"] = pa.concat_tables([tables["labs"], lost])
    tables["visits"] = pa.concat_tables([tables["visits"], tables["visits"].slice(0, 1)])  # twice in its table
    result = fix(tables, policy_of(), plugins=PLUGINS, output=tmp_path / "out", keep_failing=True)
    assert not result.passed
    assert "no remedy can change this" in result.log.reason
    after = released(result)
    assert not pseudonyms(after) & (pseudonyms(tables) - {"None"})
    assert after["labs"]["patient"].null_count == 2
    assert len(set(after["visits"]["visit"].to_pylist())) == len(tables["visits"]) - 1


def test_units_that_no_table_lists() -> None:
    rows = [("a7", "jan"), ("a7", "feb"), ("a3", "jan"), ("a3", "feb"), ("a5", "mar"), ("a9", "mar")]
    visits = pa.table({"patient": [one for one, _ in rows], "month": [one for _, one in rows]})
    known = {"role": "quasi_identifier", "scale": "nominal"}
    policy = {
        "version": 1,
        "unit": "patient",
        "tables": {"visits": {"belongs_to": "units", "attributes": {"month": known}}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    after = released(fix({"visits": visits}, policy, plugins=PLUGINS))["visits"].to_pylist()
    months = defaultdict(list)
    for one in after:
        months[one["patient"]].append(one["month"])
    assert sorted(map(sorted, months.values())) == [["feb", "jan"], ["feb", "jan"], ["mar"], ["mar"]]
    assert sorted(months) == ["u1", "u2", "u3", "u4"]


def test_numbers_that_a_float_cannot_count_become_text() -> None:
    tables = {
        "patients": pa.table({"patient": pa.array([2**60, 2**60 + 1]), "sex": ["f", "f"], "note": ["x", "x"]}),
        "visits": pa.table({"patient": pa.array([2**60, 2**60 + 1]), "visit": ["7", "8"], "month": ["jan", "jan"]}),
        "labs": pa.table({"patient": pa.array([], pa.int64()), "result": pa.array([], pa.string())}),
        "drugs": pa.table({"visit": pa.array([], pa.string()), "drug": pa.array([], pa.string())}),
    }
    result = fix(tables, policy_of(), plugins=PLUGINS)
    after = released(result)
    assert result.passed
    assert (
        sorted(after["patients"]["patient"].to_pylist())
        == sorted(after["visits"]["patient"].to_pylist())
        == ["u1", "u2"]
    )
    assert sorted(after["visits"]["visit"].to_pylist()) == ["u3", "u4"]


def test_pseudonyms_of_other_rows_are_refused_unless_they_are_dropped() -> None:
    tables = tables_of(4)
    patients = tables["patients"]["patient"].to_pylist()
    tables["patients"] = tables["patients"].append_column("mother", pa.array([*patients[3:], "none", "none", None]))
    policy = policy_of()
    policy["tables"]["patients"]["attributes"]["mother"] = {"role": "insensitive"}
    rows = len(patients) - 3
    with pytest.raises(
        DataError, match=rf"column 'patients\.mother' has pseudonyms that link the tables in {rows} rows"
    ):
        fix(tables, policy, plugins=PLUGINS)
    assert fix(tables, {**policy, "keep_links": True}, plugins=PLUGINS).passed
    policy["tables"]["patients"]["attributes"]["mother"] = {"role": "identifier"}
    result = fix(tables, policy, plugins=PLUGINS)
    assert result.passed
    assert released(result)["patients"].column_names == ["patient", "sex", "note"]
