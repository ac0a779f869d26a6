"""The file next to the table that keeps the decisions: saved at each one, never half written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcdp_audit.api import os_error_reason, write_atomically
from tcdp_audit.plugin.engine import UsageError

FORM = 1
ENDING = ".studio.json"
SAYS = (
    "Decisions of tcdp-audit studio. No cell of the table is in this file, except what the policy itself has to name: "
    "orders of values and hierarchies."
)


class DecisionFile:
    """The decisions on one table, in a file of JSON.

    Args:
        path: the file.
        subject: the table or the policy that they are about, as a person would call it.
    """

    def __init__(self, path: Path, subject: str) -> None:
        self.path, self.subject = path, subject

    def read(self) -> Mapping[str, Any] | None:
        """Read the decisions; None where there is no file.

        Raises:
            UsageError: it cannot be read, is damaged, or is about another table.
        """
        other = "move it away to begin again"
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be read: {os_error_reason(error)}") from None
        except (ValueError, RecursionError):
            raise UsageError(f"{self.path}: is damaged; {other}") from None
        if not isinstance(data, dict) or data.get("studio") != FORM or not isinstance(data.get("history"), dict):
            raise UsageError(f"{self.path}: is no file of this version of the workbench; {other}")
        if data.get("about") != self.subject:
            raise UsageError(f"{self.path}: is about another table than {self.subject}; {other}")
        return data

    def save(self, decisions: Mapping[str, Any]) -> None:
        """Write the decisions; the file appears whole or stays as it was.

        Raises:
            UsageError: it cannot be written.
        """
        content = {"studio": FORM, "says": SAYS, "about": self.subject, **decisions}
        write_atomically(self.path, json.dumps(content, ensure_ascii=True, indent=1) + "\n")
