"""`tcdp-audit fix`: repair a release, prove it by auditing what was written, and say what it cost."""

from __future__ import annotations

import gc
from pathlib import Path

import click

from tcdp_audit.cli.options import (
    chosen_reporters,
    load_plugins,
    plugin_options,
    plugins_of,
    rendered_reports,
    require_own_outputs,
)
from tcdp_audit.cli.printing import write
from tcdp_audit.cli.progress import progress_on_terminal
from tcdp_audit.files import write_atomically
from tcdp_audit.resources import parse_memory

JSON_SUFFIX = ".json"


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("release", required=False)
@click.option("--policy", metavar="FILE", help="The policy. Default: the single *.tcdp.yaml of this folder.")
@click.option("--output", metavar="FILE", required=True, help="Where to write the repaired release.")
@click.option("--original", metavar="FILE", help="The table that the release was made from.")
@click.option("--population", metavar="FILE", help="The population that the release was drawn from.")
@click.option("--report", "reports", multiple=True, metavar="FILE", help="Write a report; its extension is its format.")
@click.option("--keep-failing", is_flag=True, help="Write the best release found even if it does not pass.")
@click.option("--keep-order", is_flag=True, help="Do not shuffle the records. Their order links them!")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--memory", metavar="SIZE", help="Budget such as 1GiB. Default: 3/4 of what is free.")
@plugin_options
def command(
    release: str | None,
    policy: str | None,
    output: str,
    original: str | None,
    population: str | None,
    reports: tuple[str, ...],
    memory: str | None,
    blocked: tuple[str, ...],
    *,
    keep_failing: bool,
    keep_order: bool,
    as_json: bool,
    quiet: bool,
    no_external_plugins: bool,
) -> int:
    """Repair RELEASE under a policy and write the result to --output.

    The remedies that the policy names run in its order; where it names none, those that apply are tried and the one
    that loses least is kept. Everything is audited again after each. The output appears only if its own audit passes.

    Exit code: 0 the output passes, 1 it does not, 2 the call or the policy is wrong, 3 the audit is incomplete.
    """
    from tcdp_audit.policy import discover, read_policy  # noqa: PLC0415 - imports pydantic
    from tcdp_audit.repair.fixing import fix  # noqa: PLC0415 - imports the engine

    gc.enable()  # this is longer work than a check
    budget = None if memory is None else parse_memory(memory)
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    loaded = read_policy(discover(Path()) if policy is None else policy, plugins)
    plugins = plugins_of(loaded, plugins)
    chosen_reporters(reports, plugins)
    require_own_outputs(reports, loaded, output, release=release, original=original, population=population)
    with progress_on_terminal(quiet=quiet) as progress:
        remediation = fix(
            release,
            loaded,
            original,
            population,
            output=output,
            keep_failing=keep_failing,
            keep_order=keep_order,
            plugins=plugins,
            memory=budget,
            progress=progress,
        )
        rendered, faults = rendered_reports(remediation.after, reports)
    for path, text in rendered:
        write_atomically(path, text)
    if as_json:
        write(remediation.after.render(JSON_SUFFIX))
    elif not quiet:
        from tcdp_audit.cli.remediation import show_remediation  # noqa: PLC0415 - imports rich

        show_remediation(remediation, [str(path) for path, _ in rendered])
    if faults:
        raise faults[0]
    return remediation.after.exit_code()
