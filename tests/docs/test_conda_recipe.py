"""The conda recipe builds this version and asks for what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import yaml
from documents import ROOT
from packaging.requirements import Requirement

from tcdp_audit import __version__

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAMES = {"python-duckdb": "duckdb"}  # conda-forge's name, and that of the index of Python


def recipe() -> dict[str, Any]:
    """The recipe as conda reads it: its variables in their places."""
    text = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    (version,) = re.findall(r'^{% set version = "(.+)" %}$', text, re.MULTILINE)
    text = re.sub(r"^{%.*%}$", "", text, flags=re.MULTILINE)
    text = text.replace("{{ version }}", version).replace("{{ PYTHON }}", "python")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def required(lines: list[str]) -> dict[str, str]:
    """The least version of each requirement, by its name in the index of Python."""
    parts = [Requirement(line.replace(" ", "", 1)) for line in lines]
    return {NAMES.get(one.name.lower(), one.name.lower()): str(one.specifier) for one in parts}


def test_it_asks_for_what_the_project_asks_for():
    asked = required(PROJECT["project"]["dependencies"]) | {"python": PROJECT["project"]["requires-python"]}

    assert required(recipe()["requirements"]["run"]) == asked


def test_it_builds_as_the_project_does():
    host = required(recipe()["requirements"]["host"])

    assert required(PROJECT["build-system"]["requires"]).items() <= host.items()
    assert host["python"] == PROJECT["project"]["requires-python"]


def test_it_is_of_this_version_and_has_the_command():
    loaded = recipe()

    assert loaded["package"] == {"name": "tcdp-audit", "version": __version__}
    assert loaded["source"]["path"] == f"../dist/tcdp_audit-{__version__}.tar.gz"
    assert loaded["build"]["entry_points"] == [f"tcdp-audit = {PROJECT['project']['scripts']['tcdp-audit']}"]
    assert loaded["about"]["license"] == PROJECT["project"]["license"]
