"""`tcdp-audit lint`: read policies without any data, and tell what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcdp_audit.cli.options import load_plugins, plugin_options, plugins_of
from tcdp_audit.cli.printing import complain, complain_of, write
from tcdp_audit.errors import TcdpAuditError
from tcdp_audit.visible import visible
from tcdp_audit.words import agree, count

if TYPE_CHECKING:
    from tcdp_audit.policy import Expectation, Policy
    from tcdp_audit.registry import Plugins
    from tcdp_audit.results.findings import ToolFinding

VAIN = 1  # the exit code of a policy that is sound and demands something in vain
NOTHING = (
    "no demand of it that counts can fail, so every audit under it ends with exit code 3; "
    "demand something, or accept it with --measure-only"
)


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("policies", nargs=-1, metavar="[POLICY]...")
@click.option("--measure-only", is_flag=True, help="Accept a policy whose demands cannot fail: exit 0.")
@click.option("--format", type=click.Choice(("text", "github")), default="text", help="For people, or as annotations.")
@plugin_options
def command(
    policies: tuple[str, ...],
    blocked: tuple[str, ...],
    *,
    measure_only: bool,
    format: str,  # noqa: A002 - the option's name
    no_external_plugins: bool,
) -> int:
    """Read policies, and tell everything that is wrong with them. No table is read.

    POLICY is a file, a folder or a pattern; without it, what `tcdp-audit check` would take.

    Exit code: 0 all are sound, 1 a demand is one that no release could fail, 2 a policy is wrong, 3 a plugin that one
    needs does not work. The highest of several policies counts.
    """
    from tcdp_audit.cli.configuration import configuration, meant_policies  # noqa: PLC0415 - imports pydantic
    from tcdp_audit.policy.discovery import named_policies  # noqa: PLC0415 - likewise

    paths = named_policies(policies)
    if not paths:
        paths, said = meant_policies(configuration(Path()), Path())
        if said:
            complain(f"tcdp-audit: {visible(said)}\n")
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    if format == "text":
        return max(_judged(path, plugins, measure_only=measure_only)[0] for path in paths)
    from tcdp_audit.cli.github import annotated, disobeyed  # noqa: PLC0415 - likewise

    with disobeyed():
        judged = [_judged(path, plugins, measure_only=measure_only) for path in paths]
    write("".join(f"{line}\n" for line in annotated([one for _, findings in judged for one in findings])))
    return max(code for code, _ in judged)


def _judged(path: Path, plugins: Plugins, *, measure_only: bool) -> tuple[int, Sequence[ToolFinding]]:
    """Tell about one policy; the exit code that it deserves, and the same as findings."""
    from tcdp_audit.policy import read_policy  # noqa: PLC0415 - imports pydantic
    from tcdp_audit.results.findings import findings_of  # noqa: PLC0415 - likewise
    from tcdp_audit.results.unaudited import Unaudited  # noqa: PLC0415 - likewise

    try:
        policy = read_policy(path, plugins)
        plugins_of(policy, plugins)
    except TcdpAuditError as error:
        complain_of(error)
        return error.exit_code, findings_of([Unaudited(path, error)])
    findings = list(_in_vain(policy))
    for one in findings:
        place = "" if one.place is None else f":{one.place.line}:{one.place.column or 1}"
        write(f"{visible(str(path))}{place}: {visible(one.title)}: {visible(one.message)}\n")
    if not findings:
        write(f"{visible(str(path))}: sound: {_contents(policy)}\n")
    return (VAIN if findings and not measure_only else 0), findings


def _contents(policy: Policy) -> str:
    demanding = sum(bool(one.check.demands(one.parameters)) for one in policy.expectations)
    total = len(policy.expectations)
    return f"{count(total, 'expectation')}, {demanding:,} of which {agree(demanding, 'demands', 'demand')} something"


def _in_vain(policy: Policy) -> Iterator[ToolFinding]:
    """What a policy demands although no release could fail it; and that it demands nothing that counts."""
    from tcdp_audit.check.unfailable import sentence  # noqa: PLC0415 - imports numpy
    from tcdp_audit.check.vacuous import vacuous  # noqa: PLC0415 - likewise
    from tcdp_audit.outcome import Severity  # noqa: PLC0415 - likewise

    counts = False
    for one in policy.expectations:
        demands = one.check.demands(one.parameters)
        names = vacuous(one.check, one.parameters)
        judged = len(names) < len(demands)
        counts |= judged and one.parameters.severity is Severity.ERROR
        if names:
            said = sentence(names, demands, judged=judged, whatever="by every release")
            yield _finding(policy, one, one.check.titled(one.parameters), said)
    if not counts:
        yield _finding(policy, None, "Nothing to judge", NOTHING)


def _finding(policy: Policy, expectation: Expectation | None, title: str, message: str) -> ToolFinding:
    from tcdp_audit.results.findings import POLICY, Level, ToolFinding  # noqa: PLC0415 - imports pydantic
    from tcdp_audit.results.place import Place, name_in_repository  # noqa: PLC0415 - likewise

    name = name_in_repository(policy.path or Path(policy.name))
    if expectation is None:
        return ToolFinding(POLICY, Level.ERROR, title, message, Place(name), "")
    place = Place(name, expectation.line or 1, expectation.column)
    return ToolFinding(expectation.check.name, Level.ERROR, title, message, place, "")
