"""What may be imported from where: public names, names for plugins, and modules that have moved."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest
from imports import imports

import tcdp_audit
from tcdp_audit import plugin
from tcdp_audit.moved import NOW

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


@pytest.mark.parametrize("module", [tcdp_audit, plugin])
def test_every_public_name_is_there(module: object) -> None:
    names = module.__all__  # type: ignore[attr-defined]
    assert len(names) > 30
    for name in names:
        assert getattr(module, name) is not None
    assert set(names) <= set(dir(module))


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"^module 'tcdp_audit.plugin' has no attribute 'Nothing'$"):
        plugin.Nothing  # type: ignore[attr-defined]  # noqa: B018


def test_public_names_cost_nothing_until_they_are_used() -> None:
    program = "import sys; before = set(sys.modules); import tcdp_audit, tcdp_audit.plugin; "
    program += "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    imported = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "tcdp_audit" in imported
    assert LIBRARIES & set(imported) == set()


@pytest.mark.parametrize("old", sorted(NOW))
def test_a_module_that_has_moved_says_where_it_is(old: str) -> None:
    with pytest.raises(
        ImportError, match=rf"^tcdp_audit.{old} is now tcdp_audit.{NOW[old]}; plugins import its names "
    ):
        import_module(f"tcdp_audit.{old}")
    assert import_module(f"tcdp_audit.{NOW[old]}")


@pytest.mark.parametrize("top", ["tcdp_audit_plugins", "tcdp_audit_reports"])
def test_built_in_plugins_import_what_every_plugin_may_import(top: str) -> None:
    core = [one for one in imports(top) if one.module.split(".")[0] == "tcdp_audit"]
    assert len(core) > 50
    assert [one for one in core if one.module != "tcdp_audit.plugin"] == []
