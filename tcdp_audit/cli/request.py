"""The request to a command on a release: policies, tables, plugins and reports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tcdp_audit.api import command_line, parse_memory
from tcdp_audit.cli.configuration import (
    NO_CONFIGURATION,
    Configuration,
    configuration,
    configuration_of,
    resolve_policies,
    said_of,
)
from tcdp_audit.cli.options import load_plugins, named_companion, named_tables, plugins_of
from tcdp_audit.cli.printing import complain, write
from tcdp_audit.plugin.report import Run
from tcdp_audit.plugin.sentences import visible

if TYPE_CHECKING:
    from tcdp_audit.api import Plugins, Policy
    from tcdp_audit.cli.reports import Written
    from tcdp_audit.core.results.audit import Audit

JSON_SUFFIX = ".json"
LOOSENING = "allow-vacuous"  # a key of pyproject.toml that loosens the audit: reported even where nothing is printed


@dataclass(frozen=True)
class Request:
    """The request to a command on a release, before any policy is read."""

    release: Any  # a path, or several by their tables' names; None for the release that each policy names
    original: Any  # a path, or several by their tables' names; None for the original that each policy names
    population: Any  # likewise
    policies: tuple[Path, ...]  # the policies' files, at least one
    plugins: Plugins  # those that the options leave
    memory: int | None  # budget in bytes; None for the default
    reports: tuple[str, ...]  # the files of the reports
    as_json: bool  # whether the result is printed as JSON
    quiet: bool  # whether nothing is printed
    language: str = "en"  # of reports for people
    brief: bool = False  # whether only what needs action is printed
    verbose: bool = False  # whether every demand is printed however many there are
    trust_policy_code: bool = False  # whether code next to the policies that they name may run
    run: Run = field(default_factory=Run)  # the person who runs the command, and the command

    @property
    def tables(self) -> dict[str, Any]:
        """The tables that the call names."""
        return {"release": self.release, "original": self.original, "population": self.population}

    def with_tables(self, given: Sequence[str]) -> Request:
        """The same request with the linked tables that `--table` gives; see `named_tables`."""
        return replace(self, release=named_tables(given, self.release))

    def call(self, path: Path) -> Call:
        """The request about one of its policies.

        Raises:
            UsageError: the file does not exist or cannot be read.
            PolicyError: the policy is wrong.
            PluginError: it needs a plugin that does not work.
        """
        from tcdp_audit.api import read_policy  # noqa: PLC0415 - imports pydantic

        policy = replace(read_policy(path, self.plugins), trusts_code=self.trust_policy_code)
        return Call(self, path, policy, plugins_of(policy, self.plugins))


@dataclass(frozen=True)
class Call:
    """The request to a command for one policy, with the plugins that the policy allows."""

    request: Request
    path: Path
    policy: Policy
    plugins: Plugins

    @property
    def arguments(self) -> dict[str, Any]:
        """The common arguments of `audit` and `fix`."""
        return {**self.request.tables, "policy": self.policy, "plugins": self.plugins, "memory": self.request.memory}

    def hand_over(self, audit: Audit, written: Written, show: Callable[[Sequence[str]], None]) -> None:
        """Print the result as JSON, or let `show` print it on the terminal, given the reports that were written."""
        if self.request.as_json:
            write(audit.render(JSON_SUFFIX))
        elif not self.request.quiet:
            show(written.paths)


def request_of(context: click.Context, options: Mapping[str, Any]) -> tuple[Request, dict[str, Any]]:
    """The request that a call's options and the project's pyproject.toml make, and the command's own options.

    Raises:
        UsageError: an option or a key has no meaning, or there is no policy.
    """
    policies, said, naming = _policies(options)
    settings = configuration_of(policies, naming)
    given, changed = settings.completed(context, options)
    _, quiet, brief, memory = (given.pop(name) for name in ("policies", "quiet", "brief", "memory"))
    if said and not quiet:
        complain(f"tcdp-audit: {visible(said)}\n")
    if changed and (not quiet or changed.get(LOOSENING)):
        complain(f"tcdp-audit: {visible(said_of(settings, changed))}\n")
    request = Request(
        **{name: named_companion(f"--{name}", given.pop(name)) for name in ("original", "population")},
        **{name: given.pop(name) for name in ("release", "reports", "as_json", "language")},
        policies=tuple(policies),
        plugins=load_plugins(given.pop("blocked"), no_external_plugins=given.pop("no_external_plugins")),
        memory=None if memory is None else parse_memory(memory),
        quiet=quiet,
        brief=brief,
        verbose=given.pop("verbose", False),
        trust_policy_code=given.pop("trust_policy_code"),
        run=Run(
            given.pop("run_by") or None,
            command_line(sys.argv[1:]),
            {"file": str(settings.path), "set": changed} if changed else None,
        ),
    )
    return request, given


def _policies(options: Mapping[str, Any]) -> tuple[list[Path], str, Configuration]:
    """The policies of a call, a sentence on them, and the pyproject.toml that names them, if one does."""
    names = options["policies"]
    if names:
        from tcdp_audit.api import named_policies  # noqa: PLC0415 - imports pydantic

        return named_policies([names] if isinstance(names, str) else names), "", NO_CONFIGURATION
    naming = configuration(Path())
    policies, said = resolve_policies(naming, Path(), options["release"])
    return policies, said, naming if said.endswith(f"as {naming.path} says") else NO_CONFIGURATION
