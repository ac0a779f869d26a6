"""docs/json.md has every key of the published schema of results, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from documents import code, read, rows, section

from tcdp_audit.cli.schema import result_schema

PAGE = read("docs/json.md")
SCHEMA = json.loads(result_schema())
OF_ITS_OWN = {  # definitions that have a section
    "table": "## A table",
    "outcome": "## An outcome",
    "column": "## A column",
    "column_risk": "## The risk of a column",
    "exposed": "## People exposed by failing demands",
    "scenario": "## A scenario",
    "variant": "## A variant",
    "change_log": "## A log of changes",
    "remedy_attack": "## An attack on a remedy",
    "remedy_trial": "## A trial of remedies",
    "figure_trial": "## A trial of changes of tables of figures",
    "step": "## A step",
    "loss": "## Information loss",
    "regression": "## A regression",
    "model": "## A model",
}


def _resolved(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node behind a reference or the first of some alternatives; nothing for one with a section."""
    if "anyOf" in node:
        return _resolved(node["anyOf"][0])
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[-1]
        return {} if name in OF_ITS_OWN else _resolved(SCHEMA["$defs"][name])
    return node


def _keys(node: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The dotted path of every key below a node; `[]` marks a list."""
    for name, one in node.get("properties", {}).items():
        inner = _resolved(one)
        is_list = inner.get("type") == "array"
        path = f"{prefix}{name}{'[]' if is_list else ''}"
        yield path
        yield from _keys(_resolved(inner["items"]) if is_list else inner, f"{path}.")


@pytest.mark.parametrize(
    ("heading", "node"),
    [
        ("## The result", SCHEMA),
        *((heading, SCHEMA["$defs"][name]) for name, heading in OF_ITS_OWN.items()),
    ],
)
def test_every_key_has_a_row(heading: str, node: Mapping[str, Any]):
    documented = [code(cells[0])[0] for cells in rows(section(PAGE, heading))]

    assert sorted(documented) == sorted(_keys(node))


def test_every_status_is_documented():
    statuses = SCHEMA["properties"]["status"]["enum"]

    assert set(statuses) <= set(code(section(PAGE, "## The result")))


def test_every_key_of_an_attribute_is_documented():
    documented = code(section(PAGE, "## Information loss").split("Each of `attributes` has:")[1])

    assert set(SCHEMA["$defs"]["attribute_loss"]["properties"]) <= set(documented)
