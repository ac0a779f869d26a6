"""A policy under which no audit could be made, beside the audits of the same run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tcdp_audit.core.base.errors import PolicyError, TcdpAuditError

UNEXPLAINED = "no audit could be made, and what failed does not say why"  # a plugin's error may have no text


@dataclass(frozen=True)
class Unaudited:
    """A policy that is wrong, or whose release could not be read.

    Args:
        path: the policy's file.
        error: why there is no audit.
    """

    path: Path
    error: TcdpAuditError

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def exit_code(self) -> int:
        """2 where the call or the policy is wrong, 3 where the audit could not be made."""
        return self.error.exit_code

    @property
    def reasons(self) -> list[tuple[int, int, str]]:
        """Why: line and column of the policy (0 where unknown) and a sentence for each fault, at least one."""
        faults = self.error.faults if isinstance(self.error, PolicyError) else ()
        lines = [line for line in str(self.error).splitlines() if line.strip()] or [UNEXPLAINED]
        return list(faults) or [(0, 0, line) for line in lines]
