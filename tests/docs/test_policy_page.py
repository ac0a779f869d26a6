"""docs/policy.md has every key of a policy with its values and its default, and its policies are policies."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, get_args

import pytest
import yaml
from documents import blocks, code, read, rows, section
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tcdp_audit.core.policy.aggregates import (
    AggregateDeclaration,
    Dimension,
    Measure,
    Microdata,
    ModelDeclaration,
    Noise,
    Rounding,
)
from tcdp_audit.core.policy.model import (
    AGGREGATES,
    AttributeDeclaration,
    CompanionTable,
    Conventions,
    PolicyDocument,
    Utility,
)
from tcdp_audit.core.policy.schema import policy_schema

PAGE = read("docs/policy.md")
MODELS = {
    "## The document": PolicyDocument,
    "## A table with a schema of its own": CompanionTable,
    "## Attributes": AttributeDeclaration,
    "## Conventions": Conventions,
    "## Use": Utility,
    "### A table": AggregateDeclaration,
    "### Dimensions": Dimension,
    "### Measures": Measure,
    "### Rounding": Rounding,
    "### Noise": Noise,
    "### Models": ModelDeclaration,
    "### Microdata": Microdata,
}


def _table(heading: str) -> dict[str, list[str]]:
    return {code(cells[0])[0]: cells for cells in rows(section(PAGE, heading))}


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items() if name != AGGREGATES}


def _shown(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default is None:
        return "none"
    if isinstance(field.default, BaseModel):
        return "{}"
    return field.default if isinstance(field.default, str) else json.dumps(field.default)


def _choices(annotation: Any) -> set[str]:
    """The texts of a literal or an enumeration inside an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return {one.value for one in annotation}
    inside = get_args(annotation)
    texts = {one for one in inside if isinstance(one, str)}
    return texts.union(*(_choices(one) for one in inside if not isinstance(one, str)))


@pytest.mark.parametrize("heading", MODELS)
def test_every_key_is_documented_and_no_other(heading: str):
    assert list(_table(heading)) == list(_fields(MODELS[heading]))


@pytest.mark.parametrize("heading", MODELS)
def test_defaults_are_those_of_the_models(heading: str):
    documented = {key: cells[2].strip("`") for key, cells in _table(heading).items()}

    assert documented == {key: _shown(field) for key, field in _fields(MODELS[heading]).items()}


@pytest.mark.parametrize(
    "heading", ["## Attributes", "## Conventions", "### Measures", "### Rounding", "### Noise", "### Models"]
)
def test_every_value_of_a_choice_is_documented(heading: str):
    table = _table(heading)

    for key, field in _fields(MODELS[heading]).items():
        assert _choices(field.annotation) <= set(code(table[key][1])), key


def test_every_key_has_a_meaning():
    assert [cells[0] for cells in rows(PAGE) if len(cells) != 4 or len(cells[3]) < 10] == []


def test_the_inline_hierarchy_is_one():
    declaration = next(one for one in blocks(PAGE, "yaml") if "hierarchy:" in one.text)

    assert AttributeDeclaration.model_validate(yaml.safe_load(declaration.text)["disease"]).hierarchy


def test_the_schema_has_the_same_keys():
    schema = policy_schema({}, {})

    assert set(_table("## The document")) == set(schema["properties"])
