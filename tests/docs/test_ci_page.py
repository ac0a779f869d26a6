"""docs/ci.md and the tables of docs/cli.md on reports and pyproject.toml list what there is, and nothing else."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import yaml
from documents import blocks, code, read, rows, section

from tcdp_audit.cli.configuration import KEYS
from tcdp_audit.core.session.registry import Plugins

CLI, CI = read("docs/cli.md"), read("docs/ci.md")


def listed_names(text: str) -> list[str]:
    return [code(cells[0])[0] for cells in rows(text)]


def test_every_format_of_reports_has_a_row():
    reporters = Plugins.load(external=False).reporters.values()

    assert sorted(listed_names(section(CLI, "## Reports"))) == sorted(one.suffix for one in reporters)
    for cells in rows(section(CLI, "## Reports")):
        (reporter,) = [one for one in reporters if one.suffix == code(cells[0])[0]]
        assert cells[2] == ("the run" if reporter.render_several else "one audit")


def test_every_key_of_a_project_has_a_row():
    assert sorted(listed_names(section(CLI, "## Policy discovery"))) == sorted(KEYS)


def test_the_example_of_a_project_has_keys_that_exist():
    (block,) = blocks(CLI, "toml")

    assert set(tomllib.loads(block.text)["tool"]["tcdp-audit"]) <= set(KEYS)


@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_every_input_and_output_of_the_action_has_a_row(kind: str):
    action: Any = yaml.safe_load(read("action.yml"))
    listed = listed_names(section(CI, "### The action"))
    inputs = listed[: len(action["inputs"])]

    assert {"inputs": inputs, "outputs": listed[len(inputs) :]}[kind] == list(action[kind])
