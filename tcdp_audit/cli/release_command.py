"""What `check` and `fix` have in common: their options, and what becomes of an audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tcdp_audit.cli.options import chosen_reporters, load_plugins, plugin_options, plugins_of, require_own_outputs
from tcdp_audit.cli.printing import write
from tcdp_audit.errors import PluginError
from tcdp_audit.files import write_atomically
from tcdp_audit.registry import Plugins
from tcdp_audit.resources import parse_memory

if TYPE_CHECKING:
    from tcdp_audit.policy import Policy
    from tcdp_audit.results.audit import Audit
    from tcdp_audit.results.reporter import Reporter

JSON_SUFFIX = ".json"
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True)
class Call:
    """What a command on a release was asked.

    Args:
        release: a path; None for the release that the policy names.
        policy: what the release must satisfy.
        original: a path; None for the one that the policy names.
        population: likewise.
        plugins: those that take part.
        memory: budget in bytes; None for the default.
        reports: the files of the reports.
        reporters: the reporter of each.
        as_json: whether the result is printed as JSON.
        quiet: whether nothing is printed.
    """

    release: str | None
    policy: Policy
    original: str | None
    population: str | None
    plugins: Plugins
    memory: int | None
    reports: tuple[str, ...]
    reporters: list[Reporter]
    as_json: bool
    quiet: bool

    @property
    def arguments(self) -> dict[str, Any]:
        """What `audit` and `fix` are called with alike."""
        names = ("release", "policy", "original", "population", "plugins", "memory")
        return {name: getattr(self, name) for name in names}

    def rendered_reports(self, audit: Audit) -> RenderedReports:
        """Each report as text, and the faults of those that could not be made; one takes no other down."""
        texts, faults = {}, []
        for path in map(Path, self.reports):
            try:
                texts[path] = audit.render(path.suffix)
            except PluginError as fault:
                faults.append(PluginError(f"{path}: {fault}"))
        return RenderedReports(texts, faults)

    def hand_over(self, audit: Audit, reports: RenderedReports, show: Callable[[Sequence[str]], None]) -> None:
        """Write the reports, and print the result.

        Args:
            audit: the result.
            reports: its reports.
            show: prints it on the terminal, given the reports that were written.

        Raises:
            PluginError: a report could not be made.
        """
        for path, text in reports.texts.items():
            write_atomically(path, text)
        if self.as_json:
            write(audit.render(JSON_SUFFIX))
        elif not self.quiet:
            show([str(path) for path in reports.texts])
        if reports.faults:
            raise reports.faults[0]


@dataclass(frozen=True)
class RenderedReports:
    """Reports as text by their path, and the faults of those that could not be made."""

    texts: dict[Path, str]
    faults: list[PluginError]


def release_command(*own_options: Decorator) -> Callable[[Callable[..., int]], click.Command]:
    """A command on a release. Its function is given a `Call`, and its own options by name.

    Args:
        *own_options: the options that it has beside those that all have; `output` is a file that it writes.
    """
    options: list[Decorator] = [
        click.argument("release", required=False),
        click.option("--policy", metavar="FILE", help="The policy. Default: the single *.tcdp.yaml of this folder."),
        *own_options,
        click.option("--original", metavar="FILE", help="The table that the release was made from."),
        click.option("--population", metavar="FILE", help="The population that the release was drawn from."),
        click.option(
            "--report", "reports", multiple=True, metavar="FILE", help="Write a report; its extension is its format."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option("--quiet", is_flag=True, help="Print nothing but errors."),
        click.option("--memory", metavar="SIZE", help="Budget such as 1GiB. Default: 3/4 of what is free."),
        plugin_options,
    ]

    def as_command(function: Callable[..., int]) -> click.Command:
        @wraps(function)
        def called(*, release: str | None, original: str | None, population: str | None, **given: Any) -> int:
            from tcdp_audit.policy import discover, read_policy  # noqa: PLC0415 - imports pydantic

            memory, reports = given.pop("memory"), given.pop("reports")
            budget = None if memory is None else parse_memory(memory)
            plugins = load_plugins(given.pop("blocked"), no_external_plugins=given.pop("no_external_plugins"))
            policy = given.pop("policy")
            policy = read_policy(discover(Path()) if policy is None else policy, plugins)
            plugins = plugins_of(policy, plugins)
            reporters = chosen_reporters(reports, plugins)
            tables = {"release": release, "original": original, "population": population}
            require_own_outputs(reports, policy, given.get("output"), **tables)
            call = Call(
                **tables,
                policy=policy,
                plugins=plugins,
                memory=budget,
                reports=reports,
                reporters=reporters,
                as_json=given.pop("as_json"),
                quiet=given.pop("quiet"),
            )
            return function(call, **given)

        decorated: Callable[..., Any] = called
        for option in reversed(options):
            decorated = option(decorated)
        return click.command(context_settings={"help_option_names": ["--help", "-h"]})(decorated)

    return as_command
