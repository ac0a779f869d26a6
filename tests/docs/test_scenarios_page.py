"""docs/scenarios.md has every key of a scenario with its default, and the sentence of each mistake."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
import yaml
from documents import blocks, code, read, rows, section

from tcdp_audit import PolicyError, audit
from tcdp_audit.core.policy.model import Scenario
from tcdp_audit.core.policy.schema import policy_schema

PAGE = read("docs/scenarios.md")
KEYS = {code(cells[0])[0]: cells for cells in rows(section(PAGE, "## Keys"))}
MISTAKES = [(code(cells[0])[0], cells[1]) for cells in rows(section(PAGE, "## What is refused"))]
POLICY: dict[str, Any] = yaml.safe_load(blocks(PAGE, "yaml")[0].text)


def test_every_key_is_documented_and_no_other() -> None:
    assert list(KEYS) == list(Scenario.model_fields)


def test_defaults_are_those_of_the_model() -> None:
    for name, declared in Scenario.model_fields.items():
        default = "none" if declared.default is None else declared.default
        assert KEYS[name][2].strip("`") == ("required" if declared.is_required() else default), name


def test_every_choice_is_documented() -> None:
    text = json.dumps(policy_schema({}, {}))

    assert [one for one in code(KEYS["in_release"][1]) if f'"{one}"' not in text] == []


@pytest.mark.parametrize(("mistake", "sentence"), MISTAKES)
def test_a_mistake_is_refused_in_these_words(mistake: str, sentence: str) -> None:
    ((name, content),) = yaml.safe_load(mistake).items()
    is_scenario = name in POLICY["scenarios"] or " " in name
    scenarios = {**POLICY["scenarios"], **({name: content} if is_scenario else {})}
    expect = [{"k_anonymity": {"k": 3}}] if is_scenario else [{name: content}]

    with pytest.raises(PolicyError) as error:
        audit(pa.table({}), {**POLICY, "scenarios": scenarios, "expect": expect})

    assert sentence in str(error.value)
