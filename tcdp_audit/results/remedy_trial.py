"""Remedies tried on a release that fails its policy, in memory: what they would cost, and whether it would pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_audit.results.change_log import ChangeLog
from tcdp_audit.visible import visible
from tcdp_audit.words import count, share


@dataclass(frozen=True, kw_only=True)
class RemedyTrial:
    """What `fix` would make of a release. Nothing is written, and no verdict rests on it.

    Args:
        log: what was done; None where remedies could not be tried.
        passes: whether the audit of what came of it passes.
        reason: why it does not, or nothing.
    """

    log: ChangeLog | None
    passes: bool
    reason: str = ""

    @property
    def is_tested(self) -> bool:
        """Whether there are remedies that change something, audited, with their cost."""
        return self.log is not None and bool(self.log.steps)

    @property
    def remedies(self) -> list[str]:
        """The names of the remedies that were kept. Their parameters may name values."""
        return [] if self.log is None else [visible(one.title) for one in self.log.steps]

    @property
    def cost(self) -> str:
        """What they would cost, in a clause; nothing where nothing was kept."""
        if self.log is None or not self.log.steps:
            return ""
        cells, log = sum(self.log.cells.values()), self.log
        return (
            f"{count(log.suppressed, 'record')} withheld ({share(log.suppressed, log.records)}), "
            f"{count(cells, 'cell')} changed, information loss {share(float(log.loss['total']), 1)}"
        )

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        changes: Mapping[str, Any] = {} if self.log is None else self.log.as_json()
        return {
            "passes": self.passes,
            "reason": self.reason,
            "steps": changes.get("steps", []),
            "tried": changes.get("tried", []),
            "records_suppressed": changes.get("records_suppressed"),
            "cells_changed": changes.get("cells_changed", {}),
            "planned": changes.get("planned"),
            "loss": changes.get("loss"),
        }
