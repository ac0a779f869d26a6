"""Public names that are imported when they are first used, so that importing the module that offers them costs nothing.

A module lists them once, as imports under `if TYPE_CHECKING:`, where type checkers read them too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any


def on_first_use(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module, from what it imports under `if TYPE_CHECKING:`."""

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(_homes(module))
        if name.startswith("__") or name not in _homes(module):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(import_module(_homes(module)[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return get, lambda: sorted({*_homes(module), *vars(sys.modules[module])})


@cache
def _homes(module: str) -> Mapping[str, str]:
    """The module that each public name is defined in."""
    import ast  # noqa: PLC0415 - only where a name is used

    spec = sys.modules[module].__spec__
    # not `get_source`: the loader that pytest gives to packages with a plugin of its own has none
    source = spec.loader.get_data(spec.origin) if spec and spec.loader else b""  # type: ignore[attr-defined]
    guarded = (node for node in ast.parse(source).body if isinstance(node, ast.If))
    listed = (node for block in guarded for node in block.body if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in listed for alias in node.names}
