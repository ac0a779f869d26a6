"""Questions about open columns: one a screen, one answer a family, back and later."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tcdp_audit.cli import asking
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.drafting import PolicyDraft, draft_policy
from tcdp_audit.drafting.drafting import with_roles

PLUGINS = Plugins.load(external=False)


@pytest.fixture
def draft() -> PolicyDraft:
    columns = {"age": [*range(30)], "shoe": ["x", "y", "z"] * 10, "q1": ["a", "b"] * 15, "q2": ["b", "a"] * 15}
    return draft_policy(pa.table({**columns, "q3": ["a", "a", "b"] * 10}), plugins=PLUGINS)


def answered(draft: PolicyDraft, monkeypatch: pytest.MonkeyPatch, *answers: str) -> dict[str, Role]:
    given = iter(answers)
    monkeypatch.setattr(asking, "_answer", lambda: next(given))
    return dict(asking.ask_roles(draft))


def test_one_answer_is_for_all_columns_of_a_family(draft: PolicyDraft, monkeypatch: pytest.MonkeyPatch):
    assert draft.questions[-1] == ("q1", "q2", "q3")
    roles = answered(draft, monkeypatch, *["l"] * (len(draft.questions) - 1), "s")

    assert roles == dict.fromkeys(("q1", "q2", "q3"), Role.SENSITIVE)


def test_a_question_can_be_answered_again_and_the_rest_left(draft: PolicyDraft, monkeypatch: pytest.MonkeyPatch):
    first = draft.questions[0][0]

    assert answered(draft, monkeypatch, "k", "b", "?", "s", "q")[first] is Role.SENSITIVE
    assert answered(draft, monkeypatch, "k", "b", "l", "q") == {}


def test_answers_complete_the_draft(draft: PolicyDraft):
    roles = dict.fromkeys(draft.undecided, Role.SENSITIVE)
    completed = with_roles(draft, roles, PLUGINS)

    assert completed.undecided == []
    assert all(one.note.startswith("Decided in the terminal.") for one in completed.columns if one.name in roles)
    assert [*completed.expectations] == [*draft.expectations]
