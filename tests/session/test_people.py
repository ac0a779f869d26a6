"""People alone, below k and exposed, by columns that an intruder knows: as plain Python and as audits count them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
import session_questions as asked
from hypothesis import given, settings, strategies as st

import tcdp_audit
from tcdp_audit import api, open_session
from tcdp_audit.core.session import tables

COLUMNS = ["age", "place", "sex", "ill", "pay"]
seeds = st.integers(0, 10**6)
known_columns = st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3, unique=True)


def groups(table: pa.Table, columns: Sequence[str], *, unit: bool, wildcard: bool = False) -> list[set[Any]]:
    """For each record the people whose known cells agree with its own, in plain Python."""
    rows = [tuple(row[name] for name in columns) for row in table.to_pylist()]
    people = table["person"].to_pylist() if unit else range(len(rows))

    def agree(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        return all(a == b or (wildcard and None in (a, b)) for a, b in zip(one, other, strict=True))

    return [{who for who, other in zip(people, rows, strict=True) if agree(row, other)} for row in rows]


def below(
    table: pa.Table, columns: Sequence[str], k: int, *, unit: bool, wildcard: bool = False, whole: bool = False
) -> int:
    """How many people have a record in a group of fewer than k people, or fewer than k with all of their records."""
    if whole:
        histories = defaultdict(Counter)
        for row in table.to_pylist():
            histories[row["person"]][tuple(row[name] for name in columns)] += 1
        sizes = Counter(frozenset(one.items()) for one in histories.values())
        return sum(size for size in sizes.values() if size < k)
    people = table["person"].to_pylist() if unit else range(table.num_rows)
    sizes = map(len, groups(table, columns, unit=unit, wildcard=wildcard))
    return len({who for who, size in zip(people, sizes, strict=True) if size < k})


def people_exposed(table: pa.Table, policy: dict[str, Any]) -> int:
    """The number that an audit gives."""
    exposed = tcdp_audit.audit(table, policy).exposed
    return 0 if exposed is None or exposed.people is None else exposed.people


def knowing(policy: dict[str, Any], columns: Collection[str], expect: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The policy with other quasi-identifiers, and other demands."""
    attributes = {}
    for name, one in policy["attributes"].items():
        role = one["role"] if one["role"] != "quasi_identifier" else "insensitive"
        attributes[name] = {**one, "role": "quasi_identifier" if name in columns else role}
    return {**policy, "attributes": attributes, "expect": list(expect)}


@settings(max_examples=20)
@given(seed=seeds, columns=known_columns, unit=st.booleans(), wildcard=st.booleans(), whole=st.booleans())
def test_people_alone_are_those_that_plain_python_counts(
    seed: int, columns: list[str], unit: bool, wildcard: bool, whole: bool
) -> None:
    draw = random.Random(seed)  # noqa: S311 - tables to test on
    table = asked.table(draw, draw.choice([1, 5, 25]))
    wildcard, whole = wildcard and not unit, whole and unit
    policy = asked.policy(draw)
    policy["conventions"] = {
        "known_rows": "all" if whole else "one",
        "missing_quasi_identifier": "wildcard" if wildcard else draw.choice(["own_category", "fail"]),
    }
    policy = {name: one for name, one in policy.items() if name != "unit"}
    policy |= {"unit": "person"} if unit else {}
    with open_session(table, policy) as session:
        expected = below(table, columns, 2, unit=unit, wildcard=wildcard, whole=whole)
        assert session.people_alone(columns) == expected
        for profile in session.profiles(columns):
            cells = table[profile.name].to_pylist()
            values = {cell for cell in cells if cell is not None}
            assert (profile.distinct, profile.missing) == (len(values), cells.count(None))
            assert profile.alone == below(table, [profile.name], 2, unit=unit, wildcard=wildcard, whole=whole)
            assert profile.kind == ("empty" if not values else "number" if profile.name in ("age", "pay") else "text")


def compare_with_audits(seed: int, k: int, more: list[str], less: list[str]) -> None:
    draw = random.Random(seed)  # noqa: S311 - tables to test on
    table, policy, levels = asked.table(draw, draw.choice([1, 6, 40])), asked.policy(draw), asked.levels(draw)
    if policy["conventions"]["missing_quasi_identifier"] == "wildcard":  # under which histories form no classes
        policy["conventions"]["known_rows"] = "one"
    roles = {name: one["role"] for name, one in policy["attributes"].items()}
    declared = {name for name, role in roles.items() if role == "quasi_identifier"}
    less = [name for name in less if name in declared and name not in more]
    columns = (declared | {*more}) - {*less}
    masked = asked.masked(table, levels)
    with open_session(table, policy) as session:
        view = session.levels(levels)
        if all(set(masked[name].to_pylist()) == {"*"} for name in columns):
            with pytest.raises(tcdp_audit.CheckError, match="every record is fully suppressed"):
                view.what_if(more, less, k=k)
            return
        answer, alone = view.what_if(more, less, k=k), view.people_alone(sorted(columns))
    assert answer.known == tuple(sorted(columns))
    sizes = {**policy["conventions"]}
    if sizes["missing_quasi_identifier"] == "fail":
        sizes["missing_quasi_identifier"] = "own_category"
    counted = {**policy, "conventions": sizes}
    assert answer.people == (len({*table["person"].to_pylist()}) if "unit" in policy else table.num_rows)
    assert answer.below == people_exposed(masked, knowing(counted, columns, [{"k_anonymity": {"k": k}}]))
    assert answer.alone == people_exposed(masked, knowing(counted, columns, [{"k_anonymity": {"k": 2}}])) == alone
    asked_then = [one for one in policy["expect"] if next(iter(one.values())).get("attribute") not in columns]
    if asked_then and len({name for name in ("ill", "pay") if name not in columns}) == 2:
        assert answer.exposed == people_exposed(masked, knowing(policy, columns, asked_then))
        assert answer.left_out == ()
    names = [
        f"{name}:{one['attribute']}" for entry in policy["expect"] for name, one in entry.items() if "attribute" in one
    ]
    assert {*answer.left_out} >= {name for name in names if name.partition(":")[2] in columns}


@settings(max_examples=5)
@given(seed=seeds, k=st.integers(1, 9), more=known_columns, less=st.lists(st.sampled_from(["age", "sex"]), unique=True))
def test_what_if_gives_the_figures_of_audits(seed: int, k: int, more: list[str], less: list[str]) -> None:
    compare_with_audits(seed, k, more, less)


@pytest.mark.long
@settings(max_examples=75)
@given(seed=seeds, k=st.integers(1, 9), more=known_columns, less=st.lists(st.sampled_from(["age", "sex"]), unique=True))
def test_what_if_gives_the_figures_of_many_audits(seed: int, k: int, more: list[str], less: list[str]) -> None:
    compare_with_audits(seed, k, more, less)


def compare_with_plain_python(seed: int, k: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - tables to test on
    table, policy = asked.table(draw, 40), asked.policy(draw)
    policy = {**policy, "conventions": {"known_rows": "one"}, "expect": [{"k_anonymity": {"k": k}}]}
    known = sorted(name for name, one in policy["attributes"].items() if one["role"] == "quasi_identifier")
    with open_session(table, policy) as session:
        answer = session.what_if()
    unit = "unit" in policy
    assert (answer.k, answer.below, answer.exposed) == (k, below(table, known, k, unit=unit), answer.below)
    assert answer.alone == below(table, known, 2, unit=unit)
    assert dict(answer.sizes) == Counter(map(len, groups(table, known, unit=unit)))
    assert list(answer.sizes) == sorted(answer.sizes)


@settings(max_examples=6)
@given(seed=seeds, k=st.integers(1, 9))
def test_what_if_nothing_changes_is_what_plain_python_counts(seed: int, k: int) -> None:
    compare_with_plain_python(seed, k)


@pytest.mark.long
@settings(max_examples=75)
@given(seed=seeds, k=st.integers(1, 9))
def test_what_if_nothing_changes_in_many_tables(seed: int, k: int) -> None:
    compare_with_plain_python(seed, k)


POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "zip": {"role": "quasi_identifier"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "ill": {"role": "sensitive"},
    },
    "expect": [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2, "attribute": "ill"}}],
}
TABLE = pa.table(
    {
        "zip": ["canary1", "canary1", "canary2", None],
        "age": ["71", "72", "71", "71"],
        "ill": ["canary3", "canary4", "canary3", "canary3"],
        "born": ["1990-01-02", "1990-01-03", "1991-01-02", None],
    }
)


def test_a_column_that_is_known_is_no_longer_asked_about() -> None:
    with open_session(TABLE, POLICY) as session:
        answer = session.what_if(add=["ill"], drop=["zip"])
        assert session.what_if(add="born").known == ("age", "born", "zip")
    assert (answer.known, answer.left_out) == (("age", "ill"), ("distinct_l_diversity:ill",))
    assert (answer.people, answer.alone, answer.k, answer.below, answer.exposed) == (4, 1, 2, 1, 1)
    assert answer.as_row()["known"] == ["age", "ill"]


def test_no_k_is_demanded() -> None:
    with open_session(TABLE, {**POLICY, "expect": [{"distinct_l_diversity": {"l": 2}}]}) as session:
        assert (session.what_if().k, session.what_if().below) == (None, None)
        assert session.what_if(add=["ill"]).exposed is None


def test_profiles_need_no_policy() -> None:
    with open_session(TABLE) as session:
        zips, ages, ill, born = session.profiles()
        assert session.people_alone(["zip", "age"]) == 4
    assert (zips.role, zips.distinct, zips.missing, zips.alone, zips.kind) == (None, 2, 1, 2, "text")
    assert (ages.type, ages.kind, born.kind, ill.alone) == ("VARCHAR", "number", "date", 1)


def test_a_wrong_scale_and_a_column_that_cannot_be_read() -> None:
    table = pa.table({"age": ["1", "x"], "tags": [["a"], ["b"]], "when": pa.array([1, 2], pa.date32())})
    attributes = {name: {"role": "quasi_identifier"} for name in table.column_names}
    attributes["age"]["scale"] = "numeric"
    policy = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}]}
    with open_session(table, policy) as session:
        age, tags, when = session.profiles()
        with pytest.raises(tcdp_audit.CheckError, match="does not keep its declared scale"):
            session.people_alone(["age"])
    assert (age.distinct, age.alone, age.kind) == (2, 2, "text")
    assert age.note == "column 'age' does not keep its declared scale; read as text"
    assert (tags.kind, tags.distinct, tags.alone) == ("unknown", None, None)
    assert "tags" in tags.note
    assert when.kind == "date"


def test_no_cell_is_shown_unless_values_are() -> None:
    for shown in (False, True):
        with open_session(TABLE, POLICY, show_values=shown) as session:
            profiles = session.profiles()
            answers: list[Any] = [
                session.what_if(add=["ill"]),
                session.thresholds("k_anonymity"),
                *session.stricter_profiles(),
            ]
        assert "canary" not in repr((profiles, answers)) + str([one.as_row() for one in answers])
        assert ("canary" in str([one.as_row() for one in profiles])) == shown
        assert (profiles[0].commonest == (("canary1", 2), ("canary2", 1))) == shown


@settings(max_examples=15)
@given(seed=seeds)
def test_the_commonest_values_are_those_of_most_records(seed: int) -> None:
    table = asked.table(random.Random(seed), 30)  # noqa: S311 - tables to test on
    with open_session(table, show_values=True) as session:
        for one in session.profiles():
            counted = Counter(cell for cell in table[one.name].to_pylist() if cell is not None)
            assert one.commonest is not None
            assert [number for _, number in one.commonest] == sorted(counted.values(), reverse=True)[:10]
            assert all(counted[value] == number for value, number in one.commonest)


def test_no_file_is_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: dict[str, int] = defaultdict(int)
    original = tables.open_table

    def noting(table: Any, name: str, *rest: Any) -> Any:
        opened[name] += 1
        return original(table, name, *rest)

    monkeypatch.setattr(tables, "open_table", noting)
    path = tmp_path / "t.csv"
    pyarrow.csv.write_csv(TABLE, path)
    with open_session(path, POLICY) as session:
        path.unlink()
        assert session.what_if(add=["ill"]).people == len(session.profiles()) == 4
        assert session.thresholds("k_anonymity").least == 1
    assert opened == {"release": 1}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"add": ["agee"]}, "add: the release has no column 'agee'; did you mean 'age'"),
        ({"add": 3}, "add: must be names of columns"),
        ({"drop": ["ill"]}, "drop: 'ill' is no quasi-identifier of the policy"),
        ({"add": ["zip"], "drop": ["zip"]}, "drop: 'zip' is in `add`, too"),
        ({"drop": ["zip", "age"]}, "drop: no column is left that an intruder knows; leave one"),
        ({"k": 0}, "k: must be a whole number, at least 1"),
        ({"k": True}, "k: must be a whole number, at least 1"),
    ],
)
def test_what_cannot_be_asked(arguments: dict[str, Any], why: str) -> None:
    with open_session(TABLE, POLICY) as session, pytest.raises(tcdp_audit.UsageError) as caught:
        session.what_if(**arguments)
    assert str(caught.value).startswith(why)


def test_questions_about_no_column_and_without_a_policy() -> None:
    with open_session(TABLE) as session:
        with pytest.raises(tcdp_audit.UsageError, match="columns: names no column"):
            session.people_alone([])
        with pytest.raises(tcdp_audit.UsageError, match="the release has no column 'nothing'"):
            session.profiles(["nothing"])
        for question in (session.what_if, session.stricter_profiles, lambda: session.thresholds("k_anonymity")):
            with pytest.raises(tcdp_audit.UsageError, match="no policy"):
                question()


def test_the_answers_are_names_of_the_api() -> None:
    with open_session(TABLE, POLICY) as session:
        k = session.thresholds("k_anonymity")
        answers = [session.profiles()[0], session.what_if(), k, k.counts[0], session.stricter_profiles()[0]]
    names = ["ColumnProfile", "WhatIf", "Thresholds", "ThresholdCount", "StricterDemand"]
    assert [type(one) for one in answers] == [getattr(api, name) for name in names]


def test_one_of_several_scenarios_is_asked_by_its_own_policy() -> None:
    draw = random.Random(3)  # noqa: S311 - a table to test on
    table = asked.table(draw, 40)
    roles = {"age": "quasi_identifier", "place": "quasi_identifier", "sex": "quasi_identifier", "ill": "sensitive"}
    policy = {
        "version": 1,
        "attributes": {name: {"role": role} for name, role in roles.items()},
        "scenarios": {"neighbour": {"knows": ["age", "sex"]}, "office": {"knows": ["place"]}},
        "expect": [{"k_anonymity": {"k": 5}}],
    }
    with open_session(table, policy) as session:
        with pytest.raises(tcdp_audit.UsageError, match="has scenarios"):
            session.what_if()
        for name, known in (("neighbour", ["age", "sex"]), ("office", ["place"])):
            answer = session.what_if(policy=session.policy.parts[name])
            assert answer.known == tuple(known)
            assert answer.below == below(table, known, 5, unit=False)


def test_the_columns_and_hierarchies_of_a_session() -> None:
    table = asked.table(random.Random(1), 5)  # noqa: S311 - a table to test on
    attributes = {"sex": {"role": "quasi_identifier", "hierarchy": {"*": {"x": None, "f": None, "m": None}}}}
    with open_session(table) as session:
        assert session.column_names() == tuple(table.column_names)
        with pytest.raises(tcdp_audit.UsageError, match="no policy"):
            session.hierarchies()
        known = session.hierarchies({"version": 1, "attributes": attributes, "expect": [{"k_anonymity": None}]})
    assert [one.height for one in known.values()] == [1]
