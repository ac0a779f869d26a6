"""New pseudonyms for each row or window of linked tables: units become parts, each with a row in the table of units."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import PolicyError, audit, fix
from tcdp_audit.core.auditor.evaluation import Options
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit.core.repair.fixing import _loss_of_tables
from tcdp_audit.core.repair.linked_loop import LinkedLoop
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import open_inputs
from tests.repair.test_fix_of_linked_tables import flat_as_two, one_table, released, trees, without_orphans

PLUGINS = Plugins.load(external=False)
REMEDY = PLUGINS.remedies["redraw_pseudonym"]
KNOWN = {"role": "quasi_identifier", "scale": "nominal"}
OTHER = {"role": "insensitive"}
Tables = dict[str, pa.Table]


def policy_of(*remedies: Mapping[str, Any], k: int = 2, **more: Any) -> dict[str, Any]:
    visits = {"belongs_to": "patients", "time": "month", "attributes": {"month": {"role": "quasi_identifier"}}}
    return {
        "version": 1,
        "unit": "patient",
        "tables": {
            "patients": {"attributes": {"sex": KNOWN}},
            "visits": visits,
            "drugs": {"belongs_to": "visits", "by": "visit", "attributes": {"drug": KNOWN}},
        },
        "expect": [{"k_anonymity": {"k": k}}],
        **({"remedy": list(remedies)} if remedies else {}),
        **more,
    }


def tables_of(seed: int, *, numbers: bool = False, patients: int = 12) -> Tables:
    draw = random.Random(seed)  # noqa: S311 - a generated table
    people, visits, drugs = [], [], []
    for one in draw.sample(range(1000), patients):
        patient = one if numbers else f"p{one}"
        people.append((patient, draw.choice("fm")))
        for _ in range(draw.choice([0, 1, 2, 3])):
            visit = f"v{len(visits)}"
            visits.append((patient, visit, f"2024-{draw.choice([1, 2, 4, 7]):02}"))
            drugs += [(visit, draw.choice("AB")) for _ in range(draw.choice([0, 1, 2]))]
    kind = pa.int64() if numbers else pa.string()
    return {
        "patients": as_table(people, patient=kind, sex=pa.string()),
        "visits": as_table(visits, patient=kind, visit=pa.string(), month=pa.string()),
        "drugs": as_table(drugs, visit=pa.string(), drug=pa.string()),
    }


def as_table(rows: list[tuple[Any, ...]], **kinds: pa.DataType) -> pa.Table:
    return pa.table({name: pa.array([row[at] for row in rows], kinds[name]) for at, name in enumerate(kinds)})


def divided(tables: Tables, policy: Mapping[str, Any], **parameters: Any) -> tuple[Tables, Mapping[str, Any], Any]:
    """The tables after the remedy, its notes, and the loss."""
    with (
        open_inputs(tables, policy, None, None, PLUGINS, Options(None)) as inputs,
        LinkedLoop(inputs, _loss_of_tables) as loop,
    ):
        start = loop.start(())
        chosen = REMEDY.parameters(**parameters)
        view = loop._view(start, "visits")
        treatment = REMEDY.apply(view, chosen)
        after = loop._treated(start, treatment, "visits")
        with after.opened as opened:
            loss = loop.loss_of(after)
            assert opened.rows == sum(one.num_rows for one in tables.values())
            return dict(opened.tables), treatment.notes, loss.as_json()


def slowly_divided(tables: Tables, months: int | None) -> Counter[Hashable]:
    """The trees of the parts of units: of each visit, or of those in a window of so many months."""
    whole = trees(tables)
    rows = {name: table.to_pylist() for name, table in tables.items()}
    parts: Counter[Hashable] = Counter()
    for person in rows["patients"]:
        windows = defaultdict(list)
        for at, visit in enumerate(rows["visits"]):
            if visit["patient"] == person["patient"]:
                windows[at if months is None else (int(visit["month"][5:]) - 1) // months].append(visit)
        if not windows:
            parts[whole[person["patient"]]] += 1
        for visits in windows.values():
            part = pa.Table.from_pylist(visits, tables["visits"].schema)
            parts[trees({**tables, "visits": part})[person["patient"]]] += 1
    return parts


def _parts_are_those_of_plain_python(seed: int, months: int | None, *, numbers: bool) -> None:
    tables = tables_of(seed, numbers=numbers)
    width = {1: "month", 3: "quarter", 6: "half_year"}
    asked = {"per": "row"} if months is None else {"per": "window", "width": width[months]}
    expected = slowly_divided(tables, months)
    if sum(expected.values()) == len(tables["patients"]):
        with pytest.raises(RemedyError, match="no patient has rows in two windows"):
            divided(tables, policy_of(), **asked)
        return
    after, notes, loss = divided(tables, policy_of(), **asked)
    assert Counter(trees(after).values()) == expected
    assert without_orphans(after)
    assert len(set(after["patients"]["patient"].to_pylist())) == len(after["patients"])
    with_visits = set(tables["visits"]["patient"].to_pylist())
    assert len(after["patients"]) == notes["pseudonyms"] + len(tables["patients"]) - len(with_visits)
    assert notes["units"] == len(with_visits)
    assert not set(after["visits"]["patient"].to_pylist()) & set(tables["patients"]["patient"].to_pylist())
    assert [loss["tables"]["patients"][name] for name in ("records", "records_suppressed", "total")] == [12, 0, 0]
    pairs = [Counter(some["visits"]["patient"].to_pylist()).values() for some in (tables, after)]
    links = loss["tables"]["visits"]["links"]
    assert [links["before"], links["after"]] == [sum(one * (one - 1) // 2 for one in some) for some in pairs]
    assert loss["total"] > 0


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6), months=st.sampled_from([None, 1, 3, 6]), numbers=st.booleans())
def test_parts_are_those_of_plain_python(seed: int, months: int | None, numbers: bool) -> None:
    _parts_are_those_of_plain_python(seed, months, numbers=numbers)


@pytest.mark.long
def test_many_parts_are_those_of_plain_python() -> None:
    for seed in range(24):
        _parts_are_those_of_plain_python(seed, (None, 1, 3, 6)[seed % 4], numbers=seed % 3 == 0)


def golden_policy(remedy: Mapping[str, Any], k: int, *, listed: bool) -> dict[str, Any]:
    known = {"role": "quasi_identifier"}
    attributes = {"month": known, "ward": known, "diagnosis": {"role": "insensitive"}}
    visits = {"belongs_to": "patients" if listed else "units", "time": "month", "attributes": attributes}
    return {
        "version": 1,
        "unit": "patient",
        "tables": {**({"patients": {}} if listed else {}), "visits": visits},
        "expect": [{"k_anonymity": {"k": k}}],
        "remedy": [{"redraw_pseudonym": remedy}],
    }


@pytest.mark.parametrize("listed", [True, False])
def test_golden_numbers(*, listed: bool) -> None:  # DEFINITIONS, section 9: k, units alone, classes
    tables = flat_as_two(one_table())
    tables = tables if listed else {"visits": tables["visits"]}
    rows = fix(tables, golden_policy({"per": "row"}, 169, listed=listed), plugins=PLUGINS)
    assert rows.passed
    after = released(rows)
    assert all(len(table) == 4977 for table in after.values())
    assert figures_of(after["visits"]) == (176, 0, 24)
    assert not set(after["visits"]["patient"].to_pylist()) & set(tables["visits"]["patient"].to_pylist())
    assert rows.log.suppressed == 0
    windows = golden_policy({"per": "window", "width": "half_year"}, 2, listed=listed)
    (tried,) = fix(tables, windows, plugins=PLUGINS).log.tried
    assert tried.notes == {"pseudonyms": 3062, "units": 2000, "divided": 1062}
    (outcome,) = (one for one in tried.outcomes if one.check == "linked_rows")
    assert outcome.details["units"] == 3062
    assert outcome.details["whole_histories"] == {"k": 1, "classes": 514, "alone": 271}


def figures_of(visits: pa.Table) -> tuple[int, int, int]:
    histories = defaultdict(list)
    for one in visits.to_pylist():
        histories[one["patient"]].append((one["month"], one["ward"]))
    sizes = Counter(tuple(sorted(rows)) for rows in histories.values()).values()
    return min(sizes), sum(one == 1 for one in sizes), len(sizes)


def clinic(rows: list[tuple[int, str]], **columns: list[Any]) -> Tables:
    """Women with visits in months; no drugs."""
    people = sorted({patient for patient, _ in rows})
    return {
        "patients": pa.table({"patient": people, "sex": ["f"] * len(people)}),
        "visits": pa.table(
            {
                "patient": [patient for patient, _ in rows],
                "visit": [f"v{number}" for number in range(len(rows))],
                "month": [month for _, month in rows],
                **columns,
            }
        ),
        "drugs": pa.table({"visit": pa.array([], pa.string()), "drug": pa.array([], pa.string())}),
    }


ALONE = [*[(1, "2024-01")] * 5, (2, "2024-01"), *((patient, "2024-07") for patient in (1, 3, 4, 5, 6))]


@pytest.mark.parametrize(
    ("demand", "sentence"),
    [
        ({"k_anonymity": {"k": 5}}, "1 class would have 5 or more new pseudonyms of fewer units"),
        ({"reidentification_risk": {"at_most": 0.2}}, "reidentification_risk would count new pseudonyms"),
        ({"known_events": {"table": "visits", "m": 1, "k": 5}}, "1 class would have 5 or more new pseudonyms of few"),
        ({"unicity": {"table": "visits", "points": 1, "at_most": 0}}, "unicity would count new pseudonyms, and not"),
        ({"distinct_l_diversity": {"attribute": "diagnosis", "l": 2}}, "distinct_l_diversity would count new"),
    ],
)
def test_parts_of_one_unit_do_not_hide_each_other(demand: dict[str, Any], sentence: str) -> None:
    policy = policy_of({"redraw_pseudonym": {"per": "row"}})
    policy["tables"]["visits"]["attributes"]["diagnosis"] = {"role": "sensitive"}
    policy["expect"] = [demand, {"k_anonymity": {"k": 2}}]
    result = fix(clinic(ALONE, diagnosis=[*"abababababa"]), policy, plugins=PLUGINS)
    assert not result.passed
    assert not result.log.steps
    assert sentence in result.log.tried[0].error


def test_a_demand_on_a_secret_holds_where_no_class_has_two_parts_of_a_unit() -> None:
    months = [(1, 2), (2, 3), (1, 3)]
    rows = [(patient, f"2024-0{month}") for patient in range(1, 7) for month in months[patient % 3]]
    policy = policy_of({"redraw_pseudonym": {"per": "row"}}, k=3)
    policy["tables"]["visits"]["attributes"]["diagnosis"] = {"role": "sensitive"}
    policy["expect"].append({"distinct_l_diversity": {"attribute": "diagnosis", "l": 2}})
    tables = clinic(rows, diagnosis=[*"abbcacbcabca"])
    share = {"homogeneity": {"attribute": "diagnosis", "at_most": 0.5}}
    refused = fix(tables, {**policy, "expect": [*policy["expect"], share]}, plugins=PLUGINS)
    assert refused.log.tried[0].error.startswith("homogeneity would count new pseudonyms")  # they are a share of them
    share["homogeneity"]["at_most"] = 0
    policy["expect"].append(share)
    result = fix(tables, policy, plugins=PLUGINS)
    assert [one.remedy for one in result.log.steps] == ["redraw_pseudonym"]
    assert result.passed
    assert audit(dict(released(result)), policy, plugins=PLUGINS).passed
    assert len(released(result)["patients"]) == 12
    assert "of 6 pairs of rows of visits that patients.patient joined, none is joined any more" in result.log.cost


@pytest.mark.parametrize(
    ("table", "name", "cells", "sentence"),
    [
        ("visits", "case", lambda row: f"c{row['patient']}", "'visits.case' joins rows of one patient as well"),
        ("patients", "case", lambda row: f"c{row['patient']}", "'patients.case' joins rows of one unit as well"),
        ("drugs", "case", lambda row: "c" + row["visit"][1:2], "'drugs.case' joins rows of one unit as well"),
        ("visits", "copy", lambda row: row["patient"], "'visits.copy' joins rows of one patient as well"),
    ],
)
def test_what_joins_the_parts_is_named(table: str, name: str, cells: Any, sentence: str) -> None:
    tables = tables_of(3)
    if table == "drugs":  # one for each patient
        owner = {one["visit"]: one["patient"] for one in tables["visits"].to_pylist()}
        column = [f"c{owner[one['visit']]}" for one in tables["drugs"].to_pylist()]
    else:
        column = [str(cells(one)) for one in tables[table].to_pylist()]
    tables[table] = tables[table].append_column(name, pa.array(column))
    policy = policy_of()
    policy["tables"][table]["attributes"][name] = OTHER
    with pytest.raises(RemedyError, match=sentence):
        divided(tables, policy, per="row")


def test_a_copy_of_the_pseudonym_in_another_table_is_named() -> None:
    tables = tables_of(3)
    owner = {one["visit"]: one["patient"] for one in tables["visits"].to_pylist()}
    copies = [owner[one["visit"]] for one in tables["drugs"].to_pylist()]
    tables["drugs"] = tables["drugs"].append_column("patient", pa.array(copies))
    policy = policy_of()
    policy["tables"]["drugs"]["attributes"]["patient"] = OTHER
    with pytest.raises(RemedyError, match=r"'drugs\.patient' repeats the pseudonyms of units; drop it first"):
        divided(tables, policy, per="row")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"household": "home"}, "a household of several tables stays whole"),
        ({"labs": True}, "rows of 'labs' and 'visits' belong to units"),
        ({"timeless": True}, "windows are windows of time"),
        ({"table": "drugs"}, "it can act on none of the policy's tables"),
    ],
)
def test_what_a_policy_cannot_say(change: Mapping[str, Any], sentence: str) -> None:
    table = {"table": change["table"]} if "table" in change else {}
    policy = policy_of({"redraw_pseudonym": {"per": "window", "width": "year", **table}})
    if "household" in change:
        policy["household"] = "home"
    if "labs" in change:
        policy["tables"]["labs"] = {"belongs_to": "patients", "attributes": {"result": OTHER}}
    if "timeless" in change:
        del policy["tables"]["visits"]["time"]
    with pytest.raises(PolicyError, match=sentence):
        fix(tables_of(3), policy, plugins=PLUGINS)


def test_a_plan_weighs_what_is_no_longer_joined() -> None:
    tables = tables_of(5, patients=60)
    del (policy := policy_of())["tables"]["drugs"]
    del tables["drugs"]
    policy["tables"]["visits"]["attributes"]["visit"] = OTHER
    log = fix(tables, policy, plugins=PLUGINS).log
    tried = {one.remedy: one for one in (*log.steps, *log.tried)}
    assert tried["redraw_pseudonym"].parameters["table"] == "visits"
    assert all(one.loss for one in log.tried if one.remedy == "redraw_pseudonym" and one.outcomes)


def test_missing_cells_of_one_unit_are_released_as_those_of_another() -> None:
    tables = clinic([(1, "2024-01"), (1, "2024-01"), *((patient, "2024-01") for patient in (2, 3, 4, 5))])
    tables["patients"] = tables["patients"].set_column(1, "sex", pa.array([None, "*", "f", "f", "f"]))
    result = fix(tables, policy_of({"redraw_pseudonym": {"per": "row"}}, k=3), plugins=PLUGINS)
    assert not result.passed
    assert "1 class would have 3 or more new pseudonyms of fewer units" in result.log.tried[0].error
