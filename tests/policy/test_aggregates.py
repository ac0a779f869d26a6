"""Tables of figures in a policy: read apart from tables of records, each fault with its line."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from dataclasses import replace
from functools import reduce
from math import inf
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

from tcdp_audit import PolicyError, UsageError, audit, fix, frontier, open_session
from tcdp_audit.api import Plugins, read_policy
from tcdp_audit.core.check.aggregate_check import AggregateCheck, CellFigure
from tcdp_audit.core.policy.aggregates import ExceptCategory
from tcdp_audit.core.policy.schema import policy_schema
from tcdp_audit.core.policy.source import parse_yaml
from tcdp_audit.core.policy.tables import require_one_table
from tcdp_audit.core.results.protected_files import files_of
from tcdp_audit.core.session.inputs import named_files
from tcdp_audit.plugin.check import Parameters, hookimpl
from tcdp_audit.testing.reports import SAMPLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tcdp_audit.core.policy.policy import Policy

CHECK: Any = AggregateCheck(
    name="sample_cells",
    title="Sample",
    guide=SAMPLE.guide,
    disclosure_type=SAMPLE.disclosure_type,
    parameters=Parameters,
    measure=lambda _, __: CellFigure(0, 1),
)
PLUGINS = Plugins.load(external=False)
MODEL_CHECK: Any = replace(CHECK, name="sample_models", of_models=True)
PLUGINS.register(SimpleNamespace(tcdp_audit_checks=hookimpl(lambda: [CHECK, MODEL_CHECK])), "sample")

FIGURES = """\
version: 1
tables:
  admissions:
    file: admissions.csv
    about: {who: admitted 2025}
    dimensions:
      ward: {total: All, hierarchy: {South: [B, C]}}
      age: {total: All, order: by_bounds, hierarchy: age.yaml}
    measures:
      patients: {counts: people}
      visits: {counts: rows, of: visit, per_person: 12}
      income: {mean: income, over: patients, decimals: 2, at_least: 0}
      smokers: {share: smoker, over: patients, decimals: 1, as: percent}
    suppressed: {"<10": [1, 9], ":c": unknown, "9+": [9, inf], s: {secondary: unknown}}
    rounding: {base: 5, kind: conventional, half: even}
  men:
    file: men.csv
    about: {who: admitted 2025, sex: male}
    layout: {rows: [age], columns: [ward]}
    dimensions: {age: {total: All}, ward: {}}
    measures: {patients: {counts: people}}
    noise: {kind: laplace, scale: 2}
"""
MODELS = """\
models:
  income_model: {file: coefficients.csv, n: 214, parameters: 9, dummies: {ward_B: 31}, design: design.csv}
"""
BEHIND = """\
previous_policies: [2024/admissions.tcdp.yaml]
microdata: {file: patients.parquet, unit: id, of: {ward: unit, age: {column: years, bands: bands.yaml}, sex: sex}}
"""
RECORDS = """\
  people:
    file: people.csv
    time: day
    attributes:
      sex: {role: quasi_identifier}
      day: {role: quasi_identifier, scale: numeric}
      illness: {role: sensitive}
"""
VISITS = "  visits: {belongs_to: people, attributes: {ward: {role: quasi_identifier}}}\n"
EXPECT = "expect:\n  - sample_cells: {}\n"
OF_MODELS = "expect:\n  - sample_models: {}\n"
ALONE = FIGURES + MODELS + BEHIND + EXPECT
MIXED = FIGURES + RECORDS + "unit: person\nmicrodata: people\nexpect:\n  - sample_cells: {}\n  - k_anonymity: {k: 2}\n"


def read(text: str, folder: Path) -> Policy:
    path = folder / "p.tcdp.yaml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path, PLUGINS)


def faults(text: str, folder: Path) -> list[tuple[int, str]]:
    """The line and the text of each fault of a policy."""
    with pytest.raises(PolicyError) as error:
        read(text, folder)
    return [(line, sentence) for line, _, sentence in error.value.faults]


def test_tables_of_figures_alone(tmp_path: Path) -> None:
    document = read(ALONE, tmp_path).document
    aggregates = document.aggregates or {}
    assert document.tables is document.release is None
    assert list(aggregates) == ["admissions", "men"]
    assert not document.attributes
    assert aggregates["men"].subgroup == {"sex": "male"}
    assert aggregates["admissions"].people == aggregates["men"].people == "admitted 2025"
    assert list(aggregates["admissions"].suppressed["9+"]) == [9, None]  # type: ignore[arg-type]
    assert (document.models or {})["income_model"].n == 214


def test_one_table_of_records_next_to_them_is_the_release(tmp_path: Path) -> None:
    policy = read(MIXED, tmp_path)
    document = policy.document
    assert document.tables is None
    assert document.release == "people.csv"
    assert (document.unit, document.time) == ("person", "day")
    assert list(document.attributes) == ["sex", "day", "illness"]
    assert document.microdata is not None
    assert document.microdata.table == "people"
    assert list(document.aggregates or ()) == ["admissions", "men"]


def test_several_tables_of_records_stay_linked(tmp_path: Path) -> None:
    document = read(MIXED.replace("unit: person", VISITS + "unit: person"), tmp_path).document
    assert list(document.tables or ()) == ["people", "visits"]
    assert list(document.attributes) == ["people.sex", "people.day", "people.illness", "visits.ward"]
    assert list(document.aggregates or ()) == ["admissions", "men"]


@pytest.mark.parametrize("rest", [MODELS, "profile: [acro]\n" + MODELS])
def test_models_alone(rest: str, tmp_path: Path) -> None:
    text = "version: 1\n" + rest + "expect:\n  - k_anonymity: {k: 2}\n"
    (*_, (line, sentence)) = faults(text, tmp_path)
    assert line == text.count("\n")
    assert "the policy has no table of them" in sentence


def test_a_model_next_to_a_table_of_records(tmp_path: Path) -> None:
    text = "version: 1\nattributes: {sex: {role: quasi_identifier}}\n" + MODELS + "expect:\n  - k_anonymity: {k: 2}\n"
    assert read(text, tmp_path).document.has_figures


def test_a_policy_without_attributes_is_still_none(tmp_path: Path) -> None:
    assert faults("version: 1\nexpect:\n  - k_anonymity: {k: 2}\n", tmp_path) == [(1, "attributes: is required")]
    text = "version: 1\nattributes: {}\nexpect:\n  - k_anonymity: {k: 2}\n"
    assert faults(text, tmp_path) == [(2, "attributes: must not be empty")]


PATIENTS = "      patients: {counts: people}\n"
CHANGES = [  # what is typed, what instead, and the location and the sentence of the one fault
    ("over: patients, decimals: 2", "over: visits", "tables.admissions.measures.income.over", "counts no people"),
    ("over: patients, decimals: 2", "over: patient", "tables.admissions.measures.income.over", "no measure 'patient'"),
    ("{counts: people}\n      v", "{counts: people, over: visits}\n      v", ".patients.over", "is over itself"),
    ("{mean: income, over", "{mean: income, as: percent, over", "tables.admissions.measures.income.as", "a share"),
    ("at_least: 0", "at_least: 2, at_most: 1", "tables.admissions.measures.income.at_least", "above the largest"),
    ("per_person: 12", "per_person: 12, decimals: 1", "tables.admissions.measures.visits.decimals", "a count has none"),
    ("mean: income", "mean: TODO", "tables.admissions.measures.income.mean", "still to be decided"),
    ("{mean: income,", "{mean: income, sum: income,", "tables.admissions.measures.income", "must have exactly one of"),
    ("rows: [age]", "rows: [aeg]", "tables.men.layout.rows[0]", "no dimension 'aeg'; did you mean 'age'?"),
    ("rows: [age]", "rows: []", "tables.men.layout", "leaves out 'age'"),
    ("rows: [age]", "rows: [age, ward]", "tables.men.layout.columns[0]", "named twice"),
    ("rows: [age], columns: [ward]", "rows: [], columns: [age, ward]", "tables.men.layout.columns", "one dimension"),
    ("    noise: {k", "    suppressed: {}\n    noise: {c", "tables.men.noise.cind", "unknown name"),
    ("sex: male", "sex: male, age: 18-24", "tables.men.about.age", "is a dimension of the table"),
    ("sex: male", "sex: TODO", "tables.men.about.sex", "still to be decided"),
    ("{who: admitted 2025}", "{who: TODO}", "tables.admissions.about.who", "still to be decided"),
    ("{who: admitted 2025}", "{who: {not: x}}", "tables.admissions.about.who", "must be text"),
    ("half: even}", "half: even}\n    noise: {kind: bounded, deviation: 2}", "tables.admissions.noise", "done last"),
    ("at_least: 0", "noise: {kind: laplace, scale: 1}", "tables.admissions.measures.income.noise", "neither"),
    ("half: even", "steps: 1", "tables.admissions.rounding.steps", "of controlled rounding"),
    ("conventional", "random", "tables.admissions.rounding.half", "of conventional rounding"),
    ("base: 5", "base: 2.5", "tables.admissions", "whole number"),
    ("laplace, scale", "bounded, scale", "tables.men.noise", "`kind: bounded` needs `deviation:`"),
    ("[B, C]", "[B, All]", "tables.admissions.dimensions.ward.hierarchy.South", "is the total of the dimension"),
    ("[B, C]", "[B, B]", "tables.admissions.dimensions.ward.hierarchy.South", "a child twice"),
    ("[B, C]", "[B, South]", "tables.admissions.dimensions.ward.hierarchy.South", "a child of itself"),
    ("[B, C]", "B", "tables.admissions.dimensions.ward.hierarchy.South", "a list of the node's children"),
    ("order: by_bounds", "order: [a, b, a]", "tables.admissions.dimensions.age.order", "twice"),
    ("order: by_bounds", "order: [a, All]", "tables.admissions.dimensions.age.order", "no place in the order"),
    ("ward: {}", "ward: {complete: false}", "tables.men.dimensions.ward.complete", "has none"),
    ("ward: {}", "ward: {total: TODO}", "tables.men.dimensions.ward.total", "still to be decided"),
    ('":c"', '"7"', "tables.admissions.suppressed.7", "is a number"),
    ('":c"', '"-1"', "tables.admissions.suppressed.-1", "is a number"),
    (':c": unknown', ':c": TODO', "tables.admissions.suppressed.:c", "still to be decided: write `unknown`"),
    ("[1, 9]", "[9, 1]", "tables.admissions.suppressed.<10", "the least value is above the largest"),
    ("[1, 9]", "[9]", "tables.admissions.suppressed.<10", "must be the least and the largest value"),
    ("    noise", "    suppressed: {x: [-1, 3]}\n    noise", "tables.men.suppressed.x", "at least 0"),
    ("    noise", "    suppressed: {x: {primary: [0, 2.5]}}\n    noise", "tables.men.suppressed.x.primary", "whole"),
    ("n: 214", "n: 20", "models.income_model.dummies.ward_B", "more people than the 20 observations"),
    ("design: design.csv", "outcome: income", "models.income_model.outcome", "add `design:`"),
    ("income_model", "men", "models.men", "is a table as well"),
    ("{file: patients.parquet,", "{table: people,", "microdata.table", "the policy has no table 'people'"),
    ("{file: patients.parquet,", "{table: men,", "microdata.table", "'men' is a table of figures"),
    ("{file: patients.parquet,", "{", "microdata", "must be either `file:`"),
    ("of: {ward: unit", "of: {wrad: unit", "microdata.of.wrad", "a dimension 'wrad'; did you mean 'ward'?"),
    ("version: 1\n", "version: 1\nremedy:\n  - mondrian: {k: 2}\n", "remedy", "tau-Argus or sdcTable"),
    ("version: 1\n", "version: 1\nscenarios: {a: {knows: [sex]}}\n", "scenarios", "the policy releases none"),
    ("version: 1\n", "version: 1\nschema: s.yaml\n", "schema", "the policy releases none"),
    ("version: 1\n", "version: 1\nmax_loss: 0.5\n", "max_loss", "the policy releases none"),
    ("version: 1\n", "version: 1\nmin_utility: {age: 0.5}\n", "min_utility", "the policy releases none"),
    ("version: 1\n", "version: 1\nutility: {counts: [{by: [age]}]}\n", "utility", "the policy releases none"),
    ("version: 1\n", "version: 1\nprevious: a.csv\n", "previous", "previous_policies"),
    ("version: 1\n", "version: 1\nunit: id\n", "unit", "microdata"),
    ("version: 1\n", "version: 1\naggregates: {}\n", "aggregates", "stand under `tables:`"),
    ("version: 1\n", "version: 1\nattributes: {a: {role: sensitive}}\n", "attributes", "declare the records there"),
    ("- sample_cells: {}", "- k_anonymity: {k: 2}", "expect[0].k_anonymity", "the policy has no table of them"),
    ("- sample_cells: {}", "- sample_cells: {knows: [age]}", "expect[0].sample_cells.knows", "leave `knows` out"),
]


@pytest.mark.parametrize(("old", "new", "location", "sentence"), CHANGES, ids=[f"{a} > {b}" for a, b, *_ in CHANGES])
def test_a_mistake_is_one_fault_with_its_line(old: str, new: str, location: str, sentence: str, tmp_path: Path) -> None:
    text = ALONE.replace(old, new, 1)
    assert text != ALONE
    ((line, said),) = faults(text, tmp_path)
    where, _, what = said.partition(": ")
    assert where.endswith(location)
    assert sentence in what
    key = location.rpartition(".")[2].partition("[")[0]
    assert key in text.splitlines()[line - 1]


def test_mistakes_of_a_table_of_records_point_to_its_lines(tmp_path: Path) -> None:
    text = MIXED.replace("{role: sensitive}", "{role: secret}").replace("file: people", "by: x\n    fil: people")
    said = faults(text.replace("unit: person\n", "unit: person\ntime: day\nrelease: a.csv\n"), tmp_path)
    lines = text.splitlines()
    places = {sentence.partition(": ")[0]: line for line, sentence in said}
    assert places.keys() == {
        "time",
        "release",
        "tables.people.by",
        "tables.people.fil",
        "tables.people.attributes.illness.role",
    }
    assert "secret" in lines[places["tables.people.attributes.illness.role"] - 1]
    assert "fil:" in lines[places["tables.people.fil"] - 1]


@pytest.mark.parametrize(
    ("old", "new", "location"),
    [
        ("      illness", "      of: {role: sensitive}\n      illness", None),
        (RECORDS.partition("    attributes:\n")[2], "", "tables.people.attributes"),
        (RECORDS.partition("    file:")[1] + RECORDS.partition("    file:")[2], "    {}\n", "tables.people"),
        ("file: people.csv\n", "file: people.csv\n    dimensions: {sex: {}}\n", "tables.people"),
        ("time: day", "time: dya", "tables.people.time"),
        ("unit: person\n", "", "tables.people.time"),
        ("microdata: people", "microdata: {table: people, of: {age: sxe}}", "microdata.of.age"),
        ("microdata: people", "microdata: {table: people, of: {age: {column: sxe}}}", "microdata.of.age.column"),
        ("microdata: people", "microdata: peopel", "microdata"),
        ("- sample_cells", "- distinct_l_diversity: {l: 2, attribute: il}\n  - sample_cells", "expect[0]"),
    ],
)
def test_mistakes_of_mixed_policies(old: str, new: str, location: str | None, tmp_path: Path) -> None:
    text = MIXED.replace(old, new, 1)
    assert text != MIXED
    if location is None:
        assert read(text, tmp_path).document.has_records
    else:
        assert any(sentence.startswith(location) for _, sentence in faults(text, tmp_path))


def test_as_many_dimensions_as_are_read(tmp_path: Path) -> None:
    for number in (8, 9):
        names = ", ".join(f"d{one}: {{}}" for one in range(number))
        text = f"version: 1\ntables: {{t: {{dimensions: {{{names}}}, measures: {{n: {{counts: people}}}}}}}}\n{EXPECT}"
        if number == 8:
            assert read(text, tmp_path).document.has_figures
        else:
            assert "at most 8" in faults(text, tmp_path)[0][1]


def test_a_mapping_reads_as_its_file_does(tmp_path: Path) -> None:
    for text in (ALONE, MIXED):
        assert read_policy(parse_yaml(text).data, PLUGINS).document == read(text, tmp_path).document


@pytest.mark.parametrize("key", ["dimensions", "measures", "suppressed"])
def test_a_name_is_declared_once(key: str) -> None:
    table = {"measures": {"n": {"counts": "people"}}, key: {7: {}, "7": {}}}
    with pytest.raises(UsageError, match=f"{key}: a .* is declared twice"):
        read_policy({"version": 1, "tables": {"t": table}, "expect": [{"sample_cells": {}}]}, PLUGINS)


def test_a_subgroup_may_be_all_but_one_category(tmp_path: Path) -> None:
    document = read(ALONE.replace("sex: male", "sex: {not: male}"), tmp_path).document
    assert (document.aggregates or {})["men"].subgroup == {"sex": ExceptCategory.model_validate({"not": "male"})}


@pytest.mark.parametrize("text", [ALONE, MIXED, "version: 1\n" + MODELS + OF_MODELS])
def test_the_json_schema_takes_what_is_read(text: str, tmp_path: Path) -> None:
    read(text, tmp_path)
    schema = policy_schema(PLUGINS.checks, PLUGINS.remedies)
    Draft202012Validator(schema).validate(json.loads(json.dumps(parse_yaml(text).data).replace("Infinity", '"inf"')))
    assert "aggregates" not in schema["properties"]


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\n" + EXPECT,
        "version: 1\nattributes: {}\n" + EXPECT,
        "version: 1\ntables: {t: {measures: {n: {counts: cows}}}}\n" + EXPECT,
        "version: 1\ntables: {t: {dimensions: {a: {}}}}\n" + EXPECT,
        "version: 1\naggregates: {t: {measures: {n: {counts: people}}}}\n" + EXPECT,
    ],
)
def test_the_json_schema_refuses_what_is_refused(text: str, tmp_path: Path) -> None:
    assert faults(text, tmp_path)
    schema = policy_schema(PLUGINS.checks, PLUGINS.remedies)
    assert not Draft202012Validator(schema).is_valid(parse_yaml(text).data)


def test_files_next_to_tables_of_figures_are_recorded(tmp_path: Path) -> None:
    policy = read(ALONE, tmp_path)
    names = (
        "age.yaml",
        "coefficients.csv",
        "design.csv",
        "patients.parquet",
        "bands.yaml",
        "2024/admissions.tcdp.yaml",
    )
    (tmp_path / "2024").mkdir()
    for name in names:
        (tmp_path / name).write_text(name, encoding="utf-8")
    recorded = {
        one.uri: one.title for one in named_files(policy)
    }  # the microdata are a table, and have a digest as such
    assert recorded == {
        str(tmp_path / "age.yaml"): "hierarchy of 'admissions.age'",
        str(tmp_path / "coefficients.csv"): "coefficients of 'income_model'",
        str(tmp_path / "design.csv"): "design of 'income_model'",
        str(tmp_path / "bands.yaml"): "bands of 'age'",
        str(tmp_path / "2024" / "admissions.tcdp.yaml"): "previous policy",
    }
    assert read(ALONE.replace("2024/admissions", "2023/none"), tmp_path).document.previous_policies


def test_no_output_overwrites_a_table_or_what_is_next_to_it(tmp_path: Path) -> None:
    protected = files_of(read(ALONE, tmp_path))
    assert {path.name for path in protected.values()} >= {"admissions.csv", "men.csv", "age.yaml", "design.csv"}


def test_figures_are_not_repaired(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sex,day,illness\nm,1,x\nm,1,y\n", encoding="utf-8")
    policy = read(MIXED.replace("unit: person\n", "").replace("    time: day\n", ""), tmp_path)
    said = r"has tables of figures \(admissions and men\); give the records a separate policy, and choose which figures"
    with pytest.raises(UsageError, match=said):
        fix(None, policy, plugins=PLUGINS)
    with pytest.raises(UsageError, match=said):
        frontier(None, policy, plugins=PLUGINS)
    (tmp_path / "people.csv").write_text("sex,day,illness\nm,1,x\nm,1,y\n", encoding="utf-8")
    with open_session(None, policy, plugins=PLUGINS) as session:
        for ask in (session.profiles, session.what_if, lambda: session.people_alone(["sex"])):
            with pytest.raises(UsageError, match=said):
                ask()
    with pytest.raises(UsageError, match=said):
        require_one_table(policy, "an expectation sees one batch", "audit them")
    with pytest.raises(UsageError, match=r"has output of models \(income_model\)$"):
        require_one_table(read("version: 1\n" + MODELS + OF_MODELS, tmp_path), "a suite judges one table", "audit them")


def test_conventions_of_figures_are_shown_with_figures_alone() -> None:
    policy = {"version": 1, "attributes": {"a": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {"k": 2}}]}
    result = audit(pa.table({"a": [1, 1]}), policy)
    assert not {"negative", "boundary", "integers"} & json.loads(result.to_json())["conventions"].keys()


VALUES: list[Any] = [None, 1, -3, 0.5, "x", "TODO", [], {}, ["a"], {"a": 1}, True, [1, 9], [9, 1], {"not": "x"}, inf]
KEYS = ["x", "attributes", "dimensions", "measures", "file", "total", "over", "about", "rounding", "hierarchy", 7]
TEXTS = [ALONE, MIXED, MIXED.replace("unit: person", VISITS + "unit: person"), "version: 1\n" + MODELS + OF_MODELS]


def places_in(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each value inside others."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inside:
        yield (*place, key)
        yield from places_in(value, (*place, key))


def damage(data: Any, source: random.Random) -> None:
    """Replace, remove, add or rename something."""
    *above, key = source.choice(list(places_in(data)))
    inside = reduce(lambda one, step: one[step], above, data)
    action, value = source.randrange(4), deepcopy(source.choice(VALUES))
    if action == 0:
        inside[key] = value
    elif action == 1:
        del inside[key]
    elif isinstance(inside, dict):
        inside[source.choice(KEYS)] = value if action == 2 else inside.pop(key)


def read_damaged(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311 - no secret
    data = parse_yaml(source.choice(TEXTS)).data
    for _ in range(source.randint(1, 4)):
        damage(data, source)
    try:
        document = read_policy(data, PLUGINS).document
    except (PolicyError, UsageError):
        return
    assert document.has_records or document.has_figures


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9))
def test_any_policy_is_read_or_has_faults(seed: int) -> None:
    read_damaged(seed)


@pytest.mark.long
def test_many_policies_are_read_or_have_faults() -> None:
    for seed in range(1_000):
        read_damaged(seed)
