"""The published schema is exactly what results look like: real ones validate, and anything more does not."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator
from report_samples import HOSTILE, made_up, named_policy, named_table

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import Status

SCHEMA = json.loads(files("tcdp_audit.core.results").joinpath("result.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)
FREE = {"details", "parameters", "conventions"}


def faults(result):
    return [error.message for error in VALIDATOR.iter_errors(json.loads(json.dumps(result)))]


def test_the_schema_is_one_itself():
    Draft202012Validator.check_schema(SCHEMA)


def test_real_results_validate(salary_audit, hostile_audit):
    assert (faults(salary_audit.as_json()), faults(hostile_audit.as_json())) == ([], [])


def test_a_result_with_cells_validates():
    table = named_table(HOSTILE, lambda _, group: f"v{group}")
    result = audit(table, named_policy(HOSTILE), show_values=True).as_json()
    assert "cells" in result["outcomes"][-1]["worst"][0]
    assert faults(result) == []


def test_errors_and_infinities_validate(with_outcomes):
    result = with_outcomes(made_up(None, None, status=Status.ERROR), made_up(float("inf"), 1)).as_json()
    assert result["outcomes"][-1]["observed"] == "infinity"
    assert faults(result) == []


@pytest.mark.parametrize(
    "path",
    [(), ("release",), ("policy",), ("tool",), ("summary",), ("outcomes", 0), ("outcomes", -1, "worst", 0)],
)
def test_an_unknown_or_missing_key_is_a_fault(salary_audit, path):
    result = salary_audit.as_json()
    place = result
    for step in path:
        place = place[step]
    place["more"] = 1
    assert len(faults(result)) == 1
    del place["more"], place[next(iter(place))]
    assert len(faults(result)) == 1


def test_every_key_is_described_and_every_object_closed():
    undescribed, unclosed = [], []

    def visit(node, path):
        for name, one in node.get("properties", {}).items():
            if "description" not in one:
                undescribed.append((*path, name))
            visit(one, (*path, name))
        if "properties" in node and node.get("additionalProperties") is not False:
            unclosed.append(path)
        if "items" in node:
            visit(node["items"], (*path, "[]"))

    visit(SCHEMA, ())
    for name, one in SCHEMA["$defs"].items():
        visit(one, (name,))
    assert (undescribed, unclosed) == ([], [])
