"""`tcdp-audit lint`: read policies, and tell what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcdp_audit.api import visible_json
from tcdp_audit.cli.options import load_plugins, plugin_options, plugins_of
from tcdp_audit.cli.printing import complain, complain_of, write
from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.plugin.sentences import agree, count, visible

if TYPE_CHECKING:
    from tcdp_audit.api import Plugins, Policy
    from tcdp_audit.core.results.findings import ToolFinding

FORMATS = ("text", "github", "json")
VAIN = 1  # the exit code of a policy that is sound and demands something in vain


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("policies", nargs=-1, metavar="[POLICY]...")
@click.option("--measure-only", is_flag=True, help="Accept a policy whose demands cannot fail: exit 0.")
@click.option("--format", type=click.Choice(FORMATS), default="text", help="For people, as annotations, as a list.")
@click.option("--release", metavar="FILE", help="Tell what each policy's conventions do to this table, too.")
@plugin_options
def command(
    policies: tuple[str, ...],
    blocked: tuple[str, ...],
    *,
    measure_only: bool,
    format: str,  # noqa: A002 - the option's name
    release: str | None,
    no_external_plugins: bool,
) -> int:
    """Read policies, and tell everything that is wrong with them. No table is read but that of --release.

    POLICY is a file, a folder or a pattern; without it, what `tcdp-audit check` would take.

    Exit code: 0 all are sound, perhaps with warnings, 1 a demand is one that no release could fail or keep, 2 a policy
    is wrong, 3 a plugin that one needs does not work. The highest of several policies counts.
    """
    from tcdp_audit.api import named_policies  # noqa: PLC0415 - likewise
    from tcdp_audit.cli.configuration import configuration, meant_policies  # noqa: PLC0415 - imports pydantic

    paths = named_policies(policies)
    if not paths:
        paths, said = meant_policies(configuration(Path()), Path())
        if said:
            complain(f"tcdp-audit: {visible(said)}\n")
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    if format == "text":
        return max(_printed(path, *_judged(path, plugins, release, measure_only=measure_only)) for path in paths)
    if format == "json":
        judged = [_judged(path, plugins, release, measure_only=measure_only) for path in paths]
        write(_as_json([one for _, findings, _ in judged for one in findings]))
        return max(code for code, _, _ in judged)
    from tcdp_audit.cli.github import annotated, disobeyed  # noqa: PLC0415 - likewise

    with disobeyed():
        judged = [_judged(path, plugins, release, measure_only=measure_only) for path in paths]
        for path, one in zip(paths, judged, strict=True):
            _printed(path, *one)
    write("".join(f"{line}\n" for line in annotated([one for _, findings, _ in judged for one in findings])))
    return max(code for code, _, _ in judged)


def _judged(
    path: Path, plugins: Plugins, release: str | None, *, measure_only: bool
) -> tuple[int, Sequence[ToolFinding], Policy | None]:
    """The exit code that one policy deserves, what is wrong with it, and the policy if it can be read.

    Faults are told at once: they have lines of the policy in them.
    """
    from tcdp_audit.api import read_policy  # noqa: PLC0415 - imports pydantic
    from tcdp_audit.cli.linting import policy_findings  # noqa: PLC0415 - imports numpy
    from tcdp_audit.core.results.findings import Level, findings_of  # noqa: PLC0415 - likewise
    from tcdp_audit.core.results.reporter import Unaudited  # noqa: PLC0415 - likewise

    try:
        policy = read_policy(path, plugins)
        plugins_of(policy, plugins)
        findings = [*policy_findings(policy), *(_of_release(policy, release, plugins) if release else ())]
    except TcdpAuditError as error:
        complain_of(error)
        return error.exit_code, findings_of([Unaudited(path, error)]), None
    grave = any(one.level is Level.ERROR for one in findings)
    return (VAIN if grave and not measure_only else 0), findings, policy


def _of_release(policy: Policy, release: str, plugins: Plugins) -> Sequence[ToolFinding]:
    """What the policy does to a release."""
    from tcdp_audit.api import Options, open_inputs  # noqa: PLC0415 - likewise
    from tcdp_audit.cli.linting import release_findings  # noqa: PLC0415 - likewise

    with open_inputs(release, policy, None, None, plugins, Options()) as inputs:
        return list(release_findings(policy, inputs.engine))


def _printed(path: Path, code: int, findings: Sequence[ToolFinding], policy: Policy | None) -> int:
    """Tell about one policy for people; the exit code. Faults are told already."""
    from tcdp_audit.core.results.findings import Level  # noqa: PLC0415 - imports pydantic

    if policy is None:
        return code
    for one in findings:
        place = "" if one.place is None else f":{one.place.line}:{one.place.column or 1}"
        warns = "warning: " if one.level is Level.WARNING else ""
        write(f"{visible(str(path))}{place}: {warns}{visible(one.title)}: {visible(one.message)}\n")
    if not any(one.level is Level.ERROR for one in findings):
        write(f"{visible(str(path))}: sound: {_contents(policy)}\n")
    return code


def _as_json(findings: Sequence[ToolFinding]) -> str:
    """The findings as a list of objects."""
    listed = [
        {
            "rule": one.rule,
            "level": one.level.value,
            "title": one.title,
            "message": one.message,
            "file": None if one.place is None else one.place.path,
            "line": None if one.place is None else one.place.line,
            "column": None if one.place is None else one.place.column,
        }
        for one in findings
    ]
    return visible_json(json.dumps(listed, ensure_ascii=False, indent=2)) + "\n"


def _contents(policy: Policy) -> str:
    demanding = sum(bool(one.check.demands(one.parameters)) for one in policy.expectations)
    total = len(policy.expectations)
    return f"{count(total, 'expectation')}, {demanding:,} of which {agree(demanding, 'demands', 'demand')} something"
