"""Value of the fixture `tcdp_audit`: `tcdp_audit.audit` with the options of the run of pytest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tcdp_audit.api import parse_memory, resolve_location
from tcdp_audit.plugin.engine import TcdpAuditError, UsageError

if TYPE_CHECKING:
    from tcdp_audit.api import Policy
    from tcdp_audit.core.results.audit import Audit


@dataclass(frozen=True)
class Auditor:
    """Audits tables, with settings where a call names none; relative paths start in `folder`, pytest's root folder."""

    settings: Settings
    folder: Path

    @classmethod
    def of(cls, config: pytest.Config) -> Auditor:
        """The auditor of a run; a wrong option raises a UsageError."""
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
            release: as for `tcdp_audit.audit`; None for that of `--tcdp-release`, or otherwise the policy's.
            policy: likewise.
            original: likewise; None for that of `--tcdp-original`, or otherwise the policy's.
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
        return resolve_location(str(place), self.folder) if isinstance(place, str | Path) else place


@dataclass(frozen=True)
class Settings:
    """Tables that replace those that a policy names, and the budget."""

    release: str | None = None  # a path or an address; None for the one that the policy names
    original: str | None = None  # likewise
    population: str | None = None  # likewise
    memory: int | None = None  # budget in bytes; None for the default
    trust_policy_code: bool = False  # whether code next to a policy that the policy names may run

    @classmethod
    def of(cls, config: pytest.Config) -> Settings:
        """Read the settings of a run of pytest.

        Raises:
            UsageError: the memory is no amount, or an option of the command line is empty.
        """
        memory = _option(config, "tcdp_memory") or config.getini("tcdp_memory")
        return cls(
            release=_table(config, "tcdp_release"),
            original=_table(config, "tcdp_original"),
            population=_table(config, "tcdp_population"),
            memory=parse_memory(memory) if memory else None,
            trust_policy_code=_trusts(config),
        )


def _trusts(config: pytest.Config) -> bool:
    return bool(config.getoption("tcdp_trust_policy_code") or config.getini("tcdp_trust_policy_code"))


def _table(config: pytest.Config, name: str) -> str | None:
    """A table; its path starts where pytest was called, or in the folder of the configuration file that names it."""
    option, configured = _option(config, name), config.getini(name)
    if option:
        return resolve_location(option, config.invocation_params.dir)
    return resolve_location(configured, _folder(config)) if configured else None


def _option(config: pytest.Config, name: str) -> str | None:
    """An option of the command line. An empty one, as of a variable that is not set, must not mean another table."""
    option: str | None = config.getoption(name)
    if option is not None and not option.strip():
        raise UsageError(f"--{name.replace('_', '-')} is empty; give it a value, or leave it out")
    return option


def _folder(config: pytest.Config) -> Path:
    return config.rootpath if config.inipath is None else config.inipath.parent
