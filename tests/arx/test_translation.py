"""A project of ARX becomes a policy with its table: what is in it, what is listed as left out, and what it decides."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from arx.projects import IDENTIFYING, INSENSITIVE, QI, SENSITIVE, Attribute, Project, write_project

import tcdp_audit
from tcdp_audit.api import PolicyError, load_policy
from tcdp_audit.arx import ProjectDraft, draft_of_project, read_project
from tcdp_audit.plugin.detector import Role, Scale
from tcdp_audit.plugin.engine import DataError, UsageError

AGES = [[str(age), f"[{age // 10 * 10}, {age // 10 * 10 + 10}[", "*"] for age in range(20, 60)]
NAME, AGE, SEX = Attribute("name", IDENTIFYING), Attribute("age", QI, "Integer", hierarchy=AGES), Attribute("sex", QI)
ILLNESS, SHOE = Attribute("illness", SENSITIVE), Attribute("shoe", INSENSITIVE, "Integer")
ATTRIBUTES = [NAME, AGE, SEX, ILLNESS, SHOE]
ROWS = [[f"n{row}", str(20 + row % 40), "mf"[row % 2], ["flu", "gout", "ulcer"][row % 3], "42"] for row in range(240)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def drafted(project: Project, table: str | None = None) -> ProjectDraft:
    return draft_of_project(read_project(write_project(Path("study.deid"), project)), "study.tcdp.yaml", table)


def omitted(project: Project) -> list[str]:
    source = drafted(project).draft.source
    assert source is not None
    return list(source.omitted)


def test_roles_scales_and_hierarchies_are_those_of_the_project():
    draft = drafted(Project(ATTRIBUTES, ROWS)).draft

    assert [(one.name, one.role, one.scale) for one in draft.columns] == [
        ("name", Role.IDENTIFIER, None),
        ("age", Role.QUASI_IDENTIFIER, Scale.NOMINAL),
        ("sex", Role.QUASI_IDENTIFIER, Scale.NOMINAL),
        ("illness", Role.SENSITIVE, Scale.NOMINAL),
        ("shoe", Role.INSENSITIVE, Scale.NUMERIC),
    ]
    assert draft.columns[1].hierarchy is not None
    assert draft.columns[1].hierarchy.paths == [tuple(one) for one in AGES]
    assert draft.undecided == []


def test_the_policy_is_sound_and_repairs_as_the_project_says(folder: Path):
    files = drafted(Project(ATTRIBUTES, ROWS, ["3-anonymity", "distinct-2-diversity for attribute 'illness'"])).write()
    policy = load_policy("study.tcdp.yaml")

    assert [one.name for one in files] == ["study.tcdp.yaml", "study.csv", "age.csv"]
    assert [one.check.name for one in policy.expectations] == ["k_anonymity", "distinct_l_diversity"]
    text = files[0].read_text(encoding="utf-8")
    assert "  - generalization: {suppression: 0.05, loss: ncp}" in text
    assert "# ARX: suppression limit 5 %, quality model Loss (0.5/1.0/1.0)." in text
    assert list(csv.reader((folder / "study.csv").read_text(encoding="utf-8").splitlines()))[1:] == ROWS
    assert tcdp_audit.fix("study.csv", "study.tcdp.yaml").after.status == "passed"


def test_a_limit_of_all_records_leaves_one():
    drafted(Project(ATTRIBUTES, ROWS, suppression="1.0")).write()
    assert "suppression: 239/240" in Path("study.tcdp.yaml").read_text(encoding="utf-8")
    load_policy("study.tcdp.yaml")


def test_a_model_without_a_counterpart_stops_every_audit():
    project = Project(ATTRIBUTES, ROWS, ["3-anonymity", "(1.0E-4)-population-uniqueness (dankar)"])
    draft = drafted(project)
    draft.write()

    with pytest.raises(PolicyError, match=r"expect\[1\]: is still to be decided: write a check in place of TODO"):
        load_policy("study.tcdp.yaml")
    assert draft.draft.source is not None
    assert [one.partition(".")[0] for one in draft.draft.source.undecided] == ["(1"]


def test_a_sample_is_the_table_and_the_whole_is_its_population(folder: Path):
    project = Project(ATTRIBUTES, ROWS, ["(4)-map", "(0.0,0.9)-presence"], sample=range(0, 240, 2))
    files = drafted(project).write()

    assert [one.name for one in files] == ["study.tcdp.yaml", "study.csv", "study.population.csv", "age.csv"]
    assert len((folder / "study.csv").read_text(encoding="utf-8").splitlines()) == 121
    assert "population: study.population.csv" in files[0].read_text(encoding="utf-8")
    result = tcdp_audit.audit("study.csv", "study.tcdp.yaml")
    assert {one.status.value for one in result.expectations} <= {"passed", "failed"}


def test_a_sample_that_cannot_be_read_is_a_todo():
    project = Project(ATTRIBUTES, ROWS, ["3-anonymity", "Inclusion"], entries={"input/config.dat": b"broken"})
    drafted(project).write()

    with pytest.raises(PolicyError, match="still to be decided"):
        load_policy("study.tcdp.yaml")
    words = Path("study.tcdp.yaml").read_text(encoding="utf-8").replace("#", "").split()
    assert "could not be read. Export them from ARX" in " ".join(words)


def test_a_named_table_takes_the_place_of_that_in_the_project():
    Path("out.csv").write_text("age,sex,illness,extra\n" + "20,m,flu,1\n" * 30, encoding="utf-8")
    draft = drafted(Project(ATTRIBUTES, ROWS), "out.csv")
    files = draft.write()

    assert [one.name for one in files] == ["study.tcdp.yaml", "age.csv"]
    assert draft.draft.undecided == ["extra"]
    assert draft.draft.source is not None
    assert list(draft.draft.source.omitted) == ["The table lacks 'shoe'."]  # and `name`, which ARX drops


def test_a_project_without_a_table_asks_for_one():
    with pytest.raises(UsageError, match=r"study\.deid: holds no table; name one"):
        drafted(Project(ATTRIBUTES))


def test_an_empty_named_table_is_refused():
    Path("out.csv").write_text("age,sex\n", encoding="utf-8")
    with pytest.raises(DataError, match="no record"):
        drafted(Project(ATTRIBUTES, ROWS), "out.csv")


def test_settings_without_a_counterpart_are_listed():
    attributes = [
        NAME,
        Attribute("age", QI, "Integer", hierarchy=AGES, min="0", max="1"),
        Attribute("sex", QI, function="Mode"),
        Attribute("illness", SENSITIVE, response=True),
        SHOE,
    ]
    models = ["3-anonymity", "0.5-closeness with equal ground-distance for attribute 'illness'"]
    project = Project(
        attributes,
        ROWS,
        models,
        metric="Classification accuracy",
        weights={"age": "0.9", "sex": "0.5"},
        suppressed=[QI, SENSITIVE],
    )

    assert omitted(project) == [
        (
            "ARX compares classes with the distribution of its input, and the draft with that of the release. They are "
            "one unless a repair drops records."
        ),
        "The quality model Classification accuracy; `generalization` minimises the loss `ncp`.",
        "The weights of attributes in the quality model; `generalization` weighs all alike.",
        (
            "Suppressed records lose their quasi-identifying and sensitive cells in ARX; here they lose "
            "quasi-identifying ones."
        ),
        "The levels 0 to 1 of 'age'; `levels` of `generalization` fixes one.",
        (
            "Microaggregation of 'sex' (Mode); the draft generalises the column. The remedy `microaggregation` "
            "replaces values by those of groups."
        ),
        "'illness' as a target of classification; state it as a model under `utility`.",
    ]


def test_a_project_like_a_policy_leaves_nothing_out():
    assert omitted(Project(ATTRIBUTES, ROWS)) == []
    draft = drafted(Project(ATTRIBUTES, ROWS, version="2.0")).draft
    assert draft.source is not None
    assert draft.source.omitted == []


def test_a_fixed_level_is_fixed():
    age = Attribute("age", QI, "Integer", hierarchy=AGES, min="1", max="1")
    drafted(Project([NAME, age, SEX, ILLNESS, SHOE], ROWS)).write()
    assert "levels: {age: 1}" in Path("study.tcdp.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("hierarchy", "sentence"),
    [
        ([["20", "a", "*"], ["21", "a"]], "not as deep as the others"),
        ([["20", "a", "x", "*"], ["21", "a", "y", "*"]], "a label whose parent differs"),
        ([["20", "a", "*"], ["20", "b", "*"]], "a leaf that is on an earlier line already"),
    ],
)
def test_a_hierarchy_that_is_no_tree_is_listed_without_its_labels(hierarchy, sentence: str):
    age = Attribute("age", QI, "Integer", hierarchy=hierarchy)
    (said,) = omitted(Project([NAME, age, SEX, ILLNESS, SHOE], ROWS))
    assert said.startswith("The hierarchy of 'age' is none that a policy can have: ")
    assert sentence in said


def test_roots_are_joined_and_said():
    rows = [[str(age), "young" if age < 40 else "old"] for age in range(20, 60)]
    draft = drafted(Project([NAME, Attribute("age", QI, hierarchy=rows), SEX, ILLNESS, SHOE], ROWS)).draft

    assert draft.columns[1].hierarchy is not None
    assert draft.columns[1].hierarchy.paths[0] == ("20", "young", "*")
    assert draft.source is not None
    assert "several roots" in draft.source.omitted[0]


def test_an_identity_is_no_hierarchy():
    draft = drafted(Project([NAME, Attribute("age", QI, hierarchy=[["20"], ["21"]]), SEX, ILLNESS, SHOE], ROWS)).draft
    assert draft.columns[1].hierarchy is None
    assert draft.source is not None
    assert draft.source.omitted == []


def test_labels_with_separators_are_read_back():
    rows = [[str(age), 'a;b "c"', "*"] for age in range(20, 60)]
    drafted(Project([NAME, Attribute("age", QI, hierarchy=rows), SEX, ILLNESS, SHOE], ROWS)).write()
    written = Path("study.hierarchies/age.csv").read_text(encoding="utf-8")
    assert list(csv.reader(written.splitlines(), delimiter=";")) == rows
    assert tcdp_audit.audit("study.csv", "study.tcdp.yaml").status == "failed"


def test_an_order_of_arx_is_an_order():
    illness = Attribute("illness", SENSITIVE, "Ordinal", format="flu\ngout\nulcer")
    model = "0.4-closeness with ordered distance for attribute 'illness'"
    drafted(Project([NAME, AGE, SEX, illness, SHOE], ROWS, [model])).write()

    text = Path("study.tcdp.yaml").read_text(encoding="utf-8")
    assert "illness: {role: sensitive, scale: ordinal, order: [flu, gout, ulcer]}" in text
    assert [one.check.name for one in load_policy("study.tcdp.yaml").expectations] == ["t_closeness"]


def test_a_data_type_that_cells_do_not_have_is_listed():
    illness = Attribute("illness", SENSITIVE, "Decimal", format="#,##0.00")
    assert omitted(Project([NAME, AGE, SEX, illness, SHOE], ROWS)) == [
        "The data type Decimal of 'illness': some values are no plain numbers."
    ]


def test_an_unknown_type_is_left_to_a_person():
    draft = drafted(Project([NAME, AGE, Attribute("sex", "UNKNOWN_ATTRIBUTE_TYPE"), ILLNESS, SHOE], ROWS)).draft
    assert draft.undecided == ["sex"]


def test_nothing_is_written_where_a_file_is_there(folder: Path):
    draft = drafted(Project(ATTRIBUTES, ROWS))
    (folder / "study.hierarchies").mkdir()
    (folder / "study.hierarchies" / "age.csv").write_text("mine", encoding="utf-8")

    with pytest.raises(UsageError, match="is there already"):
        draft.write()
    assert sorted(one.name for one in folder.iterdir()) == ["study.deid", "study.hierarchies"]
    draft.write(force=True)
    assert (folder / "study.csv").exists()


def test_columns_that_differ_in_capitals_have_files_of_their_own():
    attributes = [Attribute("Age", QI, hierarchy=AGES), Attribute("age", QI, hierarchy=AGES)]
    files = drafted(Project(attributes, [["20", "30"], ["21", "31"]])).write()
    assert len({one.name.lower() for one in files}) == len(files) == 4


@pytest.mark.parametrize("name", ["no", "a: b", "*", "../x", "a\tb", "<&'\">", "é", "TODO"])
def test_odd_names_of_columns_are_read_back(name: str):
    attributes = [Attribute(name, QI), Attribute("illness", SENSITIVE)]
    models = ["2-anonymity", "distinct-2-diversity for attribute 'illness'"]
    drafted(Project(attributes, [["x", "flu"], ["x", "gout"]], models)).write()

    assert name in load_policy("study.tcdp.yaml").attributes
    assert tcdp_audit.audit("study.csv", "study.tcdp.yaml").status == "passed"
