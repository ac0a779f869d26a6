"""Remedies tried on a release that fails its policy, in memory: what they would cost, and whether it would pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.results.change_log import ChangeLog


@dataclass(frozen=True, kw_only=True)
class RemedyTrial:
    """What `fix` would make of a release. Nothing is written, and no verdict rests on it.

    Args:
        log: what was done; None where remedies could not be tried.
        passes: whether the audit of what came of it passes.
        reason: why it does not, or nothing.
        outcomes: that audit's; none where remedies could not be tried.
    """

    log: ChangeLog | None
    passes: bool
    reason: str = ""
    outcomes: tuple[Outcome, ...] = ()

    @property
    def is_tested(self) -> bool:
        """Whether there are remedies that change something, audited, with their cost."""
        return self.log is not None and bool(self.log.steps)

    @property
    def only_drops(self) -> bool:
        """Whether the release would pass with no remedy: without its identifiers and its key."""
        return self.passes and self.log is not None and not self.log.steps and bool(self.log.dropped)

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        changes: Mapping[str, Any] = {} if self.log is None else self.log.as_json()
        return {
            "passes": self.passes,
            "reason": self.reason,
            "columns_dropped": changes.get("columns_dropped", []),
            "steps": changes.get("steps", []),
            "tried": changes.get("tried", []),
            "records_suppressed": changes.get("records_suppressed"),
            "cells_changed": changes.get("cells_changed", {}),
            "planned": changes.get("planned"),
            "loss": changes.get("loss"),
            "constant_columns": changes.get("constant_columns", []),
        }
