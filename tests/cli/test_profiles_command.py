"""`tcdp-audit profiles` lists what a policy may name, and shows one whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tcdp_audit.api import profiles


def test_every_profile_is_listed_with_its_size(here: Any):
    answer = here("profiles")

    assert (answer.code, answer.err) == (0, "")
    assert [line for line in answer.out.splitlines() if "@" in line] == list(profiles())
    assert "  EMA policy 0070, clinical data for publication: 1 demand, 4 questions\n" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80


@pytest.mark.parametrize("name", ["ema_policy_0070", "ema_policy_0070@2017-09"])
def test_a_profile_is_shown_with_its_source_demands_and_questions(name: str, here: Any):
    answer = here("profiles", name)

    assert answer.code == 0
    assert "  profile: ema_policy_0070@2017-09\n" in answer.out
    assert "Source: European Medicines Agency" in answer.out
    assert "- k_anonymity: {k: 11}. The guidance asks" in answer.out
    assert "- free_text: Free text, images and narratives" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80


@pytest.mark.parametrize("name", [key.partition("@")[0] for key in profiles()])
def test_the_json_has_what_a_policy_would_demand(name: str, here: Any):
    (shown,) = json.loads(here("profiles", name, "--json").out)["profiles"]
    profile = profiles()[shown["key"]]

    assert shown["title"] == profile.title
    assert [(one["check"], one["parameters"]) for one in shown["demands"]] == [
        (one.check, dict(one.parameters)) for one in profile.demands
    ]
    assert [one["key"] for one in shown["questions"]] == [one.key for one in profile.questions]


def test_an_unknown_profile_is_a_wrong_call_with_the_nearest(here: Any):
    answer = here("profiles", "ema_policy_007")
    guess = "did you mean 'ema_policy_0070'?"

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"tcdp-audit: unknown profile 'ema_policy_007'; {guess}; `tcdp-audit profiles` lists them\n"
