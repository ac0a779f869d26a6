"""Tables next to several linked ones: counted on whole histories in plain Python, refused where that is not defined."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow import parquet

import tcdp_audit
from tcdp_audit import Outcome, PolicyError, UsageError

KNOWN = {"role": "quasi_identifier", "scale": "nominal"}
SECRET = {"role": "sensitive", "scale": "nominal"}
seeds = st.integers(0, 10**6)


class Clinic:
    """Patients with a sex, a home and a blood group, their visits with a quarter and an illness, and drugs of these."""

    def __init__(self, seed: int, people: int, *, values: str = "xyz") -> None:
        draw = random.Random(seed)  # noqa: S311 - the same clinic every time
        self.sex = {one: draw.choice("fm") for one in range(people)}
        self.home = {one: one // 2 for one in range(people)}
        self.blood = {one: draw.choice(values) for one in range(people)}
        self.visits: dict[int, tuple[int, str, str]] = {}
        self.drugs: list[tuple[int, str]] = []
        for person in range(people):
            for _ in range(draw.choice([0, 1, 1, 2])):
                visit = len(self.visits)
                self.visits[visit] = (person, draw.choice(["1", "2"]), draw.choice([*values, ""]))
                self.drugs += [(visit, draw.choice("AB")) for _ in range(draw.choice([0, 0, 1]))]

    def part(self, people: set[int]) -> Clinic:
        """The same of some people alone."""
        part = Clinic(0, 0)
        part.sex, part.home, part.blood = ({one: of[one] for one in people} for of in (self.sex, self.home, self.blood))
        part.visits = {number: one for number, one in self.visits.items() if one[0] in people}
        part.drugs = [one for one in self.drugs if one[0] in part.visits]
        return part

    @property
    def tables(self) -> dict[str, pa.Table]:
        """The tables as a program would give them, in no particular order, each link under a separate name."""
        people, visits = sorted(self.sex, key=lambda one: one * 7 % 11), [*self.visits.items()][::-1]
        text = pa.string()
        return {
            "patients": pa.table(
                {
                    "patient": pa.array([f"p{one}" for one in people], text),
                    "sex": pa.array([self.sex[one] for one in people], text),
                    "home": pa.array([f"h{self.home[one]}" for one in people], text),
                    "blood": pa.array([self.blood[one] for one in people], text),
                }
            ),
            "visits": pa.table(
                {
                    "patient": pa.array([f"p{one[0]}" for _, one in visits], text),
                    "visit": pa.array([number for number, _ in visits], pa.int64()),
                    "quarter": pa.array([one[1] for _, one in visits], text),
                    "illness": pa.array([one[2] for _, one in visits], text),
                }
            ),
            "drugs": pa.table(
                {
                    "visit": pa.array([one[0] for one in self.drugs], pa.int64()),
                    "drug": pa.array([one[1] for one in self.drugs], text),
                }
            ),
        }

    @property
    def trees(self) -> dict[int, Any]:
        """The history of each patient: the sex, and the sorted visits, each with its sorted drugs."""
        of_visit, of_person = defaultdict(list), defaultdict(list)
        for visit, drug in self.drugs:
            of_visit[visit].append(drug)
        for visit, (person, quarter, _) in self.visits.items():
            of_person[person].append((quarter, tuple(sorted(of_visit[visit]))))
        return {one: (sex, tuple(sorted(of_person[one]))) for one, sex in self.sex.items()}

    @property
    def compositions(self) -> dict[int, Any]:
        """The sorted histories of the people of each household."""
        homes = defaultdict(list)
        for person, tree in self.trees.items():
            homes[self.home[person]].append(tree)
        return {home: tuple(sorted(own)) for home, own in homes.items()}


def policy(*expect: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "unit": "patient",
        "tables": {
            "patients": {"attributes": {"sex": KNOWN, "blood": SECRET}},
            "visits": {"belongs_to": "patients", "attributes": {"quarter": KNOWN, "illness": SECRET}},
            "drugs": {"belongs_to": "visits", "by": "visit", "attributes": {"drug": KNOWN}},
        },
        "expect": list(expect),
        **more,
    }


def outcomes(release: Clinic, asked: Mapping[str, Any], **companions: Clinic) -> list[Outcome]:
    tables = {name: one.tables for name, one in companions.items()}
    return list(tcdp_audit.audit(release.tables, asked, **tables).expectations)


ON_POPULATION = (
    {"k_map": {"k": 2}},
    {"delta_presence": {"delta_max": 0.5}},
    {"population_uniqueness": {"estimator": "exact", "at_most": 0}},
    {"reidentification_risk": {"scenario": "journalist", "at_most": 0.5}},
    {"reidentification_risk": {"scenario": "marketer", "measure": "average", "at_most": 0.5}},
    {"individual_risk": {"measure": "average"}},
)


def sampled(seed: int) -> tuple[Clinic, Clinic]:
    """A release of the people of half of the households, and everyone."""
    everyone = Clinic(seed, 4 + seed % 19)
    homes = sorted(set(everyone.home.values()))
    drawn = set(random.Random(seed).sample(homes, max(1, len(homes) // 2)))  # noqa: S311 - the same one every time
    return everyone.part({one for one, home in everyone.home.items() if home in drawn}), everyone


def compare_with_population(seed: int, *, households: bool) -> None:
    """Whole histories, or compositions, of a release and its population, counted one by one."""
    sample, everyone = sampled(seed)
    more = {"household": "home"} if households else {}
    k_map, presence, unique, journalist, marketer, individual = outcomes(
        sample, policy(*ON_POPULATION, **more), population=everyone
    )
    own, people = (one.compositions if households else one.trees for one in (sample, everyone))
    f, all_of = Counter(own.values()), Counter(people.values())
    assert (k_map.observed, k_map.details["population_records"]) == (min(all_of[one] for one in f), len(people))
    assert k_map.records is not None
    assert k_map.records.failing == sum(number for one, number in f.items() if all_of[one] < 2)
    shares = [Fraction(f[one], all_of[one]) for one in all_of]
    assert (presence.observed, presence.details["least"]) == (float(max(shares)), min(shares))
    alone = [one for one, number in f.items() if number == 1]
    assert unique.details["population_uniques"] == sum(number == 1 for number in all_of.values())
    assert unique.details["sample_uniques"] == len(alone)
    if alone:
        assert unique.observed == float(Fraction(sum(all_of[one] == 1 for one in alone), len(alone)))
    mean = sum(Fraction(number, all_of[one]) for one, number in f.items()) / len(own)
    assert journalist.observed == float(Fraction(1, min(all_of[one] for one in f)))
    assert marketer.observed == float(mean)
    if households:  # people, each by the whole history
        alike, all_alike = Counter(sample.trees.values()), Counter(everyone.trees.values())
        mean = sum(Fraction(number, all_alike[one]) for one, number in alike.items()) / len(sample.trees)
    assert individual.details["exact_average"] == mean


@settings(max_examples=2)
@given(seed=seeds, households=st.booleans())
def test_histories_of_a_population_are_counted(seed: int, *, households: bool) -> None:
    compare_with_population(seed, households=households)


@pytest.mark.long
@settings(max_examples=40)
@given(seed=seeds, households=st.booleans())
def test_many_populations_are_counted(seed: int, *, households: bool) -> None:
    compare_with_population(seed, households=households)


@given(seed=seeds)
@settings(max_examples=3)
def test_what_changed_since_an_earlier_release_is_counted_by_histories(seed: int) -> None:
    now, before = sampled(seed)
    _, oldest = sampled(seed + 1)
    (outcome,) = outcomes_of_previous(now, policy({"release_differencing": {"k": 2}}), before, oldest)
    f = Counter(now.trees.values())
    apart = []
    for earlier in (before, oldest):
        was = Counter(earlier.trees.values())
        if not f.keys() & was.keys():
            assert outcome.observed is None
            assert "no class of this release overlaps" in outcome.message
            return
        apart += [abs(f[one] - was[one]) for one in f.keys() | was.keys() if f[one] != was[one]]
    assert outcome.details["differing"] == len(apart)
    assert outcome.observed == (min(apart) if apart else float("inf"))


def outcomes_of_previous(release: Clinic, asked: dict[str, Any], *earlier: Clinic) -> list[Outcome]:
    """The outcomes where earlier releases are files."""
    with TemporaryDirectory() as folder:
        places = [written(one, Path(folder) / str(number)) for number, one in enumerate(earlier)]
        return list(tcdp_audit.audit(release.tables, {**asked, "previous": places}).expectations)


def written(clinic: Clinic, folder: Path) -> dict[str, str]:
    """The files of the tables of a clinic."""
    folder.mkdir()
    for name, table in clinic.tables.items():
        parquet.write_table(table, folder / f"{name}.parquet")
    return {name: str(folder / f"{name}.parquet") for name in clinic.tables}


FOLLOWED = (
    {"m_invariance": {"m": 2, "sensitive": "patients.blood"}},
    {"composition_attack": {"at_least": 1, "sensitive": "patients.blood"}},
)


def compare_followed(seed: int) -> None:
    """People who are followed by the unit, each in the class of the whole history of that release."""
    before = Clinic(seed, 4 + seed % 13, values="xy")
    now = Clinic(seed + 1, 4 + seed % 11, values="xy")
    now.sex = {one: before.sex.get(one, sex) for one, sex in now.sex.items()}
    invariance, composition = outcomes_of_previous(now, policy(*FOLLOWED, keep_links=True), before)
    shown = []
    for one in (now, before):
        values: dict[Any, list[str]] = defaultdict(list)
        for person, tree in one.trees.items():
            values[tree].append(one.blood[person])
        shown.append({person: values[tree] for person, tree in one.trees.items()})
    both = shown[0].keys() & shown[1].keys()
    left = [len(set(shown[0][one]) & set(shown[1][one])) for one in both]
    assert composition.observed == min(left)
    changed = any(set(shown[0][one]) != set(shown[1][one]) for one in both)
    sizes = [len(own) if len(set(own)) == len(own) else 0 for of in shown for own in of.values()]
    assert invariance.observed == (0 if changed else min(sizes))
    assert invariance.details["smallest_class"] == min(sizes)


@given(seed=seeds)
@settings(max_examples=5)
def test_people_are_followed_by_the_unit_where_all_releases_have_it(seed: int) -> None:
    compare_followed(seed)


@pytest.mark.long
@given(seed=seeds)
@settings(max_examples=30)
def test_many_people_are_followed_by_the_unit(seed: int) -> None:
    compare_followed(seed)


# What is refused when the policy is read


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"holdout": "x.csv"}, "holdout: the policy has `tables:`; what a release adds to chance is measured on"),
        ({"registry": "x.csv"}, "registry: the policy has `tables:`; a registry is joined with single rows"),
        ({"key": "patients.patient"}, "key: the policy has `tables:`; rows of several tables are paired by"),
        ({"population": {"file": "x.csv"}}, "population: the policy has `tables:`; name a file of each of them"),
        ({"population": {"patients": "x.csv", "visits": "y.csv"}}, "population: names no file of 'drugs'"),
        ({"previous": [{"patients": "x.csv", "visit": "y.csv"}]}, "previous[0].visit: the policy has no table 'visit'"),
        ({"original": {"patients": 3, "visits": "y.csv", "drugs": "z.csv"}}, "original.patients: must be"),
        (
            {"scenarios": {"a": {"knows": ["sex"], "population": {"patients": "p.csv"}}}},
            "scenarios.a.population: names no file of 'visits' and 'drugs'",
        ),
        (
            {"unit": None, "tables": {"a": {"attributes": {"x": KNOWN}}, "b": {"attributes": {"x": KNOWN}}}},
            "population: tables that nothing links are compared with each other alone",
        ),
    ],
)
def test_a_companion_has_all_tables_of_the_policy(more: dict[str, Any], sentence: str) -> None:
    given = {"population": "folder"} if "unit" in more else {}
    asked = {key: one for key, one in policy({"k_anonymity": {"k": 2}}, **{**given, **more}).items() if one is not None}
    with pytest.raises(PolicyError) as error:
        tcdp_audit.audit(Clinic(1, 3).tables, asked)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("demand", "sentence"),
    [
        ({"distance_record_linkage": {"attributes": ["sex"]}}, "paired with those of the original by the unit, which"),
        ({"closest_record_share": {"attributes": ["sex"]}}, "compares the rows of one table with those of another one"),
        ({"joinability": {}}, "counts the rows of one table"),
        ({"population_uniqueness": {"estimator": "pitman"}}, "estimator: an estimator spreads a population"),
        ({"category_frequency": {}}, "attributes: it counts people, each in one row, and 'drugs.drug' and"),
        ({"region_population": {"column": "quarter"}}, "column: it counts people, each in one row, and 'visits.qua"),
        ({"m_invariance": {"sensitive": "blood"}}, "people of several tables are followed by the unit"),
        ({"composition_attack": {"sensitive": "illness"}}, "sensitive: a person may have several values of 'visits.i"),
        ({"k_map": {"known_rows": "one"}}, "known_rows: several tables are judged as whole histories"),
    ],
)
def test_what_is_not_defined_for_histories_is_a_fault_of_the_policy(demand: dict[str, Any], sentence: str) -> None:
    asked = policy(demand, previous="folder", original="folder", population="folder")
    with pytest.raises(PolicyError) as error:
        tcdp_audit.audit(Clinic(1, 3).tables, asked)
    assert sentence in str(error.value)


def test_rows_of_units_are_paired_by_an_unchanged_unit() -> None:
    """As in a policy of the table of units whose key is the unit; with columns of other tables nothing is paired."""
    draw = random.Random(4)  # noqa: S311 - the same tables every time
    numeric = {"role": "quasi_identifier", "scale": "numeric"}
    ages = {one: draw.randrange(20, 70) for one in range(40)}
    tables = {"patients": {"attributes": {"age": numeric}}, "visits": {"belongs_to": "patients"}}

    def given(most: int) -> dict[str, pa.Table]:
        people = draw.sample(range(40), 40)
        return {
            "patients": pa.table({"patient": people, "age": [ages[one] + draw.randint(-most, most) for one in people]}),
            "visits": pa.table({"patient": people}),
        }

    demand = {"distance_record_linkage": {"attributes": ["age"]}}
    asked = policy(demand, tables=tables, keep_links=True)
    original, masked = given(0), given(3)
    (outcome,) = tcdp_audit.audit(masked, asked, original=original).expectations
    flat = {"version": 1, "key": "patient", "attributes": {"patient": {"role": "insensitive"}, "age": numeric}}
    alone = tcdp_audit.audit(masked["patients"], {**flat, "expect": [demand]}, original=original["patients"])
    assert outcome.observed is not None
    assert outcome.observed == alone.expectations[0].observed > 0
    for named in ({}, {"attributes": ["visits.month"]}):
        visits = {"belongs_to": "patients", "attributes": {"month": KNOWN}}
        wrong = policy({"distance_record_linkage": named}, tables={**tables, "visits": visits}, keep_links=True)
        with pytest.raises(PolicyError, match="only the rows of the table of units are paired"):
            tcdp_audit.audit(masked, wrong, original=original)


# What only the tables decide


def fault_of(population: Mapping[str, Any], **more: Any) -> str:
    """The error of a demand on a population."""
    result = tcdp_audit.audit(Clinic(3, 6).tables, policy({"k_map": {"k": 1}}, **more), population=dict(population))
    (outcome,) = result.expectations
    assert (outcome.status.value, result.exit_code()) == ("error", 3)
    return outcome.message


def changed(column: str, values: Any, table: str = "visits") -> dict[str, Any]:
    """The tables of a clinic, one of them with another column; None for one without it."""
    tables = Clinic(3, 6).tables
    left = tables[table].drop_columns([column])
    return {**tables, table: left if values is None else left.append_column(column, values(len(left)))}


def test_a_population_that_cannot_be_compared_is_an_error() -> None:
    without = fault_of(changed("quarter", None))
    assert "column 'visits.quarter' is not in the population; the same tables and columns are compared" in without
    orphans = fault_of(changed("patient", lambda rows: pa.array(["nobody"] * rows)))
    assert "population: " in orphans
    assert "belong to no row of 'patients'" in orphans
    other = fault_of(changed("quarter", lambda rows: pa.array(["9"] * rows)))
    assert "the population lacks" in other
    small = fault_of(Clinic(3, 3).tables)
    assert "the population lacks" in small or "more records than the population" in small


def test_cells_that_are_generalised_in_another_way_are_never_taken_for_other_people() -> None:
    """Otherwise all would differ, and differences between the releases would be those of whole groups."""
    nested = {"any": {"early": {"1": None}, "late": {"2": None}}}
    tables = {
        "patients": {"attributes": {"sex": KNOWN}},
        "visits": {"belongs_to": "patients", "attributes": {"quarter": {**KNOWN, "hierarchy": nested}}},
        "drugs": {"belongs_to": "visits", "by": "visit", "attributes": {"drug": KNOWN}},
    }
    coarser = changed("quarter", lambda rows: pa.array(["early", "late"] * rows).slice(0, rows))
    message = fault_of(coarser, tables=tables)
    assert "column 'visits.quarter' is generalised in another way in the release than in the population" in message


@pytest.mark.parametrize("convention", ["wildcard", "fail"])
def test_a_missing_cell_of_a_companion_is_a_value_or_an_error(convention: str) -> None:
    lacking = changed("quarter", lambda rows: pa.array([*["1"] * (rows - 1), None]))
    message = fault_of(lacking, conventions={"missing_quasi_identifier": convention})
    assert f"`missing_quasi_identifier: {convention}` does not take for a value" in message


def test_what_changed_since_an_earlier_release_judges_no_one_who_is_alone(tmp_path: Path) -> None:
    """A release that equals the one before differs by no one, and everyone may be alone in it."""
    clinic = Clinic(5, 6)
    places = written(clinic, tmp_path / "before")
    result = tcdp_audit.audit(clinic.tables, policy({"release_differencing": {"k": 5}}, previous=places))
    linked = next(one for one in result.structure if one.check == "linked_rows")
    assert (result.expectations[0].status.value, linked.status.value) == ("passed", "failed")
    assert "which no demand judges" in linked.message


def test_rows_without_a_table_of_units_have_a_population_too() -> None:
    def visits(of: str, wards: str) -> dict[str, Any]:
        return {"visits": pa.table({"patient": [*of], "ward": [*wards]})}

    tables = {"visits": {"belongs_to": "units", "attributes": {"ward": KNOWN}}}
    asked = policy({"k_map": {"k": 2}}, tables=tables)
    everyone = visits("aabbccd", "1212113")  # {1, 2} twice, {1, 1} and {3}
    (outcome,) = tcdp_audit.audit(visits("xyy", "312"), asked, population=everyone).expectations
    assert (outcome.observed, outcome.details["population_records"]) == (1, 4)
    (outcome,) = tcdp_audit.audit(visits("yy", "12"), asked, population=everyone).expectations
    assert outcome.observed == 2


def test_a_scenario_has_a_population_of_its_own(tmp_path: Path) -> None:
    sample, everyone = sampled(12)
    scenarios = {
        "neighbour": {"knows": ["sex"], "population": written(everyone, tmp_path / "all")},
        "doctor": {"knows": ["sex", "quarter"], "population": written(sample, tmp_path / "part")},
    }
    result = tcdp_audit.audit(sample.tables, policy({"k_map": {"k": 2}}, scenarios=scenarios)).expectations
    expected = []
    for population, knows_quarters in ((everyone, False), (sample, True)):
        f, all_of = (Counter(known_of(one, quarters=knows_quarters)) for one in (sample, population))
        expected.append(min(all_of[one] for one in f))
    assert [one.observed for one in result] == expected


def known_of(clinic: Clinic, *, quarters: bool) -> list[Any]:
    """The history of each patient where drugs are not known, and quarters may be: how many there were is known."""
    drugs = Counter(visit for visit, _ in clinic.drugs)
    visits: dict[int, list[Any]] = {one: [] for one in clinic.sex}
    for visit, (person, quarter, _) in clinic.visits.items():
        visits[person].append((quarter if quarters else "", drugs[visit]))
    return [(sex, tuple(sorted(visits[one]))) for one, sex in clinic.sex.items()]


def test_rows_that_a_database_counts_are_as_many_in_both(tmp_path: Path) -> None:
    """A database gives equal rows of a unit once, with their number: two visits to a ward are not one."""
    places = []
    for name, rows in (("release", ["p1", "p1"]), ("population", ["a1", "a1", "b1"])):
        with closing(sqlite3.connect(tmp_path / name)) as database, database:
            database.execute("create table visits (patient text, ward text)")
            database.executemany("insert into visits values (?, ?)", [tuple(one) for one in rows])
        places.append({"visits": f"sqlite:///{tmp_path / name}?table=visits"})
    tables = {"visits": {"belongs_to": "units", "attributes": {"ward": KNOWN}}}
    result = tcdp_audit.audit(places[0], policy({"k_map": {"k": 2}}, tables=tables), population=places[1])
    assert (result.expectations[0].observed, result.exit_code()) == (1, 1)


def test_households_are_those_of_the_population_in_sentences() -> None:
    sample, everyone = sampled(10)
    (outcome,) = outcomes(sample, policy({"k_map": {"k": 3}}, household="home"), population=everyone)
    assert "of the population in composition by" in outcome.message
    assert "fewer than 3 households of the population" in outcome.message


def test_a_folder_or_a_mapping_names_the_tables_of_a_companion(tmp_path: Path) -> None:
    sample, everyone = sampled(12)
    places = written(everyone, tmp_path / "all")
    tables = {
        name: {**one, "file": f"{name}.parquet"} for name, one in policy({"k_anonymity": {"k": 2}})["tables"].items()
    }
    asked = policy({"k_map": {"k": 2}}, tables=tables)
    expected = tcdp_audit.audit(sample.tables, asked, population=everyone.tables).expectations[0].observed
    for place in (tmp_path / "all", places):
        assert tcdp_audit.audit(sample.tables, asked, population=place).expectations[0].observed == expected
    partly = {**asked, "population": {**places, "visits": "elsewhere.parquet"}}
    result = tcdp_audit.audit(sample.tables, partly, population={"visits": places["visits"]})
    assert result.expectations[0].observed == expected
    assert result.companions["population"].tables["visits"].records == len(everyone.visits)
    two = {name: places[name] for name in ("patients", "visits")}
    with pytest.raises(UsageError, match="no table 'drugs' of the population"):
        tcdp_audit.audit(sample.tables, policy({"k_map": {}}), population=two)
    with pytest.raises(UsageError, match="population: the policy has several tables"):
        tcdp_audit.audit(sample.tables, policy({"k_map": {}}), population="p.csv")
    with pytest.raises(UsageError, match="population: the policy has no table 'visit'; did you mean"):
        tcdp_audit.audit(sample.tables, policy({"k_map": {}}), population={"visit": "p.csv"})


def test_no_message_about_a_companion_shows_a_cell_or_a_pseudonym() -> None:
    people = pa.table({"patient": ["SECRET1", "SECRET1"], "sex": ["SECRET2", "f"], "home": ["h", "h"]})
    message = fault_of({**Clinic(3, 6).tables, "patients": people.append_column("blood", pa.array(["x", "y"]))})
    assert "SECRET" not in message
    assert "in 2 rows" in message
