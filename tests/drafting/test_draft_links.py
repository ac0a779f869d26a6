"""Proposed links are links that an audit accepts; where several are open, or none, a draft says what it saw."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow import csv

import tcdp_audit
from tcdp_audit import PolicyError, UsageError
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.drafting import PolicyDraft, draft_policy
from tcdp_audit.drafting.common_columns import places_in
from tcdp_audit.drafting.draft import tables_of_files
from tcdp_audit.plugin.engine import DataError, RawDomain

PLUGINS = Plugins.load(external=False)
PATIENTS = {"patient": list("pqr"), "sex": list("ffm")}
VISITS = {"patient": list("ppqr"), "visit": list("1234"), "ward": list("abab")}
DRUGS = {"visit": list("122"), "drug": list("abb")}
CLINIC = {"patients": PATIENTS, "visits": VISITS, "drugs": DRUGS}
Columns = Mapping[str, list[Any]]


def draft_of(tables: Mapping[str, Columns]) -> PolicyDraft:
    return draft_policy({name: pa.table(dict(one)) for name, one in tables.items()}, plugins=PLUGINS)


def links_of(draft: PolicyDraft) -> dict[str, tuple[str | None, str | None]]:
    return {one.name: (one.belongs_to, one.by) for one in draft.tables}


def decided(draft: PolicyDraft, path: Path, role: str = "insensitive") -> Path:
    """The written draft, with one role in the place of each that is open."""
    draft.write(path, force=True)
    text = path.read_text(encoding="utf-8").replace("role: TODO", f"role: {role}")
    path.write_text(text.replace("role: identifier", "role: insensitive"), encoding="utf-8")
    return path


def audited(draft: PolicyDraft, tables: Mapping[str, Columns]) -> Any:
    with TemporaryDirectory() as folder:
        policy = decided(draft, Path(folder) / "draft.tcdp.yaml")
        frames = {name: pa.table(dict(one)) for name, one in tables.items()}
        return tcdp_audit.audit(frames, policy, plugins=PLUGINS)


def of_check(audit: Any, check: str) -> Any:
    return next(one for one in audit.outcomes if one.check == check)


RAW = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), unique=True, max_size=6).map(
        lambda values: np.array(sorted(values), np.int64)
    ),
    st.lists(
        st.floats(allow_nan=False) | st.integers(-3, 3).map(float) | st.sampled_from([2.0**63, -(2.0**63), 2.0**53]),
        unique=True,
        max_size=6,
    ).map(lambda values: np.array(sorted(values), np.float64)),
    st.lists(st.sampled_from(["1", "01", "1.0", "", "a", "é", "A"]), unique=True, max_size=6).map(
        lambda values: np.array(sorted(values), object)
    ),
)


def raw_of(values: Any) -> RawDomain:
    return RawDomain(values, np.ones(len(values), np.int64), 0)


@settings(max_examples=30)
@given(RAW, RAW)
def test_values_match_those_that_are_equal_in_python(own: Any, key: Any) -> None:
    """Python compares whole numbers with floats exactly. Zeros of both signs are one number, and may stand apart."""
    place = {value: position for position, value in enumerate(key.tolist())}
    expected = [place.get(value, -1) for value in own.tolist()]
    places = places_in(raw_of(own), raw_of(key)).tolist()

    zeros = [position for position, value in enumerate(own.tolist()) if value == 0]
    assert [one for n, one in enumerate(places) if n not in zeros] == [
        one for n, one in enumerate(expected) if n not in zeros
    ]
    assert all(places[one] in (expected[one], -1) for one in zeros)


@pytest.mark.parametrize("order", [*itertools.permutations(CLINIC)], ids=" ".join)
def test_three_tables_are_linked_in_whichever_order_they_are_given(order: tuple[str, ...]) -> None:
    draft = draft_of({name: CLINIC[name] for name in order})

    assert draft.unit == "patient"
    assert links_of(draft) == {
        "patients": (None, None),
        "visits": ("patients", "patient"),
        "drugs": ("visits", "visit"),
    }
    assert {"patients.patient", "visits.patient", "visits.visit", "drugs.visit"}.isdisjoint(
        one.name for one in draft.columns
    )
    assert draft.expectations == [  # a drug has no role yet
        ("direct_identifiers", ""),
        ("k_anonymity", ""),
        ("known_events", "{table: visits, m: 3}"),
        ("unicity", "{table: visits, points: 4}"),
    ]
    assert "known_rows: all" in draft.text(Path("x"))


def clinic(seed: int, *, named: bool, numbers: bool) -> dict[str, dict[str, list[Any]]]:
    """A clinic by chance: patients without visits, visits without drugs; drugs may name their patient as well."""
    draw = random.Random(seed)  # noqa: S311 - a table by chance
    pseudonym = draw.sample(range(1000, 9999), 12)
    visit_of: list[int] = []
    for patient in range(12):
        visit_of += [patient] * draw.randrange(4)
    visit_of = visit_of or [0]
    visits = draw.sample(range(100, 999), len(visit_of))
    drugs = [draw.randrange(len(visits)) for _ in range(draw.randrange(1, 30))]
    kind = int if numbers else str
    tables = {
        "patients": {"patient": [kind(one) for one in pseudonym], "sex": [draw.choice("fm") for _ in pseudonym]},
        "visits": {
            "patient": [kind(pseudonym[one]) for one in visit_of],
            "visit": [kind(one) for one in visits],
            "month": [draw.choice(["jan", "feb"]) for _ in visits],
        },
        "drugs": {"visit": [kind(visits[one]) for one in drugs], "drug": [draw.choice("abc") for _ in drugs]},
    }
    if named:
        tables["drugs"]["patient"] = [kind(pseudonym[visit_of[one]]) for one in drugs]
    return tables


@pytest.mark.parametrize(("named", "numbers"), [(True, False), pytest.param(False, True, marks=pytest.mark.long)])
def test_a_draft_of_linked_tables_is_audited_unchanged(named: bool, numbers: bool) -> None:
    _require_sound(clinic(1, named=named, numbers=numbers), named=named)


@pytest.mark.long
@settings(max_examples=8)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_drafts_of_tables_by_chance_are_audited_unchanged(seed: int, named: bool, numbers: bool) -> None:
    _require_sound(clinic(seed, named=named, numbers=numbers), named=named)


def _require_sound(tables: Mapping[str, Columns], *, named: bool) -> None:
    draft = draft_of(tables)
    assert links_of(draft) == {
        "patients": (None, None),
        "visits": ("patients", "patient"),
        "drugs": ("visits", "visit"),
    }
    audit = audited(draft, tables)

    assert audit.status == "measured", audit.as_json()
    assert audit.exit_code() == 3
    assert {one.status.value for one in audit.expectations} == {"measured"}
    assert {one.check for one in audit.expectations} == {"direct_identifiers", "k_anonymity", "known_events", "unicity"}
    assert of_check(audit, "undeclared_columns").status.value == "passed"
    if named:
        (patient,) = (one for one in draft.columns if one.name == "drugs.patient")
        assert patient.role == "insensitive"


SMALL = st.dictionaries(
    st.sampled_from(["k1", "k2", "x"]),
    st.lists(st.sampled_from(["1", "2", "3", "4"]), min_size=4, max_size=4),
    min_size=1,
)


@settings(max_examples=4)
@given(st.lists(SMALL, min_size=2, max_size=3))
def test_a_link_that_is_proposed_is_one_by_definition(columns: list[dict[str, list[str]]]) -> None:
    _require_links_by_definition(columns)


@pytest.mark.long
@settings(max_examples=15)
@given(st.lists(SMALL, min_size=2, max_size=3))
def test_links_of_many_tables_are_links_by_definition(columns: list[dict[str, list[str]]]) -> None:
    _require_links_by_definition(columns)


def _require_links_by_definition(columns: list[dict[str, list[str]]]) -> None:
    """Every value of the child occurs in one row of the parent, and exactly one table belongs to no other."""
    tables = {f"t{number}": one for number, one in enumerate(columns)}
    try:
        draft = draft_of(tables)
    except DataError:  # then every column is a link
        assert all(set(one) <= set().union(*(others for others in columns if others is not one)) for one in columns)
        return

    for name, (parent, by) in links_of(draft).items():
        if parent in (None, "TODO"):
            continue
        key = tables[str(parent)][str(by)]
        assert len(set(key)) == len(key)
        assert set(tables[name][str(by)]) <= set(key)
    tops = [name for name, (parent, _) in links_of(draft).items() if parent is None]
    assert len(tops) == (draft.unit != "TODO")
    if not draft.unlinked:
        audit = audited(draft, tables)
        assert of_check(audit, "orphan_rows").status.value == "passed"
        assert of_check(audit, "repeated_unit").status.value == "passed"
        for table, names in ((one, tables[one]) for one in tables):
            for name in names:  # what was called implied is so in every row
                declared = next((one for one in draft.columns if one.name == f"{table}.{name}"), None)
                if declared is not None and declared.role == "insensitive":
                    assert _agrees(table, name, links_of(draft), tables)


def _agrees(table: str, column: str, links: Mapping[str, Any], tables: Mapping[str, Columns]) -> bool:
    parent, by = links[table]
    of_parent = dict(zip(tables[parent][by], tables[parent][column], strict=True))
    return [of_parent[one] for one in tables[table][by]] == tables[table][column]


def test_a_patient_that_is_not_the_one_of_the_visit_leaves_the_link_open() -> None:
    draft = draft_of({**CLINIC, "drugs": {**DRUGS, "patient": list("pqp")}})

    assert links_of(draft)["drugs"] == ("TODO", None)
    assert "Its rows may belong to patients by 'patient' or visits by 'visit'." in draft.tables[2].notes[0]
    assert {"drugs.patient", "drugs.visit", "visits.visit"} <= set(draft.undecided)
    assert draft.unit == "patient"


ID = {"id": [1, 2, 3], "sex": list("ffm")}


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (
            {"a": {"pid": [1, 2]}, "b": {"pid": list("112")}},
            "'pid' is read as text here and as numbers in a, where 007",
        ),
        ({"a": {"pid": ["001", "002"]}, "b": {"pid": list("112")}}, "written otherwise in a, as 007 and 7 are"),
        ({"a": {"pid": list("12")}, "b": {"pid": list("1123")}}, "By 'pid', 1 of 4 rows belongs to no row of a."),
        ({"a": {"pid": list("12")}, "b": {"pid": ["1", "1", None]}}, "By 'pid', 1 of 3 rows belongs to no row of a."),
        (
            {"a": {"pid": list("112")}, "b": {"pid": list("1122")}},
            "'pid' is in a as well, which has several rows for 1",
        ),
        ({"a": {"pid": ["1", None]}, "b": {"pid": list("11")}}, "which has 1 row without one: a link needs"),
        (
            {"patients": ID, "b": {"id": [1, 2, 3, 4], "patient_id": [1, 1, 2, 3]}},
            "All values of 'patient_id' occur in 'id' of patients: if this is the link, give the two columns one name",
        ),
        ({"patients": ID, "b": {"id": [1, 2], "x": [5, 6]}}, "but each table may number its own rows by it"),
        ({"a": {"code": ["u", "v"]}, "b": {"key": ["u", "u"]}}, "All values of 'key' occur in 'code' of a: if this"),
        (
            {"a": {"mail": [f"{one}@x.org" for one in range(30)]}, "b": {"mail": ["1@x.org"] * 30}},
            "but it names people directly, so replace it by a pseudonym in both tables",
        ),
        ({"a": {"zip": list("123")}, "b": {"zip": list("112")}}, "but its name speaks of a place, which is no link"),
        (
            {"a": {"dept": list("xy"), "emp": list("ac")}, "b": {"emp": list("abcd"), "dept": list("xxyy")}},
            "Its rows may belong to a by 'dept', whose rows may belong to its own.",
        ),
        ({"a": {"x": [1]}, "b": {"y": ["u"]}}, "No link of it was found."),
    ],
)
def test_what_speaks_for_a_link_and_against_it_is_in_the_draft(
    tables: dict[str, Columns], sentence: str, tmp_path: Path
) -> None:
    draft = draft_of(tables)
    text = " ".join(draft.text(tmp_path / "x").replace("#", "").split())

    assert sentence in " ".join(draft.tables[1].notes)
    assert sentence in text
    assert "b" in draft.unlinked
    assert draft.unit == "TODO"
    policy = decided(draft, tmp_path / "draft.tcdp.yaml")
    with pytest.raises(PolicyError) as refusal:
        tcdp_audit.load_policy(policy, PLUGINS)
    assert "tables.b.belongs_to: is still to be decided: write the table that the rows of 'b' belong to" in str(
        refusal.value
    )
    assert "unit: is still to be decided: write the column of the table of units" in str(refusal.value)


def test_a_table_of_what_values_mean_is_no_parent() -> None:
    draft = draft_of({"patients": PATIENTS, "visits": VISITS, "wards": {"ward": list("abc"), "beds": [3, 4, 5]}})

    assert links_of(draft)["visits"] == ("patients", "patient")
    assert draft.unlinked == ["wards"]
    assert "It has a row for each 'ward' of visits: leave out a table of what values mean." in draft.tables[2].notes


def test_of_two_tables_of_the_same_people_the_first_is_the_parent() -> None:
    tables = {"people": PATIENTS, "scores": {"patient": list("rqp"), "score": [1, 2, 2]}, "visits": VISITS}

    assert links_of(draft_of(tables)) == {
        "people": (None, None),
        "scores": ("people", "patient"),
        "visits": ("people", "patient"),
    }
    fewer = {**tables, "people": {"patient": list("pq"), "sex": list("ff")}, "visits": {"patient": list("pq")}}
    assert links_of(draft_of(fewer))["people"] == ("scores", "patient")


def test_no_cell_is_in_a_draft_of_tables(tmp_path: Path) -> None:
    cells = {f"zq{number}" for number in range(9)}
    tables = {
        "a": {"pid": ["zq1", "zq2", "zq3"], "note": ["zq4", "zq5", "zq5"]},
        "b": {"pid": ["zq1", "zq1", "zq8"], "note": ["zq4", "zq6", "zq7"]},
    }
    text = draft_of(tables).text(tmp_path / "x")
    assert not [cell for cell in cells if cell in text]


def test_hierarchies_of_several_tables_have_files_of_their_own(tmp_path: Path) -> None:
    ages = [20, 31, 42, 57, 60, 61, 33]
    tables = {
        "patients": {"patient": list("abcdefg"), "age": ages},
        "visits": {"patient": list("aabcdef"), "age": ages},
    }
    draft = draft_of(tables)
    files = draft.write(tmp_path / "draft.tcdp.yaml")

    assert [one.name for one in files[1:]] == ["patients_age.csv", "visits_age.csv"]
    assert audited(draft, tables).status == "measured"


def test_names_of_tables_are_those_of_files(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x\n1\n", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.parquet").write_bytes(b"")
    a, b, other = (str(tmp_path / one) for one in ("a.csv", "b.csv", "sub/a.parquet"))

    assert tables_of_files([a, b]) == {"a": a, "b": b}
    for twice in ([a, b, a], [a, str(tmp_path / "sub" / ".." / "a.csv")]):
        with pytest.raises(UsageError, match="the file is named twice; name each table once"):
            tables_of_files(twice)
    with pytest.raises(UsageError, match="the table would be called 'a', as that of"):
        tables_of_files([a, other])


@pytest.mark.parametrize("tables", [{}, {"a.b": PATIENTS, "c": VISITS}, {"": PATIENTS, "c": VISITS}, {1: PATIENTS}])
def test_names_that_no_table_can_have_are_refused(tables: Any) -> None:
    with pytest.raises(UsageError):
        draft_of(tables)


def test_tables_of_links_alone_are_refused_and_a_pseudonym_alone_is_no_unit() -> None:
    with pytest.raises(DataError, match="a and b: all columns link the tables, so that nothing is known or secret"):
        draft_of({"a": {"x": list("123")}, "b": {"x": list("112")}})
    assert draft_of({"a": {"patient_id": list("112")}}).unit is None


def test_a_mapping_of_one_table_is_that_table() -> None:
    draft = draft_of({"patients": PATIENTS})
    assert not draft.tables
    assert draft.text(Path("x")) == draft_policy(pa.table(PATIENTS), plugins=PLUGINS).text(Path("x"))


@pytest.mark.parametrize(
    "declared", ["schema.py", "schema.py:People", "package.schemas:People", "contract.yaml#people"]
)
def test_roles_of_one_table_are_not_those_of_several(declared: str) -> None:
    with pytest.raises(UsageError, match="is about one table, and several are drafted"):
        draft_policy({"a": pa.table(PATIENTS), "b": pa.table(VISITS)}, declared, plugins=PLUGINS)


# One table whose rows a pseudonym joins


def visits(**columns: list[Any]) -> pa.Table:
    patients = [f"p{number // 2}" for number in range(40)]
    wards = [("north", "south")[number % 3 % 2] for number in range(40)]
    return pa.table({"patient_id": patients, "ward": wards, **columns})


@pytest.mark.parametrize("name", ["patient_id", "customer_id", "uid", "pseudonym"])
def test_a_pseudonym_that_repeats_is_the_unit_of_one_table(tmp_path: Path, name: str) -> None:
    table = visits().rename_columns([name, "ward"])
    draft = draft_policy(table, plugins=PLUGINS)
    text = draft.text(tmp_path / "x")
    policy = decided(draft, tmp_path / "draft.tcdp.yaml")
    audit = tcdp_audit.audit(table, policy, plugins=PLUGINS)

    assert draft.unit == name
    assert name not in [one.name for one in draft.columns]
    assert f"unit: {name}\nattributes:\n" in text
    assert "  known_rows: all" in text
    assert "  - known_events: {m: 3}  # tcdp-audit explain known_events\n" in text
    assert "  - unicity: {points: 4}  # tcdp-audit explain unicity\n" in text
    assert [one.check for one in audit.expectations] == ["direct_identifiers", "k_anonymity", "known_events", "unicity"]
    assert {one.status.value for one in audit.expectations} == {"measured"}
    assert audit.expectations[1].conventions["known_rows"] == "all"
    assert audit.exit_code() == 3


def test_a_number_of_something_else_is_no_second_unit() -> None:
    table = visits(hospital_id=[f"h{number // 8}" for number in range(40)])
    draft = draft_policy(table, plugins=PLUGINS)

    assert draft.unit == "patient_id"
    assert [one.role for one in draft.columns if one.name == "hospital_id"] == ["identifier"]


def test_without_what_someone_knows_no_event_is_measured(tmp_path: Path) -> None:
    table = visits().select(["patient_id"]).append_column("z1", [pa.array(["same"] * 40)])
    draft = draft_policy(table, plugins=PLUGINS)

    assert (draft.unit, draft.expectations) == ("patient_id", [("direct_identifiers", "")])
    audit = tcdp_audit.audit(table, decided(draft, tmp_path / "d.tcdp.yaml"), plugins=PLUGINS)
    assert [one.status.value for one in audit.expectations] == ["measured"]
    assert audit.exit_code() != 0


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (visits(case_id=[f"c{number // 4}" for number in range(40)]), "'patient_id' and 'case_id' repeat: what joins"),
        (
            visits().rename_columns(["household_id", "ward"]),
            "'household_id' is what the members of a household share; it has no role.",
        ),
        (visits().rename_columns(["hospital_id", "ward"]), "'hospital_id' repeats: what joins the rows of a person"),
        (visits().rename_columns(["unknown", "ward"]), ""),
        (visits().rename_columns(["email", "ward"]), ""),
        (visits()[::2], ""),
    ],
)
def test_where_no_single_pseudonym_joins_rows_there_is_no_unit(table: pa.Table, sentence: str) -> None:
    draft = draft_policy(table, plugins=PLUGINS)

    assert draft.unit is None
    assert "known_rows" not in draft.text(Path("x"))
    assert sentence in " ".join(draft.notes)


def test_a_declared_role_comes_before_the_unit(tmp_path: Path) -> None:
    contract = "{kind: DataContract, schema: [{name: t, properties: [{name: patient_id, classification: identifier}]}]}"
    (tmp_path / "contract.yaml").write_text(contract, encoding="utf-8")
    draft = draft_policy(visits(), tmp_path / "contract.yaml", plugins=PLUGINS)

    assert draft.unit is None
    assert draft.columns[0].role == "identifier"


@pytest.mark.parametrize("profile", ["ema_policy_0070", "hipaa_safe_harbor"])
def test_the_demands_of_a_profile_are_made_of_histories(profile: str, tmp_path: Path) -> None:
    frames = {name: pa.table(one) for name, one in CLINIC.items()}
    for table in (visits(), frames):
        draft = draft_policy(table, profile=profile, plugins=PLUGINS)
        policy = decided(draft, tmp_path / "d.tcdp.yaml", "quasi_identifier")
        assert any(one.check.demands(one.parameters) for one in tcdp_audit.load_policy(policy, PLUGINS).expectations)
        assert "error" not in {one.status.value for one in tcdp_audit.audit(table, policy, plugins=PLUGINS).outcomes}


@pytest.mark.long
def test_drafts_of_a_clinical_trial_are_audited_as_one_table_and_as_two(data: Path, tmp_path: Path) -> None:
    """Of pbcseq, patients and their visits: 312 patients in 1,945 rows."""
    whole = csv.read_csv(data / "histories" / "pbcseq.csv")
    static, rows = ["id", "sex", "trt"], ["id", "day", "ascites", "stage"]
    first = pa.array(np.unique(whole["id"].to_numpy(), return_index=True)[1])
    csv.write_csv(whole.select(static).take(first), tmp_path / "patients.csv")
    csv.write_csv(whole.select(rows), tmp_path / "visits.csv")
    csv.write_csv(whole.select([*static, *rows[1:]]), tmp_path / "both.csv")
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("patients", "visits", "both")}
    one = draft_policy(paths.pop("both"), plugins=PLUGINS)
    several = draft_policy(paths, plugins=PLUGINS)
    audits = [
        tcdp_audit.audit(None, decided(draft, tmp_path / f"{name}.tcdp.yaml", "quasi_identifier"), plugins=PLUGINS)
        for name, draft in {"one": one, "several": several}.items()
    ]

    assert one.unit == several.unit == "id"
    assert links_of(several) == {"patients": (None, None), "visits": ("patients", "id")}
    assert [audit.status for audit in audits] == ["measured", "measured"]
    assert len({audit.expectations[1].observed for audit in audits}) == 1
    alone = [of_check(audit, "linked_rows").details["whole_histories"] for audit in audits]
    assert alone[0] == alone[1]
    assert alone[0]["alone"] > 200
