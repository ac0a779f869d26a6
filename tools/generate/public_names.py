"""The file `public_names.json`: the defining modules of public names."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "tcdp_audit"
ROLES = ("_internal", "aggregate", "check", "detector", "engine", "remedy", "report", "sentences")
MODULES = {
    "tcdp_audit": "__init__.py",
    "tcdp_audit.api": "api.py",
    **{f"tcdp_audit.plugin.{role}": f"plugin/{role}.py" for role in ROLES},
}


def public_names() -> str:
    """The table as it is written: the names that each module imports under `if TYPE_CHECKING:`."""
    homes = {module: _homes(PACKAGE / file) for module, file in MODULES.items()}
    return json.dumps(homes, indent=1, sort_keys=True) + "\n"


def _homes(path: Path) -> Mapping[str, str]:
    guarded = (node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.If))
    listed = (node for block in guarded for node in block.body if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in listed for alias in node.names}
