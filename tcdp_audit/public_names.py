"""`python -m tcdp_audit.public_names` writes `public_names.json`: where the public names of a module are defined."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path

from tcdp_audit.lazy import WRITTEN

MODULES = {"tcdp_audit": "__init__.py", "tcdp_audit.plugin": "plugin.py"}


def public_names() -> str:
    """The table as it is written: the names that each module imports under `if TYPE_CHECKING:`."""
    homes = {module: _homes(Path(__file__).with_name(file)) for module, file in MODULES.items()}
    return json.dumps(homes, indent=1, sort_keys=True) + "\n"


def _homes(path: Path) -> Mapping[str, str]:
    guarded = (node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.If))
    listed = (node for block in guarded for node in block.body if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in listed for alias in node.names}


if __name__ == "__main__":
    WRITTEN.write_text(public_names(), encoding="utf-8", newline="\n")
