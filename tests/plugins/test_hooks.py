"""Every hook is documented with a whole plugin, which runs as it stands there and conforms."""

from __future__ import annotations

import inspect
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

from tcdp_audit.core.session import hookspecs
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing import check_conforms

HOOKS = sorted(name for name in vars(hookspecs) if name.startswith("tcdp_audit_"))


def example(hook: str) -> ModuleType:
    """The plugin in the docstring of a hook, as a module."""
    _, text = inspect.cleandoc(getattr(hookspecs, hook).__doc__).split("Example::\n")
    module = ModuleType(f"example_of_{hook}")
    code = compile(dedent(text), module.__name__, "exec", dont_inherit=True)
    exec(code, vars(module))  # noqa: S102 - our own documentation
    return module


def test_there_is_a_hook_for_each_kind_of_thing() -> None:
    kinds = ["checks", "detectors", "engines", "remedies", "report_sections", "reporters"]
    assert [name.removeprefix("tcdp_audit_") for name in HOOKS] == kinds


@pytest.mark.parametrize("hook", HOOKS)
def test_the_example_of_a_hook_is_a_plugin_that_conforms(hook: str) -> None:
    module, plugins = example(hook), Plugins.load(external=False)
    plugins.register(module, "example")
    provided: list[Any] = list(getattr(module, hook)())
    registered = getattr(plugins, hook.removeprefix("tcdp_audit_"))
    assert provided
    assert not plugins.broken
    for one in provided:
        assert registered[one.name] == one
        check_conforms(one)


@pytest.mark.parametrize("hook", HOOKS)
def test_the_example_of_a_hook_imports_what_every_plugin_may_import(hook: str) -> None:
    lines = [line.strip() for line in getattr(hookspecs, hook).__doc__.splitlines()]
    ours = [line for line in lines if line.startswith(("from tcdp_audit", "import tcdp_audit"))]
    assert [line for line in ours if not line.startswith("from tcdp_audit.plugin.")] == []
    assert ours
