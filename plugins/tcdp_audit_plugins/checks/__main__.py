"""`python -m tcdp_audit_plugins.checks` writes `announced.json`: what lists of checks need of each built-in one."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

from tcdp_audit_plugins.checks import ANNOUNCED, FAMILIES, __name__ as package


def announced() -> str:
    """Every check of every family, with what lists of checks need of it."""
    checks = [
        {
            "family": family,
            "name": one.name,
            "title": one.title,
            "disclosure_type": one.disclosure_type,
            "risk": one.risk,
        }
        for family in FAMILIES
        for one in import_module(f"{package}.{family}").CHECKS
    ]
    return json.dumps(checks, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (Path(__file__).parent / ANNOUNCED).write_text(announced(), encoding="utf-8", newline="\n")
