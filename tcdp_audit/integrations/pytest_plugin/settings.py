"""What the command line and the configuration of pytest say about audits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tcdp_audit.api import parse_memory, resolved
from tcdp_audit.plugin.engine import UsageError


@dataclass(frozen=True)
class Settings:
    """Tables that take the place of those that a policy names, and the budget.

    Args:
        release: a path or an address; None for the one that the policy names.
        original: likewise.
        population: likewise.
        memory: budget in bytes; None for the default.
        trust_policy_code: whether code beside a policy runs, which it names.
    """

    release: str | None = None
    original: str | None = None
    population: str | None = None
    memory: int | None = None
    trust_policy_code: bool = False

    @classmethod
    def of(cls, config: pytest.Config) -> Settings:
        """What a run of pytest was given.

        Raises:
            UsageError: the memory is no amount, or an option of the command line is empty.
        """
        memory = _option(config, "tcdp_memory") or config.getini("tcdp_memory")
        return cls(
            release=_table(config, "tcdp_release"),
            original=_table(config, "tcdp_original"),
            population=_table(config, "tcdp_population"),
            memory=parse_memory(memory) if memory else None,
            trust_policy_code=bool(
                config.getoption("tcdp_trust_policy_code") or config.getini("tcdp_trust_policy_code")
            ),
        )


def _table(config: pytest.Config, name: str) -> str | None:
    """A table; its path starts where pytest was called, or where the configuration file stands that names it."""
    option, configured = _option(config, name), config.getini(name)
    if option:
        return resolved(option, config.invocation_params.dir)
    return resolved(configured, _folder(config)) if configured else None


def _option(config: pytest.Config, name: str) -> str | None:
    """An option of the command line. An empty one, as of a variable that is not set, must not mean another table."""
    option: str | None = config.getoption(name)
    if option is not None and not option.strip():
        raise UsageError(f"--{name.replace('_', '-')} is empty; give it a value, or leave it out")
    return option


def _folder(config: pytest.Config) -> Path:
    return config.rootpath if config.inipath is None else config.inipath.parent
