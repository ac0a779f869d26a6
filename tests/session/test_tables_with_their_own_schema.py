"""Tables next to a release with names and codes of their own: each outcome is that of tables rewritten before.

The twin renames and recodes cell by cell, in plain Python, before the audit.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tcdp_audit import audit
from tcdp_audit.core.base.errors import DataError, UsageError
from tcdp_audit.core.policy.source import parse_yaml
from tcdp_audit.core.results.strict_json import faults
from tcdp_audit.core.session.registry import Plugins

Rows = list[dict[str, Any]]
PLUGINS = Plugins.load(external=False)
SEEDS = {"csv": 6, "parquet": 4, "frame": 6, "duckdb": 1}
SCALES = {"age": "numeric", "sex": "nominal", "zip": "nominal", "education": "nominal"}
ATTRIBUTES = {
    "id": {"role": "insensitive"},
    **{name: {"role": "quasi_identifier", "scale": scale} for name, scale in SCALES.items()},
    "disease": {"role": "sensitive", "scale": "nominal"},
    "salary": {"role": "sensitive", "scale": "numeric"},
}
VALUES = {"sex": ["M", "F", ""], "zip": ["130", "131", "200"], "education": ["low", "high"], "disease": ["flu", "gout"]}
MORE: list[dict[str, Any]] = [
    {"population_uniqueness": {"at_most": 0.3}},
    {"reidentification_risk": {"scenario": "journalist", "at_most": 0.2}},
    {"reidentification_risk": {"scenario": "marketer", "measure": "average", "at_most": 0.2}},
    {"joinability": {"at_most": 0.1}},
    {"exact_match_rate": {}},
    {"singling_out": {}},
    {"t_closeness": {"t": 0.2, "attribute": "disease"}},
]


def asked() -> list[dict[str, Any]]:
    """The example of each check that reads a table next to the release, and others."""
    checks = (one for _, one in sorted(PLUGINS.checks.items()) if one.requires)
    return [*(one for check in checks for one in parse_yaml(str(check.guide.example)).data), *MORE]


def rows_of(random_: random.Random, records: int, start: int = 0) -> Rows:
    return [
        {
            "id": start + number,
            "age": random_.randint(20, 24),
            **{name: random_.choice(values) for name, values in VALUES.items()},
            "salary": random_.randint(0, 5) * 1000,
        }
        for number in range(records)
    ]


class Foreign:
    """A schema of a file: other names for some columns, other codes for some values."""

    def __init__(self, random_: random.Random) -> None:
        renamed = random_.sample([*ATTRIBUTES], random_.randint(0, 4))
        names = random_.sample([*renamed, "years", "gender", "plz", "school", "pay", "number", "dx"], len(renamed))
        taken = {*ATTRIBUTES} - {*renamed}
        self.columns = {own: name for own, name in zip(renamed, names, strict=True) if name not in taken}
        if len({*self.columns.values()} & ({*ATTRIBUTES} - {*self.columns})):
            self.columns = {}
        self.codes: dict[str, dict[str, Any]] = {}
        for name in random_.sample([*VALUES], random_.randint(0, 3)):
            codes = random_.sample(range(1, 20), 2 * len(VALUES[name]))
            named = [value for value in VALUES[name] if value and random_.random() < 0.9]
            self.codes[name] = {
                value: codes[2 * place] if random_.random() < 0.5 else codes[2 * place : 2 * place + 2]
                for place, value in enumerate(named)
            }
        self.codes = {name: codes for name, codes in self.codes.items() if codes}
        self._random = random_

    def declared(self, file: str) -> dict[str, Any]:
        return {"file": file, "columns": self.columns, "codes": self.codes}

    def written(self, rows: Rows) -> Rows:
        return [{self.columns.get(name, name): self._cell(name, cell) for name, cell in row.items()} for row in rows]

    def _cell(self, name: str, cell: Any) -> Any:
        codes = self.codes.get(name, {}).get(cell, cell)
        return str(self._random.choice(codes) if isinstance(codes, list) else codes) if name in self.codes else cell


def table(rows: Rows) -> pa.Table:
    return pa.table({name: [row[name] for row in rows] for name in rows[0]})


def write(kind: str, rows: Rows, place: Path) -> str:
    """Write a table, and give its address."""
    kind = "csv" if kind == "frame" else kind
    if kind == "csv":
        pyarrow.csv.write_csv(table(rows), place.with_suffix(".csv"))
        return str(place.with_suffix(".csv"))
    if kind == "parquet":
        pq.write_table(table(rows), place.with_suffix(".parquet"))
        return str(place.with_suffix(".parquet"))
    path = place.with_suffix(".db")
    path.unlink(missing_ok=True)
    with duckdb.connect(path) as connection:
        connection.register("given", table(rows))
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return f"duckdb:///{path}?table=people"


def policy_of(tables: Mapping[str, Any], expect: Sequence[Any], **further: Any) -> dict[str, Any]:
    reference = {"conventions": {"reference": "original"}} if "original" in tables else {}
    return {"version": 1, "attributes": ATTRIBUTES, "expect": [*expect], **tables, **reference, **further}


def outcomes(release: Any, policy: Mapping[str, Any], **tables: Any) -> list[dict[str, Any]]:
    result = json.loads(audit(release, policy, **tables).render(".json"))
    return [
        {name: one for name, one in each.items() if name != "details"} | each["details"] for each in result["outcomes"]
    ]


def compare(kind: str, seed: int, folder: Path) -> None:
    """Audit with tables in their own schema, and with the same tables renamed and recoded before."""
    random_ = random.Random(seed)  # noqa: S311 - a seed repeats it
    population = rows_of(random_, 60)
    release = population[:20]
    further = {
        "population": population,
        "registry": population[10:40],
        "original": [{**row, "salary": row["salary"] + random_.randint(0, 1)} for row in release],
        "holdout": rows_of(random_, 25, 1000),
    }
    theirs, ours, frames = {}, {}, {}
    for name, rows in further.items():
        schema = Foreign(random_)
        written = schema.written(rows)
        theirs[name] = schema.declared(write(kind, written, folder / f"{name}-theirs"))
        ours[name] = write(kind, rows, folder / name)
        if kind == "frame" and name in ("original", "population"):
            frames[name] = pd.DataFrame(written)
            del theirs[name]["file"]
    earlier = [[*release[5:], *rows_of(random_, 5, 500)], release[:15]]
    schemas = [Foreign(random_), Foreign(random_)]
    pairs = [*zip(schemas, earlier, strict=True)]
    written = [write(kind, one.written(rows), folder / f"t{number}") for number, (one, rows) in enumerate(pairs)]
    theirs["previous"] = [one.declared(place) for one, place in zip(schemas, written, strict=True)]
    ours["previous"] = [write(kind, rows, folder / f"o{number}") for number, rows in enumerate(earlier)]
    released = table(release)

    mapped = outcomes(released, policy_of(theirs, asked(), key="id"), **frames)
    plain = outcomes(released, policy_of(ours, asked(), key="id"))

    assert {one["status"] for one in plain if one["check"] != "wrong_scale"} >= {"passed", "failed"}
    for one, other in zip(mapped, plain, strict=True):
        if one.pop("unnamed", None) or one.pop("absent", None):
            one["message"] = one["message"].partition(" In the ")[0].partition("; in the ")[0]
        assert one == other


@pytest.mark.long
@pytest.mark.parametrize("kind", [*SEEDS])
def test_every_outcome_is_that_of_tables_renamed_and_recoded_before(kind: str, tmp_path: Path) -> None:
    for seed in range(SEEDS[kind]):
        compare(kind, seed, tmp_path)


def test_columns_that_files_lack_are_as_if_no_one_knew_them(tmp_path: Path) -> None:
    """The twin declares them insensitive; checks whose expectation names columns are left out."""
    random_ = random.Random(5)  # noqa: S311 - a seed repeats it
    population = rows_of(random_, 60)
    release, without = population[:20], ("zip", "education")
    further = {"population": population, "registry": population[10:40], "original": release, "previous": release[3:]}
    further["holdout"] = rows_of(random_, 25, 1000)
    tables = {}
    for name, rows in further.items():
        left = [{key: cell for key, cell in row.items() if key not in without} for row in rows]
        tables[name] = write("csv", left, tmp_path / name)
    unnamed = [{name: {key: one for key, one in (given or {}).items() if key not in NAMING}} for name, given in EACH]
    insensitive = {**ATTRIBUTES, **{name: {"role": "insensitive"} for name in without}}
    declared = {name: {"file": place} for name, place in tables.items()}

    lacking = outcomes(table(release), policy_of(declared, unnamed, key="id"))
    twin = outcomes(table(release), policy_of(tables, unnamed, key="id", attributes=insensitive))

    compared = 0
    for one, other in zip(lacking, twin, strict=True):
        if "compared_by" in one:
            compared += 1
            assert one.pop("compared_by") == ["age", "sex"]
            assert all(sorted(names) == ["education", "zip"] for names in one.pop("lacking").values())
            one["message"] = one["message"].partition(" Compared by ")[0]
            assert one == other
    assert compared > 15


NAMING = ("attributes", "other_attributes")
EACH = [next(iter(one.items())) for one in asked() if not {"linkability", "k_confusion"} & one.keys()]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_generalised_cells_are_compared_with_exact_values(seed: int, tmp_path: Path) -> None:
    """The twin generalises the tables next to the release before."""
    random_ = random.Random(seed)  # noqa: S311 - a seed repeats it
    cuts = sorted({20, 26, *random_.sample(range(21, 26), 2)})
    ranges = {age: f"[{low}, {high})" for low, high in pairwise(cuts) for age in range(low, high)}
    tree = {"1": {"13*": ["130", "131"], "20*": ["200"]}}
    nodes = {"130": "13*", "131": "13*", "200": random_.choice(["20*", "200"])}

    def generalised(rows: Rows) -> Rows:
        return [{**row, "age": ranges[row["age"]], "zip": nodes[row["zip"]]} for row in rows]

    attributes = {**ATTRIBUTES, "zip": {**ATTRIBUTES["zip"], "hierarchy": tree}}
    population = rows_of(random_, 80)
    release = generalised(population[:25])
    further = {"population": population, "registry": population[5:40], "original": population[:25]}
    theirs, ours = {}, {}
    for name, rows in further.items():
        schema = Foreign(random_)
        schema.codes.pop("zip", None)
        theirs[name] = schema.declared(write("csv", schema.written(rows), tmp_path / f"{name}-theirs"))
        ours[name] = write("csv", generalised(rows), tmp_path / name)
    equal = [one for one in [*MORE, *asked()] if {*one} & COMPARED_ALIKE]

    mapped = outcomes(table(release), policy_of(theirs, equal, key="id", attributes=attributes))
    plain = outcomes(table(release), policy_of(ours, equal, key="id", attributes=attributes))

    judged = [one for one in plain if one["check"] in COMPARED_ALIKE]
    assert len(judged) > 8
    assert all(one["status"] != "error" for one in judged)
    for one, other in zip(mapped, plain, strict=True):
        if one.pop("unnamed", None) or one.pop("absent", None):
            one["message"] = one["message"].partition(" In the ")[0]
        assert one == other


COMPARED_ALIKE = {
    *("k_map", "delta_presence", "population_uniqueness", "reidentification_risk", "individual_risk"),
    *("category_frequency", "region_population", "joinability", "exact_match_rate"),
}


PEOPLE = [
    {"age": age, "sex": sex, "zip": place}
    for age, sex, place in [
        (21, "M", "1"),
        (23, "M", "1"),
        (34, "F", "1"),
        (38, "F", "2"),
        (21, "F", "2"),
        (52, "M", "2"),
    ]
]
SMALL = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "sex": {"role": "quasi_identifier", "scale": "nominal"},
    "zip": {"role": "quasi_identifier", "scale": "nominal"},
}
SEX = {"M": 1, "F": [2, 3]}


def small(**tables: Any) -> dict[str, Any]:
    return {"version": 1, "attributes": SMALL, "expect": [{"k_map": {"k": 2}}], **tables}


def the_outcome(release: Rows, policy: Mapping[str, Any], **tables: Any) -> Any:
    (one,) = audit(table(release), policy, **tables).expectations
    return one


def in_their_words(rows: Rows, *left_out: str) -> pa.Table:
    """The people by years, gender (1, 2 or 3) and zip."""
    codes = {"M": "1", "F": "2"}
    written = [{"years": row["age"], "gender": codes[row["sex"]], "zip": row["zip"]} for row in rows]
    return table([{name: cell for name, cell in row.items() if name not in left_out} for row in written])


def test_a_column_that_the_file_lacks_is_not_known_and_the_outcome_says_so() -> None:
    schema = {"columns": {"age": "years", "sex": "gender"}, "codes": {"sex": SEX}}
    one = the_outcome(PEOPLE[:4], small(population=schema), population=in_their_words(PEOPLE, "zip"))

    assert one.observed == 1
    assert one.details["compared_by"] == ["age", "sex"]
    assert one.details["lacking"] == {"population": ["zip"]}
    assert one.known == ("age", "sex")
    assert one.message.endswith("Compared by 'age' and 'sex'; the population has no column for 'zip'.")


def test_a_column_that_the_file_lacks_is_an_error_where_no_schema_is_declared(tmp_path: Path) -> None:
    place = write("csv", [{"age": 21, "sex": "M"}] * 3, tmp_path / "population")

    one = the_outcome(PEOPLE[:1], small(population=place))

    assert one.status.value == "error"
    assert "if it has another name there, or none, say so as `population: {file: …, columns: {zip: …}}`" in one.message


def test_a_file_without_any_quasi_identifier_is_an_error() -> None:
    one = the_outcome(PEOPLE, small(population={"columns": {}}), population=table([{"other": 1}] * 9))

    assert one.status.value == "error"
    assert one.message.startswith("policy: population: no quasi-identifier is a column of population")


def test_a_column_that_an_expectation_names_is_never_left_out() -> None:
    policy = small(registry={"file": "unused.csv", "columns": {"age": "years"}})
    policy |= {"expect": [{"joinability": {"at_most": 1, "attributes": ["age", "zip"]}}]}
    with pytest.raises(UsageError):
        the_outcome(PEOPLE, policy)
    policy |= {"registry": None, "population": {"columns": {"age": "years"}}}
    policy["expect"] = [{"category_frequency": {"at_least": 1, "attributes": ["age", "zip"]}}]

    one = the_outcome(PEOPLE, policy, population=in_their_words(PEOPLE, "zip"))

    assert one.status.value == "error"
    assert one.message.startswith("policy: population: column 'zip' is not in population; name its column under")


@pytest.mark.parametrize(
    ("codes", "strange"),
    [
        pytest.param({"M": 1, "F": 2}, {}, id="every code is named"),
        pytest.param({"M": 1}, {"unnamed": {"population": {"sex": 3}}}, id="a code is not named"),
        pytest.param({"male": 1, "F": 2}, {"absent": {"population": {"sex": 3}}}, id="the release has no such value"),
    ],
)
def test_values_that_the_release_does_not_have_are_counted(codes: dict[str, Any], strange: dict[str, Any]) -> None:
    schema = {"columns": {"age": "years", "sex": "gender"}, "codes": {"sex": codes}}
    policy = small(population=schema) | {"expect": [{"category_frequency": {}}]}

    one = the_outcome(PEOPLE, policy, population=in_their_words(PEOPLE))

    assert {key: value for key, value in one.details.items() if key in ("unnamed", "absent")} == strange
    assert ("In the population, 3 records have a value of 'sex' that" in one.message) == bool(strange)


def test_an_error_says_which_values_no_code_names() -> None:
    schema = {"columns": {"age": "years", "sex": "gender"}, "codes": {"sex": {"M": 1}}}

    one = the_outcome(PEOPLE[:4], small(population=schema), population=in_their_words(PEOPLE))

    assert one.status.value == "error"
    assert one.message.endswith(
        "; in the population, 3 records have a value of 'sex' that no code names and that the release does not have"
    )


def test_ranges_of_the_release_are_compared_with_numbers() -> None:
    released = [{**row, "age": "[20, 30)" if row["age"] < 30 else "[30, 40)"} for row in PEOPLE[:4]]
    schema = {"columns": {"age": "years", "sex": "gender"}, "codes": {"sex": SEX}}

    one = the_outcome(released, small(population=schema), population=in_their_words(PEOPLE))
    fewer = the_outcome(released, small(population=schema), population=in_their_words(PEOPLE, "zip"))

    assert one.observed == 1  # (38, F, 2) is alone in [30, 40) with her zip
    assert one.details["population_records"] == 6
    assert fewer.observed == 2


RANGES = [{**row, "age": label} for row, label in zip(PEOPLE[:2], ["[20, 30)", "[22, 40)"], strict=True)]


def test_people_of_a_population_are_counted_by_all_ranges_that_they_are_in() -> None:
    schema = {"columns": {"age": "years", "sex": "gender"}, "codes": {"sex": SEX}}

    one = the_outcome(RANGES, small(population=schema), population=in_their_words(PEOPLE))

    assert one.observed == 1  # only (23, M, 1) is in [22, 40); both men of zip 1 are in [20, 30)
    assert one.details["records_at_the_least"] == 1


def test_numbers_in_several_ranges_have_no_equal_and_the_error_has_the_line_of_the_policy(tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text(
        "version: 1\noriginal:\n  columns:\n    age: years\n    sex: gender\n  codes: {sex: {M: 1, F: 2}}\n"
        f"attributes: {json.dumps(SMALL)}\nexpect: [exact_match_rate: {{at_most: 0.5}}]\n"
    )

    (one,) = audit(table(RANGES), policy, in_their_words(PEOPLE)).expectations

    assert one.status.value == "error"
    assert one.message.startswith(
        "p.yaml:4: original.columns.age: column 'age' of original: the values of 1 record overlap with cells"
    )


def test_text_in_place_of_numbers_is_an_error_with_the_line_of_the_policy(tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text(
        f"version: 1\npopulation: {{columns: {{age: zip, zip: years}}}}\nattributes: {json.dumps(SMALL)}\n"
        "expect: [k_map: {k: 2}]\n"
    )
    people = table([{**row, "zip": "next door"} for row in PEOPLE])

    (one,) = audit(table(PEOPLE), policy, population=people.rename_columns(["years", "sex", "zip"])).expectations

    assert one.message == (
        "p.yaml:2: population.columns.age: column 'age' of population holds a value that is not a finite number"
    )


def test_a_name_that_the_file_does_not_have_ends_the_audit_with_the_line_of_the_policy(tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text(
        f"version: 1\npopulation:\n  columns:\n    age: year\nattributes: {json.dumps(SMALL)}\n"
        "expect: [k_map: {k: 2}]\n"
    )

    with pytest.raises(DataError) as raised:
        audit(table(PEOPLE), policy, population=in_their_words(PEOPLE))

    assert str(raised.value) == (
        "p.yaml:4: population.columns.age: population has no column 'year'; did you mean 'years'?"
    )


def test_a_result_says_what_was_shared(tmp_path: Path) -> None:
    write("csv", PEOPLE[:4], tmp_path / "release")
    pyarrow.csv.write_csv(in_their_words(PEOPLE, "zip"), tmp_path / "theirs.csv")
    schema = {"file": "theirs.csv", "columns": {"age": "years", "sex": "gender"}, "codes": {"sex": SEX}}
    (tmp_path / "p.yaml").write_text(json.dumps(small(population=schema, release="release.csv")))

    done = audit(None, tmp_path / "p.yaml")
    result = json.loads(done.render(".json"))

    table_ = result["companions"]["population"]
    assert (table_["shared"], table_["lacking"], table_["columns"]) == (["age", "sex"], ["zip"], 2)
    assert table_["sha256"] == hashlib.sha256((tmp_path / "theirs.csv").read_bytes()).hexdigest()
    assert "shares age and sex; no column for zip" in done.render(".html")
    assert [*faults(result)] == []


def test_a_table_of_the_command_line_keeps_the_names_and_codes_of_the_policy(tmp_path: Path) -> None:
    write("csv", PEOPLE[:4], tmp_path / "release")
    pyarrow.csv.write_csv(in_their_words(PEOPLE), tmp_path / "other.csv")
    schema = {"file": "gone.csv", "columns": {"age": "years", "sex": "gender"}, "codes": {"sex": SEX}}
    (tmp_path / "p.yaml").write_text(json.dumps(small(population=schema, release="release.csv")))

    (one,) = audit(None, tmp_path / "p.yaml", population=tmp_path / "other.csv").expectations

    assert one.observed == 1
