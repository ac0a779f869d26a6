"""What the fixture `tcdp_audit` gives: `tcdp_audit.audit` with the options of the run of pytest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tcdp_audit.api import resolved
from tcdp_audit.integrations.pytest_plugin.settings import Settings
from tcdp_audit.plugin.engine import TcdpAuditError

if TYPE_CHECKING:
    from tcdp_audit.api import Policy
    from tcdp_audit.core.results.audit import Audit


@dataclass(frozen=True)
class Auditor:
    """Audits tables.

    Args:
        settings: tables to use where a call names none, and the budget.
        folder: where relative paths start: pytest's root folder.
    """

    settings: Settings
    folder: Path

    @classmethod
    def of(cls, config: pytest.Config) -> Auditor:
        """The auditor of a run.

        Raises:
            UsageError: an option is wrong.
        """
        return cls(Settings.of(config), config.rootpath)

    def __call__(
        self,
        release: Any,
        policy: str | Path | Mapping[str, Any] | Policy,
        original: Any = None,
        population: Any = None,
    ) -> Audit:
        """Audit a release.

        Args:
            release: what `tcdp_audit.audit` takes; None for that of `--tcdp-release`, or else the policy's.
            policy: likewise.
            original: likewise; None for that of `--tcdp-original`, or else the policy's.
            population: likewise.

        Raises:
            TcdpAuditError: see `tcdp_audit.audit`. Its traceback ends here: pytest shows the arguments of functions.
        """
        __tracebackhide__ = True
        from tcdp_audit.api import audit, load_policy  # noqa: PLC0415 - imports the engine

        tables = {"release": release, "original": original, "population": population}
        named = {name: getattr(self.settings, name) if one is None else self._at(one) for name, one in tables.items()}
        try:
            read = load_policy(self._at(policy), trust_policy_code=self.settings.trust_policy_code)
            return audit(**named, policy=read, memory=self.settings.memory)
        except TcdpAuditError as error:
            fault = error
        raise fault.with_traceback(None)

    def _at(self, place: Any) -> Any:
        return resolved(str(place), self.folder) if isinstance(place, str | Path) else place
