"""The conda recipe builds this version and asks for what pyproject.toml asks for."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from documents import ROOT
from packaging.requirements import Requirement

from tcdp_audit import __version__

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = ROOT / "recipe" / "recipe.yaml"
NAMES = {"python-duckdb": "duckdb"}  # conda-forge's name, and that of the index of Python


def recipe() -> dict[str, Any]:
    """The recipe with its version in its places."""
    text = RECIPE.read_text(encoding="utf-8")
    version = yaml.safe_load(text)["context"]["version"]
    loaded: dict[str, Any] = yaml.safe_load(text.replace("${{ version }}", version))
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
    assert loaded["build"]["python"]["entry_points"] == [f"tcdp-audit = {PROJECT['project']['scripts']['tcdp-audit']}"]
    assert loaded["about"]["license"] == PROJECT["project"]["license"]


@pytest.mark.long
def test_rattler_build_renders_it(skip_or_fail: Callable[[str], None]):
    try:
        import rattler_build
    except ImportError:
        skip_or_fail("py-rattler-build is not installed")

    (rendered,) = rattler_build.Stage0Recipe.from_file(RECIPE).render()

    package = rendered.recipe.package
    assert (str(package.name), str(package.version)) == ("tcdp-audit", __version__)
