"""A Python for workers of Spark that has no tcdp-audit."""

from __future__ import annotations

import sys
from pathlib import Path

REFUSAL = """\
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.startswith('tcdp_audit'):
            raise ModuleNotFoundError(f'No module named {name!r}')
sys.meta_path.insert(0, Refuse())
"""


def python_without_tcdp_audit(folder: Path) -> Path:
    """This Python, in which tcdp-audit cannot be imported."""
    (folder / "sitecustomize.py").write_text(REFUSAL, encoding="utf-8")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return python
