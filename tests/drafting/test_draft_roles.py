"""The rules of roles, each with the one before it and the one after it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from test_draft_hierarchies import facts

from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.drafting import draft_policy
from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.draft import DraftColumn, PolicyDraft, file_name_of, located_from, stem_of
from tcdp_audit.drafting.hierarchies import DraftHierarchy
from tcdp_audit.drafting.roles import Evidence, Proposal, figures, proposed
from tcdp_audit.drafting.vocabulary import topic_of

FEW: list[object] = [1, 2, 3] * 10
MANY: list[object] = [f"t{one * 7919 % 1000:03d} x" for one in range(100)]
DETECTED = "100% of its values are e-mail addresses"


def proposal(name: str, values: list[object], **evidence: object) -> Proposal:
    return proposed(facts(name, values), topic_of(name), Evidence(**evidence))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "values", "role", "reason"),
    [
        ("surname", ["a", "b", "c"], Role.IDENTIFIER, "its name speaks of a person's name"),
        ("phone", [0, 1] * 15, None, "a mark whether there is one?"),
        ("patient_id", list(range(50)), Role.IDENTIFIER, "its name speaks of a record's or a person's own number"),
        ("patient_id", [*range(50)] * 3, Role.IDENTIFIER, "say so as `unit`"),
        ("shop_id", FEW * 20, None, "the number of a group, and of which?"),
        ("x", ["123e4567-e89b-42d3-a456-426614174000"] * 2, Role.IDENTIFIER, "all values are UUIDs"),
        ("city", ["a", "b"], Role.QUASI_IDENTIFIER, "its name speaks of a place"),
        ("religion", ["a", "b"], Role.SENSITIVE, "its name speaks of religion"),
        ("religion", ["a", "a"], None, "all records have one value; a secret of everyone?"),
        ("x", ["1990-01-31", "1991-12-01"], Role.QUASI_IDENTIFIER, "all values are calendar days"),
        ("x", ["1990-01-31T10:00", "1991-12-01 23:59:59.5"], Role.QUASI_IDENTIFIER, "all values are points in time"),
        ("x", MANY, Role.IDENTIFIER, "nearly every record has a value of its own"),
        ("x", MANY[:19], None, "no rule decides"),
        ("x", [one / 7 for one in range(100)], Role.SENSITIVE, "a measurement, which no register has"),
        ("x", [*range(20, 60)] * 3 + [99], None, "a measurement: must no one learn it"),
        ("x", [one * 9_001 for one in range(1, 200)], None, "amounts (sensitive), or its number?"),
        ("x", FEW, None, "no rule decides"),
        ("x", [1, 1], None, "all records have one value; would it reveal a secret of everyone?"),
        ("x", [], None, "it holds no value at all"),
        ("wgt", [1.5, 2.5], Role.INSENSITIVE, "those of a sampling weight"),
        ("weight", [51.5, 80.0, 92.5], None, "a sampling weight, which the policy names as `weight`?"),
        ("weight", [0.61, 1.02, 1.44], Role.INSENSITIVE, "those of a sampling weight"),
    ],
)
def test_a_rule_without_evidence(name: str, values: list[object], role: Role | None, reason: str):
    given = proposal(name, values)

    assert given.role is role
    assert reason in given.reason


def test_what_is_declared_comes_first_but_never_hides_a_direct_identifier():
    assert proposal("city", ["a"], declared=Role.INSENSITIVE, declaration="declared role: x").role is Role.INSENSITIVE
    assert proposal("x", FEW, declared=Role.IDENTIFIER, detected=DETECTED).role is Role.IDENTIFIER
    doubtful = proposal("x", FEW, declared=Role.INSENSITIVE, declaration="declared role: x", detected=DETECTED)
    assert doubtful == Proposal(None, f"declared role: x, but {DETECTED}; which is right?")
    asked = proposal("x", FEW, declaration="declared pii, which does not say how")
    assert asked.role is None
    assert asked.reason.startswith("declared pii, which does not say how; could an intruder know it")


def test_a_detector_comes_before_words_and_words_before_figures():
    assert proposal("city", FEW, detected=DETECTED) == Proposal(Role.IDENTIFIER, DETECTED)
    assert proposal("x", FEW, known="all are postal codes") == Proposal(Role.QUASI_IDENTIFIER, "all are postal codes")
    assert proposal("income", FEW, known="all are postal codes").role is Role.SENSITIVE
    assert proposal("x", FEW, open_question="whether they are BSNs needs a library").role is None
    assert proposal("income", FEW, strength=0.9).role is Role.SENSITIVE


@pytest.mark.parametrize(
    ("strength", "role"), [(0.0499, None), (0.05, Role.QUASI_IDENTIFIER), (0.0501, Role.QUASI_IDENTIFIER)]
)
def test_five_percent_of_what_makes_records_unique_is_enough(strength: float, role: Role | None):
    assert proposal("x", list("abc") * 10, strength=strength, is_among_known=True).role is role
    assert proposal("x", list("abc") * 10, strength=strength).role is None


def test_marks_and_answers_are_no_quasi_identifiers_by_strength():
    for answers in ([0, 1] * 15, [1, 2, 3, 4, 5] * 6, list("yn") * 15):
        assert proposal("x", answers, strength=0.9, is_among_known=True).role is None


def test_what_other_columns_say_comes_after_words_and_before_figures():
    known = Proposal(Role.QUASI_IDENTIFIER, "it follows from another")

    assert proposal("income", FEW, related=known).role is Role.SENSITIVE
    assert proposal("x", [one / 7 for one in range(100)], related=known) == known
    assert proposal("x", [one / 7 for one in range(100)], around=known).role is Role.SENSITIVE
    assert proposal("x", FEW, around=known) == known
    assert proposal("x", FEW, answers="answers", around=known).role is Role.SENSITIVE
    assert proposal("weight", [0.61, 1.02], has_height=True) == Proposal(
        Role.SENSITIVE, "a weight next to a height: that of a body"
    )


def test_figures_follow_a_reason():
    column = ColumnFacts("x", facts("x", [1, 1, 2]).raw, 4)

    assert figures(column, Evidence(strength=0.01)) == (
        "2 values in 3 records, 33.3% of these alone with theirs, 25.0% missing, 1.0% of what makes records unique"
    )
    assert figures(facts("x", []), Evidence()) == ""


def test_nested_data_are_left_to_a_person():
    table = pa.table({"age": [1, 2], "tags": [["a"], ["b", "c"]]})
    draft = draft_policy(table, plugins=Plugins.load(external=False))

    assert draft.undecided == ["tags"]
    assert "nested or binary data" in draft.columns[1].note


def test_hierarchies_have_files_of_their_own_where_capitals_do_not_count():
    hierarchy = DraftHierarchy("", (("1", "*"),))
    columns = [DraftColumn(name, None, None, "", (), hierarchy) for name in ("Age", "age", "AGE", "a/ge", "ø", "***")]
    draft = PolicyDraft("t", None, 1, columns, [""], (), "1", {"k_anonymity": ""})
    names = list(draft.hierarchies.values())

    assert names == ["Age.csv", "age_2.csv", "AGE_3.csv", "a_ge.csv", "column.csv", "column_2.csv"]


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("data/adult.csv.gz", "adult"),
        ("people/", "people"),
        ("data/*.parquet", "table"),
        ("postgresql://u:secret@host/health?table=public.discharges", "discharges"),
        ("s3://bucket/people.parquet", "people"),
        ("postgresql://host/", "table"),
        (None, "table"),
    ],
)
def test_a_draft_is_called_like_its_table(table: str | None, name: str):
    assert file_name_of(table) == name


def test_a_policy_names_its_table_from_its_own_folder(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()

    assert located_from("people.csv", tmp_path / "a" / "p.tcdp.yaml") == "../people.csv"
    assert located_from("a/people.csv", tmp_path / "p.tcdp.yaml") == "a/people.csv"
    assert located_from("/data/people.csv", tmp_path / "p.tcdp.yaml") == "/data/people.csv"
    assert located_from("delta:lake/people@3", tmp_path / "a" / "p.tcdp.yaml") == "delta:lake/people@3"
    assert located_from("s3://bucket/x.csv", tmp_path / "p.tcdp.yaml") == "s3://bucket/x.csv"
    assert [stem_of(one) for one in ("a.tcdp.yaml", "a.b.yml", "a")] == ["a", "a.b", "a"]
