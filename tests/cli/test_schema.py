"""The JSON Schema of policies accepts every policy of this repository and refuses misspelt ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tcdp_audit import load_policy
from tcdp_audit.core.policy.schema import policy_schema
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.demo import POLICY, make_discharges

ROOT = Path(__file__).parents[2]
POLICIES = sorted([*ROOT.glob("examples/**/*.tcdp.yaml"), *ROOT.glob("tcdp_audit/**/*.tcdp.yaml")])

SOUND: dict[str, Any] = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}, "salary": {"role": "sensitive", "scale": "numeric"}},
    "expect": [{"k_anonymity": {"k": 5}}],
}


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    plugins = Plugins.load(external=False)
    return Draft202012Validator(policy_schema(plugins.checks, plugins.remedies))


def _expecting(*expectations: Any) -> dict[str, Any]:
    return {**SOUND, "expect": list(expectations)}


def test_it_is_what_the_command_prints(process: Any, schema: Draft202012Validator):
    answer = process("schema", "--no-external-plugins")

    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out) == schema.schema


def test_it_is_a_valid_schema_of_the_draft_that_it_names(schema: Draft202012Validator):
    Draft202012Validator.check_schema(schema.schema)

    assert schema.schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema.schema["$id"] == "urn:tcdp-audit:policy:1"


def test_every_check_is_an_alternative_with_its_own_parameters(schema: Draft202012Validator):
    alternatives = schema.schema["properties"]["expect"]["items"]["oneOf"]

    assert [*(one["required"][0] for one in alternatives)] == sorted(Plugins.load(external=False).checks)
    assert all(one["additionalProperties"] is False and one["description"] for one in alternatives)


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.name)
def test_every_policy_of_the_repository_keeps_it(path: Path, schema: Draft202012Validator):
    assert list(schema.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8")))) == []


def test_the_repository_has_policies_to_try():
    assert len(POLICIES) >= 6
    assert POLICY in {path.name for path in POLICIES}
    assert POLICY in make_discharges()


@pytest.mark.parametrize(
    "expectation",
    [
        {"t_closeness": {"t": 0.2, "attribute": "salary", "distance": "ordered"}},
        {"t_closeness": {"t": "3/8", "attribute": "salary", "distance": "ordered"}},
        {"t_closeness": {"severity": "warning"}},
        {"k_anonymity": {}},
        {"k_anonymity": None},
    ],
)
def test_what_the_loader_accepts_the_schema_accepts(expectation: Any, schema: Draft202012Validator):
    policy = _expecting(expectation)

    assert load_policy(policy).expectations
    assert schema.is_valid(policy)


@pytest.mark.parametrize(
    "policy",
    [
        _expecting({"k_anonimity": {"k": 5}}),
        _expecting({"k_anonymity": {"K": 5}}),
        _expecting({"k_anonymity": {"k": 0}}),
        _expecting({"k_anonymity": {"k": 2.5}}),
        _expecting({"k_anonymity": {"k": 5}, "t_closeness": {"t": 0.2}}),
        _expecting({"t_closeness": {"t": 1.5}}),
        _expecting({"t_closeness": {"t": "three eighths"}}),
        _expecting({"t_closeness": {"distance": "euclidean"}}),
        _expecting("k_anonymity"),
        _expecting(),
        {**SOUND, "version": 2},
        {**SOUND, "atributes": {}},
        {**SOUND, "attributes": {"zip": {"role": "quasi-identifier"}}},
        {**SOUND, "attributes": {"zip": {"role": "quasi_identifier", "scales": "nominal"}}},
        {**SOUND, "conventions": {"missing_sensitive": "ignored"}},
        {name: value for name, value in SOUND.items() if name != "attributes"},
    ],
)
def test_what_the_loader_refuses_the_schema_refuses(policy: Any, schema: Draft202012Validator):
    from tcdp_audit import PolicyError

    assert not schema.is_valid(policy)
    with pytest.raises(PolicyError):
        load_policy(policy)


def test_attributes_and_values_may_be_typed_as_numbers(schema: Draft202012Validator):
    declared = {"role": "sensitive", "scale": "ordinal", "order": [1, 2, 3]}
    policy = {**SOUND, "attributes": {**SOUND["attributes"], "grade": declared}}

    assert schema.is_valid(policy)


def test_a_third_party_checks_parameters_are_part_of_it():
    from dataclasses import replace

    (k_anonymity,) = (one for one in Plugins.load(external=False).checks.values() if one.name == "k_anonymity")
    checks = {"head_count": replace(k_anonymity, name="head_count")}
    schema = Draft202012Validator(policy_schema(checks, {}))

    assert schema.is_valid(_expecting({"head_count": {"k": 5}}))
    assert not schema.is_valid(_expecting({"k_anonymity": {"k": 5}}))


def test_the_schema_of_results_is_the_packaged_one(process: Any):
    from importlib.resources import files

    packaged = files("tcdp_audit.core.results").joinpath("result.schema.json").read_text(encoding="utf-8")

    assert process("schema", "--result") == (0, packaged, "")
    Draft202012Validator.check_schema(json.loads(packaged))


def test_an_incomplete_installation_is_reported(here: Any, monkeypatch: pytest.MonkeyPatch):
    from tcdp_audit.cli import schema

    monkeypatch.setattr(schema, "RESULT", ("tcdp_audit.core.results", "no_such.schema.json"))

    answer = here("schema", "--result")

    assert (answer.code, answer.out) == (3, "")
    assert answer.err == (
        "tcdp-audit: no_such.schema.json is missing from tcdp_audit.core.results: "
        "the installation is incomplete; reinstall it\n"
    )
