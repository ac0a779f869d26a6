"""What may be imported from where: the public names of the package, and those for plugins, by role."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib import import_module

import pytest
from imports import imports

import tcdp_audit
from tcdp_audit import plugin

LIBRARIES = {
    *("ast", "numpy", "scipy", "pandas", "pandera", "polars", "pyarrow", "duckdb", "pydantic", "jinja2", "rich"),
    *(
        "great_expectations",
        "pyspark",
        "sqlalchemy",
        "opendp",
        "fsspec",
        "pyreadstat",
        "securesystemslib",
        "cryptography",
    ),
}


ROLES = {role: import_module(f"tcdp_audit.plugin.{role}") for role in plugin.__all__}
INTERNAL = import_module("tcdp_audit.plugin._internal")


@pytest.mark.parametrize("module", [tcdp_audit, *ROLES.values()])
def test_every_public_name_is_there(module: object) -> None:
    names = module.__all__  # type: ignore[attr-defined]
    assert len(names) > 10
    for name in names:
        assert getattr(module, name) is not None
    assert set(names) <= set(dir(module))


@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_role_fits_in_the_head(role: str) -> None:
    assert len(ROLES[role].__all__) <= 25


def test_what_only_the_built_in_plugins_use_is_capped() -> None:
    print(f"tcdp_audit.plugin._internal has {len(INTERNAL.__all__)} names")  # noqa: T201 - for those who lower it
    assert len(INTERNAL.__all__) <= 77


def test_a_name_for_plugins_has_one_home() -> None:
    homes = Counter(name for module in [*ROLES.values(), INTERNAL] for name in module.__all__)
    assert [name for name, count in homes.items() if count > 1] == []


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"^module 'tcdp_audit.plugin.check' has no attribute 'Nothing'$"):
        ROLES["check"].Nothing  # noqa: B018


def test_public_names_cost_nothing_until_they_are_used() -> None:
    program = "import sys; before = set(sys.modules); import tcdp_audit, tcdp_audit.plugin; "
    program += "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    imported = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "tcdp_audit" in imported
    assert LIBRARIES & set(imported) == set()


@pytest.mark.parametrize("top", ["tcdp_audit_plugins", "tcdp_audit_reports"])
def test_built_in_plugins_import_what_every_plugin_may_import(top: str) -> None:
    core = [one for one in imports(top) if one.module.split(".")[0] == "tcdp_audit"]
    assert len(core) > 50
    assert [one for one in core if not one.module.startswith("tcdp_audit.plugin.")] == []
