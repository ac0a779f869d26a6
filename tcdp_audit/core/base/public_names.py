"""Write `public_names.json`, which says where the public names of a module are defined.

Run it with `python -m tcdp_audit.core.base.public_names`.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path

from tcdp_audit.core.base.lazy import WRITTEN

PACKAGE = Path(__file__).parents[2]
ROLES = ("_internal", "check", "detector", "engine", "measure", "remedy", "report", "sentences")
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


if __name__ == "__main__":
    WRITTEN.write_text(public_names(), encoding="utf-8", newline="\n")
