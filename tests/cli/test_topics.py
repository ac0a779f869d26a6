"""What `explain` says of policies, roles, findings on columns, profiles and exit codes: what the documentation says."""

from __future__ import annotations

from typing import Any

import pytest

from tcdp_audit.cli.explain import ROLES, topic, topics
from tcdp_audit.core.base.outcome import COLUMN_DEMANDS
from tcdp_audit.core.policy.model import AGGREGATES, PolicyDocument, Role
from tcdp_audit.core.policy.policy import profiles


def test_every_role_is_a_topic_and_its_page_is_that_on_attributes():
    assert set(ROLES) == {role.value for role in Role} < set(topics())
    assert {topic(role) for role in ROLES} == {topic("attributes")}


@pytest.mark.parametrize(
    "name", [*COLUMN_DEMANDS, *(role.value for role in Role), "policy", "exit-codes", "exit_codes"]
)
def test_every_name_that_an_audit_uses_is_explained(name: str, here: Any):
    answer = here("explain", name)

    assert (answer.code, answer.err) == (0, "")
    prose = [line for line in answer.out.splitlines() if not line.startswith("  ")]  # examples are never broken
    assert 60 < max(map(len, prose)) <= 80
    assert "](" not in answer.out
    assert "|--" not in answer.out


def test_a_policy_is_explained_whole(here: Any):
    printed = here("explain", "policy").out

    for key, field in PolicyDocument.model_fields.items():
        assert (f"- `{field.alias or key}` (" in printed) == (key != AGGREGATES)
    assert "  - k_anonymity: {k: 2}\n" in printed


def test_a_finding_on_columns_is_explained_by_itself(here: Any):
    printed = " ".join(here("explain", "undeclared_columns").out.split())

    assert "- `undeclared_columns` (the release has a column that the policy gives no role." in printed
    assert "missing_columns" not in printed


def test_profiles_are_listed(here: Any):
    printed = here("explain", "profile").out

    assert all(f"profile: {key}\n" in printed for key in profiles())


def test_topics_are_listed_and_suggested(here: Any):
    assert f"\nTopics: {', '.join(topics())} " in here("explain").out.replace("\n\n", " \n\n").replace(",\n", ", ")
    answer = here("explain", "polcy")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "tcdp-audit: unknown check, remedy or topic 'polcy'; `tcdp-audit explain` lists them; did you mean 'policy'?\n"
    )
