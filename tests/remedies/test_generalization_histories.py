"""Generalization over linked tables, against all combinations of levels in plain Python; every result audited again."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import PolicyError, Remediation, audit, fix
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_reports.remedy.search import chart as drawn, search_of

sys.path.insert(0, str(Path(__file__).parents[1] / "repair"))
from test_fix_of_linked_tables import as_sets, policy_of, released, rows_of, tables_of, trees, without_orphans

PLUGINS = Plugins.load(external=False)
MONTHS = {"*": {"2024-H1": ["2024-01", "2024-02"], "2024-H2": ["2024-07"]}}
DRUGS = {"*": {"AB": ["A", "B"], "C": ["C"]}}
UP: Mapping[str, Sequence[Mapping[Any, str]]] = {  # what each level makes of a value; a missing sex is suppressed
    "sex": [{None: "*", "f": "f", "m": "m"}, {None: "*", "f": "*", "m": "*"}],
    "month": [
        {one: one for one in ("2024-01", "2024-02", "2024-07")},
        {"2024-01": "2024-H1", "2024-02": "2024-H1", "2024-07": "2024-H2"},
        dict.fromkeys(("2024-01", "2024-02", "2024-07"), "*"),
    ],
    "drug": [{"A": "A", "B": "B"}, {"A": "AB", "B": "AB"}, {"A": "*", "B": "*"}],
}
COST = {"2024-H1": Fraction(2, 3), "AB": Fraction(2, 3), "*": Fraction(1)}
TABLE_OF = {"sex": "patients", "month": "visits", "drug": "drugs"}


def policy_with(*remedies: Mapping[str, Any], k: int = 2, **more: Any) -> dict[str, Any]:
    policy = policy_of(3, *remedies, k=k, **more)
    known = {"role": "quasi_identifier", "scale": "nominal"}
    policy["tables"]["visits"]["attributes"]["month"] = {**known, "hierarchy": MONTHS}
    policy["tables"]["drugs"]["attributes"]["drug"] = {**known, "hierarchy": DRUGS}
    return policy


def recoded(tables: Mapping[str, pa.Table], levels: Mapping[str, int]) -> dict[str, pa.Table]:
    """The tables at one level for each column."""
    every = dict(tables)
    for column, level in levels.items():
        table = every[TABLE_OF[column]]
        cells = pa.array([UP[column][level][one] for one in table[column].to_pylist()], pa.string())
        every[TABLE_OF[column]] = table.set_column(table.column_names.index(column), column, cells)
    return every


def without(tables: Mapping[str, pa.Table], patients: set[str]) -> dict[str, pa.Table]:
    """The tables without some patients and what belongs to them."""
    rows = rows_of(tables)
    gone = {one["visit"] for one in rows["visits"] if one["patient"] in patients}
    stays = {
        name: [
            one for one in some if one.get("patient") not in patients and (name != "drugs" or one["visit"] not in gone)
        ]
        for name, some in rows.items()
    }
    return {name: pa.Table.from_pylist(some, tables[name].schema) for name, some in stays.items()}


def loss_of(tables: Mapping[str, pa.Table], left: Mapping[str, pa.Table]) -> Fraction:
    """The mean over the columns of what a cell costs, 1 for a dropped one; each over the rows of its table."""
    total = Fraction(0)
    for column, table in TABLE_OF.items():
        rows = tables[table].num_rows
        if rows:
            released_cells = sum((COST.get(one, Fraction(0)) for one in left[table][column].to_pylist()), Fraction(0))
            total += (released_cells + rows - left[table].num_rows) / rows
    return total / sum(1 for table in TABLE_OF.values() if tables[table].num_rows)


def answers(tables: Mapping[str, pa.Table], k: int, allowed: int) -> Iterator[tuple[Fraction, Mapping[str, int]]]:
    """The loss of every combination of levels that has k people alike, with few enough patients dropped."""
    for levels in product(*(range(len(UP[column])) for column in UP)):
        at = dict(zip(UP, levels, strict=True))
        if levels == tuple(len(UP[column]) - 1 for column in UP):
            continue  # nothing would be shown
        coarser = recoded(tables, at)
        histories = trees(coarser)
        sizes = Counter(histories.values())
        small = {patient for patient, own in histories.items() if sizes[own] < k}
        left = without(coarser, small)
        if len(small) <= allowed and shows_anything(left):
            yield loss_of(tables, left), at


def shows_anything(tables: Mapping[str, pa.Table]) -> bool:
    """Whether some cell is not suppressed."""
    return any({*tables[table][column].to_pylist()} - {"*", None} for column, table in TABLE_OF.items())


def proven(result: Remediation, policy: Mapping[str, Any]) -> None:
    """A result that passes is passed by a fresh audit, and has no orphan."""
    assert result.passed
    assert audit(dict(released(result)), dict(policy), plugins=PLUGINS).passed
    assert without_orphans(released(result))


def _least_of_all(seed: int, k: int, suppression: float, patients: int = 14) -> None:
    tables = tables_of(seed, 3, patients)
    remedy = {"generalization": {"suppression": suppression}}
    policy = policy_with(remedy, k=k)
    result = fix(tables, policy, plugins=PLUGINS)
    possible = list(answers(tables, k, int(Fraction(str(suppression)) * patients)))
    if not possible:
        assert not result.passed
        return
    proven(result, policy)
    if result.log.steps:
        notes = result.log.steps[0].notes
        assert notes["loss"] == pytest.approx(float(min(loss for loss, _ in possible)))
        at = {name.partition(".")[2]: level for name, (level, _) in notes["levels"].items()}
        assert float({tuple(one.items()): loss for loss, one in possible}[tuple(at.items())]) == pytest.approx(
            notes["loss"]
        )
        coarser = recoded(tables, at)
        histories = trees(coarser)
        sizes = Counter(histories.values())
        small = {patient for patient, own in histories.items() if sizes[own] < k}
        assert as_sets(released(result)) == as_sets(without(coarser, small))


@settings(max_examples=1, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.sampled_from([2, 3]), suppression=st.sampled_from([0, 0.2, 0.5]))
def test_no_other_combination_of_levels_loses_less(seed: int, k: int, suppression: float) -> None:
    _least_of_all(seed, k, suppression)


@pytest.mark.long
@pytest.mark.parametrize("suppression", [0, 0.3, 0.6])
def test_no_other_combination_of_many_releases_loses_less(suppression: float) -> None:
    for seed in range(6):
        _least_of_all(seed, 2 + seed % 2, suppression, patients=12 + seed)


# Demands on a secret


def with_diagnoses(tables: Mapping[str, pa.Table], seed: int) -> dict[str, pa.Table]:
    draw = random.Random(seed)  # noqa: S311 - a generated table
    secrets = [draw.choice(["flu", "flu", "gout", "asthma"]) for _ in range(tables["visits"].num_rows)]
    return {**tables, "visits": tables["visits"].append_column("diagnosis", pa.array(secrets, pa.string()))}


SECRETS: list[dict[str, dict[str, Any]]] = [
    {"homogeneity": {"at_most": 0}},
    {"distinct_l_diversity": {"l": 2}},
    {"t_closeness": {"t": 0.4}},
]


def policy_on(demand: Mapping[str, Mapping[str, Any]], *remedies: Mapping[str, Any]) -> dict[str, Any]:
    ((check, parameters),) = demand.items()
    policy = policy_with(*remedies)
    policy["tables"]["visits"]["attributes"]["diagnosis"] = {"role": "sensitive", "scale": "nominal"}
    policy["expect"] = [{"k_anonymity": {"k": 2}}, {check: {"attribute": "diagnosis", **parameters}}]
    return policy


def _least_of_all_audited(seed: int, demand: Mapping[str, Mapping[str, Any]]) -> None:
    """Every combination is audited by itself; nothing is dropped."""
    tables = with_diagnoses(tables_of(seed, 2, 10), seed)
    policy = policy_on(demand, {"generalization": {}})
    del policy["tables"]["drugs"]
    result = fix(tables, policy, plugins=PLUGINS)
    losses = []
    for sex, month in product(range(2), range(3)):
        coarser = recoded(tables, {"sex": sex, "month": month})
        if audit(coarser, policy, plugins=PLUGINS).passed:
            cells = [COST.get(one, 0) for one in coarser["patients"]["sex"].to_pylist()]
            months = [COST.get(one, 0) for one in coarser["visits"]["month"].to_pylist()]
            losses.append(float(Fraction(sum(cells), len(cells)) + Fraction(sum(months), len(months))) / 2)
    assert result.passed == bool(losses)
    if result.log.steps:
        proven(result, policy)
        assert result.log.steps[0].notes["loss"] == pytest.approx(min(losses))


@pytest.mark.long
@pytest.mark.parametrize("demand", SECRETS)
def test_no_combination_that_an_audit_passes_loses_less(demand: dict[str, dict[str, Any]]) -> None:
    for seed in range(4):
        _least_of_all_audited(seed, demand)


@pytest.mark.parametrize("demand", [SECRETS[0], *(pytest.param(one, marks=pytest.mark.long) for one in SECRETS[1:])])
def test_units_that_fail_on_a_secret_are_dropped_until_an_audit_passes(demand: dict[str, dict[str, Any]]) -> None:
    tables = with_diagnoses(tables_of(3, 3, 14), 3)
    policy = policy_on(demand, {"generalization": {"suppression": 0.7, "local_recoding": True}})
    proven(fix(tables, policy, plugins=PLUGINS), policy)


# Local recoding


def _locally(seed: int, k: int) -> None:
    tables = tables_of(seed, 3, 12)
    results = []
    for local in (False, True):
        remedy = {"generalization": {"suppression": 0.4, "local_recoding": local}}
        results.append(fix(tables, policy_with(remedy, k=k), plugins=PLUGINS))
    whole, finer = results
    assert whole.passed == finer.passed
    if not finer.log.steps:
        return
    proven(finer, policy_with(k=k))
    notes = finer.log.steps[0].notes
    assert notes["local_recoding"]["loss"] <= whole.log.steps[0].notes["loss"] + 1e-12
    after, before = rows_of(released(finer)), rows_of(tables)
    assert min(Counter(trees(released(finer)).values()).values()) >= k
    owner = {one["visit"]: one["patient"] for one in before["visits"]}
    for column, table in TABLE_OF.items():
        own, coarser = (cells_of(rows[table], column, owner) for rows in (before, after))
        for patient, cells in coarser.items():  # all rows of a patient are on one level
            assert any(Counter(up[one] for one in own[patient]) == Counter(cells) for up in UP[column])


def cells_of(rows: Sequence[Mapping[str, Any]], column: str, owner: Mapping[str, str]) -> dict[str, list[Any]]:
    """The cells of each patient in a column."""
    cells: dict[str, list[Any]] = {}
    for one in rows:
        cells.setdefault(one["patient"] if "patient" in one else owner[one["visit"]], []).append(one[column])
    return cells


@settings(max_examples=1, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.sampled_from([2, 3]))
def test_all_rows_of_a_unit_are_on_one_level(seed: int, k: int) -> None:
    _locally(seed, k)


@pytest.mark.long
def test_all_rows_of_many_units_are_on_one_level() -> None:
    for seed in range(4):
        _locally(seed, 2 + seed % 2)


# Columns of several tables


def ages(visits: Sequence[int] = (20, 33, 60, 71), **declared: Any) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Patients and one visit of each, with the age in both tables."""
    known = {"role": "quasi_identifier", "scale": "numeric"}
    patients = ["a", "b", "c", "d"]
    tables = {
        "patients": pa.table({"patient": patients, "age": [21, 34, 60, 64]}),
        "visits": pa.table({"patient": patients, "age": [*visits]}),
    }
    policy = {
        "version": 1,
        "unit": "patient",
        "keep_links": True,
        "tables": {
            "patients": {"attributes": {"age": known}},
            "visits": {"belongs_to": "patients", "attributes": {"age": {**known, **declared}}},
        },
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    return tables, policy


def test_a_column_of_two_tables_is_one_axis_and_gets_the_same_bins() -> None:
    tables, policy = ages()
    policy["remedy"] = [{"generalization": {"bins": {"age": [20, 40]}}}]
    result = fix(tables, policy, plugins=PLUGINS)
    proven(result, policy)
    (step,) = result.log.steps
    assert step.notes["levels"] == {"patients.age and visits.age": [1, 3]}
    assert step.cells == {"patients.age": 4, "visits.age": 4}
    assert step.notes["nodes"] == 3  # bins of 40 hold what those of 20 hold
    after = released(result)
    label = {
        name: dict(zip(table["patient"].to_pylist(), table["age"].to_pylist(), strict=True))
        for name, table in after.items()
    }
    assert label["patients"] == label["visits"]
    assert label["patients"]["c"] == "[60, 80]"  # though no patient is older than 64 in that table


@pytest.mark.parametrize(
    ("declared", "parameters", "sentence"),
    [
        ({"hierarchy": {"*": {"0-49": ["20", "33"], "50-99": ["60", "71"]}}}, {}, "have different hierarchies"),
        ({}, {"levels": {"patients.age": 0, "visits.age": 1}}, "are recoded alike; give one level for all of them"),
        ({"role": "sensitive"}, {}, "is a sensitive attribute as 'visits.age', which would stay finer"),
    ],
)
def test_a_column_that_would_not_be_recoded_alike_is_refused(
    declared: dict[str, Any], parameters: dict[str, Any], sentence: str
) -> None:
    tables, policy = ages(**declared)
    policy["remedy"] = [{"generalization": parameters}]
    (tried,) = fix(tables, policy, plugins=PLUGINS).log.tried
    assert sentence in tried.error


def test_levels_that_no_quasi_identifier_has_are_a_fault_of_the_policy() -> None:
    tables, policy = ages(role="insensitive")
    policy["remedy"] = [{"generalization": {"levels": {"visits.age": 1}}}]
    with pytest.raises(PolicyError, match=r"'visits.age' is no quasi-identifier"):
        fix(tables, policy, plugins=PLUGINS)


# Other forms of releases


def test_households_of_equal_composition_are_made_alike() -> None:
    tables = tables_of(11, 3, 24)
    homes = pa.array([f"h{number // 2:02}" for number in range(24)])
    tables["patients"] = tables["patients"].append_column("home", homes)
    remedy = {"generalization": {"suppression": 0.7, "local_recoding": True}}
    policy = policy_with(remedy, household="home")
    policy["tables"]["patients"]["attributes"]["home"] = {"role": "insensitive"}
    result = fix(tables, policy, plugins=PLUGINS)
    proven(result, policy)
    after = rows_of(released(result))["patients"]
    assert set(Counter(one["home"] for one in after).values()) == {2}
    whole = trees(released(result))
    homes_of = {}
    for one in after:
        homes_of.setdefault(one["home"], []).append(whole[one["patient"]])
    assert min(Counter(frozenset(Counter(some).items()) for some in homes_of.values()).values()) >= 2


def test_events_without_a_table_of_units_and_one_table_with_a_unit_are_recoded_alike() -> None:
    visits = tables_of(11, 2, 40)["visits"]
    policy = policy_with({"generalization": {"suppression": 0.5}}, k=7)
    month = policy["tables"]["visits"]["attributes"]["month"]
    policy["tables"] = {
        "visits": {"belongs_to": "units", "attributes": {"month": month, "visit": {"role": "insensitive"}}}
    }
    flat = {**policy, "attributes": policy["tables"]["visits"]["attributes"]}
    del flat["tables"], flat["keep_links"]
    results = [fix({"visits": visits}, policy, plugins=PLUGINS), fix(visits, flat, plugins=PLUGINS)]
    for one in results:
        assert one.passed
        histories: dict[str, list[str]] = {}
        table = one.released["visits"] if isinstance(one.released, Mapping) else one.released
        for row in table.to_pylist():
            histories.setdefault(row["patient"], []).append(row["month"])
        assert min(Counter(tuple(sorted(some)) for some in histories.values()).values()) >= 7
    assert results[0].log.steps[0].notes["loss"] == results[1].log.steps[0].notes["loss"]
    assert audit(results[1].released, flat, plugins=PLUGINS).passed


# What `fix` reaches, from its files


def _reached(seed: int, folder: Path) -> None:
    tables = with_diagnoses(tables_of(seed, 3, 14), seed)
    draw = random.Random(seed)  # noqa: S311 - a generated choice
    policy = policy_on(draw.choice(SECRETS), *draw.choice([(), ({"generalization": {"suppression": 0.5}},)]))
    del policy["keep_links"]
    result = fix(tables, policy, plugins=PLUGINS, output=folder / str(seed))
    if not result.passed:
        assert result.written is None
        return
    names = {name: folder / str(seed) / f"{name}.parquet" for name in tables}
    assert audit(names, policy, plugins=PLUGINS).passed
    after = {name: pa.parquet.read_table(path) for name, path in names.items()}
    assert without_orphans(after)
    before = {cell for name, column in LINKS for cell in tables[name][column].to_pylist()}
    assert not before & {cell for table in after.values() for column in table.columns for cell in column.to_pylist()}


LINKS = (("patients", "patient"), ("visits", "patient"), ("visits", "visit"), ("drugs", "visit"))


def test_a_result_is_passed_by_a_fresh_audit_of_its_files(tmp_path: Path) -> None:
    _reached(5, tmp_path)


@pytest.mark.long
def test_many_results_are_passed_by_fresh_audits_of_their_files(tmp_path: Path) -> None:
    for seed in range(3):
        _reached(seed, tmp_path)


def test_a_report_draws_the_combinations_with_the_share_of_people() -> None:
    tables = tables_of(5, 3, 20)
    policy = policy_with({"generalization": {"suppression": 0.6}}, unit_name="patient")
    result = fix(tables, policy, plugins=PLUGINS)
    (step,) = result.log.steps
    assert step.notes["counted"] == "patient"
    assert set(step.notes) == set(PLUGINS.remedies["generalization"].guide.notes) - {"k"}
    search = search_of(step, result.log.records)
    assert search is not None
    assert search.taken.suppressed == step.notes["suppressed"] / 20
    chart = drawn(result.log)
    assert chart is not None
    assert "the share of patients that fail there" in chart.subtitle
    assert "patients.sex, visits.month, drugs.drug" in str(chart.data)
