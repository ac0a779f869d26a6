"""`tcdp-audit lint`: read policies and report problems."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tcdp_audit.api import visible_json
from tcdp_audit.cli.options import (
    format_option,
    json_option,
    load_plugins,
    plugin_options,
    plugins_of,
    quiet_option,
    require_one_form,
)
from tcdp_audit.cli.printing import complain, complain_of, write
from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.plugin.sentences import agree, count, visible

if TYPE_CHECKING:
    from tcdp_audit.api import OpenTables, Plugins, Policy
    from tcdp_audit.core.results.findings import ToolFinding

VAIN = 1  # the exit code of a valid policy with a demand that cannot fail or cannot be kept


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("policies", nargs=-1, metavar="[POLICY]...")
@click.option("--allow-vacuous", is_flag=True, help="Accept a policy whose demands cannot fail: exit 0.")
@click.option("--release", metavar="FILE", help="Also report what each policy's conventions do to this table.")
@format_option("github")
@json_option("findings")
@quiet_option
@plugin_options
def command(
    policies: tuple[str, ...],
    blocked: tuple[str, ...],
    *,
    allow_vacuous: bool,
    format: str,  # noqa: A002 - the option's name
    release: str | None,
    as_json: bool,
    quiet: bool,
    no_external_plugins: bool,
) -> int:
    """Read policies and report everything that is wrong with them. Only --release reads a table.

    POLICY is a file, a folder or a pattern; without it, the policies that `tcdp-audit check` would use.

    Exit code: 0 all are sound, perhaps with warnings, 1 a demand cannot fail or cannot be kept, 2 a policy is wrong, 3
    a plugin that a policy needs does not work. The highest of several policies counts.
    """
    from tcdp_audit.api import OpenTables, Options, named_policies  # noqa: PLC0415 - likewise
    from tcdp_audit.cli.configuration import configuration, resolve_policies  # noqa: PLC0415 - imports pydantic

    require_one_form(as_json=as_json, name=format)
    paths = named_policies(policies)
    if not paths:
        paths, said = resolve_policies(configuration(Path()), Path())
        if said and not quiet:
            complain(f"tcdp-audit: {visible(said)}\n")
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    with OpenTables(release, None, None, plugins, Options(), keep=len(paths) > 1) as tables:
        judged = (_judged(path, plugins, tables, allow_vacuous=allow_vacuous) for path in paths)
        if as_json:
            reports = list(judged)
            write(_as_json([finding for report in reports for finding in report.findings]))
            return max(report.code for report in reports)
        if format == "github":
            return _annotated(judged, quiet=quiet)
        return max(_printed(report, quiet=quiet) for report in judged)


def _annotated(judged: Iterable[PolicyReport], *, quiet: bool) -> int:
    """Print the log, which the workflow does not obey, and the findings as annotations; the exit code."""
    from tcdp_audit.cli.github import annotated, escaped_workflow_commands  # noqa: PLC0415 - only where asked for

    with escaped_workflow_commands():
        reports = list(judged)
        code = max(_printed(report, quiet=quiet) for report in reports)
    write("".join(f"{line}\n" for line in annotated([finding for report in reports for finding in report.findings])))
    return code


@dataclass(frozen=True)
class PolicyReport:
    """Findings in one policy."""

    path: Path  # its file
    code: int  # the exit code that follows from them
    findings: Sequence[ToolFinding]  # the problems
    policy: Policy | None  # the policy, if it can be read


def _judged(path: Path, plugins: Plugins, tables: OpenTables, *, allow_vacuous: bool) -> PolicyReport:
    """Read one policy and judge it. Faults are printed at once, as they have lines of the policy in them."""
    from tcdp_audit.api import read_policy  # noqa: PLC0415 - imports pydantic
    from tcdp_audit.cli.linting import policy_findings, release_findings  # noqa: PLC0415 - imports numpy
    from tcdp_audit.core.results.findings import Level, findings_of  # noqa: PLC0415 - likewise
    from tcdp_audit.core.results.reporter import Unaudited  # noqa: PLC0415 - likewise

    try:
        policy = read_policy(path, plugins)
        plugins_of(policy, plugins)
        findings = [
            *policy_findings(policy),
            *(release_findings(tables.inputs(policy)) if tables.given["release"] else ()),
        ]
    except TcdpAuditError as error:
        complain_of(error)
        return PolicyReport(path, error.exit_code, findings_of([Unaudited(path, error)]), None)
    grave = any(one.level is Level.ERROR for one in findings)
    return PolicyReport(path, VAIN if grave and not allow_vacuous else 0, findings, policy)


def _printed(report: PolicyReport, *, quiet: bool) -> int:
    """Print one policy's findings for people; the exit code. Faults are printed already."""
    from tcdp_audit.core.results.findings import Level  # noqa: PLC0415 - imports pydantic

    if report.policy is None or quiet:
        return report.code
    name = visible(str(report.path))
    for finding in report.findings:
        place = "" if finding.place is None else f":{finding.place.line}:{finding.place.column or 1}"
        warning = "warning: " if finding.level is Level.WARNING else ""
        write(f"{name}{place}: {warning}{visible(finding.title)}: {visible(finding.message)}\n")
    if not any(finding.level is Level.ERROR for finding in report.findings):
        write(f"{name}: sound: {_contents(report.policy)}\n")
    return report.code


def _as_json(findings: Sequence[ToolFinding]) -> str:
    """The findings as a list of objects."""
    listed = []
    for one in findings:
        place: dict[str, Any] = dict.fromkeys(("file", "line", "column"))
        if one.place is not None:
            place = {"file": one.place.path, "line": one.place.line, "column": one.place.column}
        listed.append({"rule": one.rule, "level": one.level.value, "title": one.title, "message": one.message, **place})
    return visible_json(json.dumps(listed, ensure_ascii=False, indent=2)) + "\n"


def _contents(policy: Policy) -> str:
    demanding = sum(bool(one.check.demands(one.parameters)) for one in policy.expectations)
    total = len(policy.expectations)
    return f"{count(total, 'expectation')}, {demanding:,} of which {agree(demanding, 'demands', 'demand')} something"
