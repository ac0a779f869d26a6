"""What holds of every draft: it holds no cell, loads once every TODO is a role, and its audit passes nothing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st
from planted import PLANTED, roles_of, table_of

import tcdp_audit
from tcdp_audit import PolicyError
from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.drafting import PolicyDraft, draft_policy
from tcdp_audit.drafting.drafting import expectations, profile_called

MARKER = "zqmarker"
LONG = [pytest.param(one, marks=pytest.mark.long) for one in ("clinic", "bank")]
EACH = pytest.mark.parametrize("name", ["survey", *LONG])
PLUGINS = Plugins.load(external=False)
NAMES = st.one_of(
    st.sampled_from(["age", "zip", "name", "diagnosis", "income", "dob", "x", "no", "<<", "a: b", "*", "1", "é\x1b"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(lambda name: name.strip() != ""),
)
CELLS = st.one_of(
    st.lists(st.sampled_from([f"{MARKER}-{one}" for one in "abcd"]) | st.none(), min_size=4, max_size=4),
    st.lists(st.integers(0, 120) | st.none(), min_size=4, max_size=4),
    st.lists(st.floats(allow_nan=True, allow_infinity=True) | st.none(), min_size=4, max_size=4),
    st.lists(st.sampled_from([f"{MARKER}{one}@example.org" for one in "abcdef"]), min_size=4, max_size=4),
    st.lists(st.dates().map(str), min_size=4, max_size=4),
    st.just([None] * 4),
    st.just([[1], [2], [], None]),
)
TABLES = st.dictionaries(NAMES, CELLS, min_size=1, max_size=5)


def draft_of(columns: dict[str, list[object]]) -> PolicyDraft:
    return draft_policy(pa.table({name: pa.array(cells) for name, cells in columns.items()}), plugins=PLUGINS)


@cache
def planted_draft(name: str) -> PolicyDraft:
    return draft_policy(table_of(PLANTED[name](300)), plugins=PLUGINS)


@pytest.mark.long
@settings(max_examples=60)
@given(TABLES, st.sampled_from(list(Role)))
def test_a_draft_loads_once_every_todo_is_a_role_and_passes_nothing(columns: dict[str, list[object]], role: Role):
    draft = draft_of(columns)
    with TemporaryDirectory() as folder:
        path, *others = draft.write(Path(folder) / "draft.tcdp.yaml")
        text = path.read_text(encoding="utf-8")
        assert MARKER not in text + "".join(one.read_text(encoding="utf-8") for one in others)
        if draft.undecided:
            with pytest.raises(PolicyError, match=r"is still to be decided for column"):
                tcdp_audit.load_policy(path, PLUGINS)
        path.write_text(text.replace("role: TODO", f"role: {role.value}"), encoding="utf-8")
        policy = tcdp_audit.load_policy(path, PLUGINS)
        assert list(policy.attributes) == [one for one in columns if one != draft.unit]
        table = {name: cells for name, cells in columns.items() if not any(isinstance(one, list) for one in cells)}
        assume(table)  # nested columns alone are no table
        audit = tcdp_audit.audit(
            pa.table({name: pa.array(cells) for name, cells in table.items()}), policy, plugins=PLUGINS
        )
        assert audit.status != "passed"
        assert audit.exit_code() != 0


@EACH
def test_no_direct_identifier_is_missed(name: str):
    right, draft = roles_of(PLANTED[name](300)), planted_draft(name)
    proposed = {one.name: "TODO" if one.role is None else one.role.value for one in draft.columns}

    assert {one for one in right if right[one] == "identifier" and proposed[one] != "identifier"} == set()
    wrong = {one for one in right if proposed[one] not in (right[one], "TODO")}
    assert {right[one] for one in wrong} <= {"insensitive"}  # which adds to what makes records unique


@EACH
def test_no_planted_cell_is_in_a_draft(name: str, tmp_path: Path):
    draft = planted_draft(name)
    reported = draft.text(tmp_path / "draft.tcdp.yaml")
    cells = {str(cell) for _, role, cells in PLANTED[name](300) for cell in cells if role == "identifier"}

    assert not {cell for cell in cells if len(cell) > 3 and re.search(rf"(?<!\w){re.escape(cell)}(?!\w)", reported)}


@pytest.mark.long
def test_a_draft_is_the_same_every_time(tmp_path: Path):
    table = table_of(PLANTED["clinic"](300))

    assert draft_policy(table, plugins=PLUGINS).text(tmp_path / "x") == planted_draft("clinic").text(tmp_path / "x")


def test_a_draft_may_make_the_demands_of_a_profile(tmp_path: Path):
    for name, asked in (("ema_policy_0070", "profile: "), ("hipaa_safe_harbor", "- k_anonymity:")):
        draft = draft_policy(table_of(PLANTED["survey"](50)), profile=name, plugins=PLUGINS)
        text = draft.text(tmp_path / "draft.tcdp.yaml")
        assert asked in text
        assert "This does not determine legality." in text
        path = tmp_path / "draft.tcdp.yaml"
        path.write_text(text.replace("role: TODO", "role: sensitive"), encoding="utf-8")
        policy = tcdp_audit.load_policy(path, PLUGINS)
        demands = [one.check.name for one in policy.expectations if one.check.demands(one.parameters)]
        assert demands == [one.check for one in profile_called(name).demands]


def test_a_profile_that_no_one_knows_is_refused_with_those_that_are():
    with pytest.raises(UsageError, match=r"no profile is called 'ema'.*; known are abs_datalab, "):
        profile_called("ema")
    assert profile_called(profile_called("ema_policy_0070").key).name == "ema_policy_0070"


def test_a_draft_asks_for_classes_where_there_is_something_to_group_by():
    draft = planted_draft("survey")

    assert ("k_anonymity", "") in draft.expectations
    assert expectations([], {"direct_identifiers"}) == [("direct_identifiers", "")]
    assert expectations([], {}) == [("k_anonymity", "")]


def test_a_table_without_quasi_identifiers_is_measured_and_reported(tmp_path: Path):
    table = pa.table({"income": [one * one for one in range(30)], "assets": [one * 7 for one in range(30)]})
    path = tmp_path / "draft.tcdp.yaml"
    draft_policy(table, plugins=PLUGINS).write(path)
    audit = tcdp_audit.audit(table, path, plugins=PLUGINS)

    assert audit.status == "measured"
    assert [one.check for one in audit.expectations] == ["direct_identifiers"]
    assert "Measured, not judged" in audit.render(".md")
