"""Public names that are imported when they are first used, so that importing the module that offers them costs nothing.

A module lists them once, as imports under `if TYPE_CHECKING:`, where type checkers read them.
`python -m tools.generate` writes `public_names.json` from there, which is read at run time: an
installation may have no source files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = "tcdp_audit"
WRITTEN = Path(__file__).with_name("public_names.json")


def on_first_use(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module, from what `public_names.json` says of it."""

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(_homes(module))
        if name.startswith("__") or name not in _homes(module):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(import_module(_homes(module)[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return get, lambda: sorted({*_homes(module), *vars(sys.modules[module])})


def public(name: str) -> Any:
    """What the package offers under a public name: so the core reaches an application, which it does not import."""
    return getattr(import_module(_homes(ROOT)[name]), name)


@cache
def _homes(module: str) -> Mapping[str, str]:
    """The module that each public name is defined in."""
    import json  # noqa: PLC0415 - only where a name is used

    homes: Mapping[str, Mapping[str, str]] = json.loads(WRITTEN.read_text(encoding="utf-8"))
    return homes[module]
