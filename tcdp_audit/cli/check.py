"""`tcdp-audit check`: audit a release; the exit code is the verdict."""

from __future__ import annotations

from pathlib import Path

import click

from tcdp_audit.cli.ahead import Ahead
from tcdp_audit.cli.options import (
    chosen_reporters,
    load_plugins,
    plugin_options,
    plugins_of,
    prepare,
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
@click.option("--original", metavar="FILE", help="The table that the release was made from.")
@click.option("--population", metavar="FILE", help="The population that the release was drawn from.")
@click.option("--report", "reports", multiple=True, metavar="FILE", help="Write a report; its extension is its format.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", help="What fails the audit.")
@click.option("--measure-only", is_flag=True, help="Accept a policy whose demands cannot fail: exit 0.")
@click.option("--show-values", is_flag=True, help="Name the worst classes by their cells. Confidential!")
@click.option("--conventions", type=click.Choice(["policy", "all"]), default="policy", help="Try every convention.")
@click.option("--memory", metavar="SIZE", help="Budget such as 1GiB. Default: 3/4 of what is free.")
@plugin_options
def command(
    release: str | None,
    policy: str | None,
    original: str | None,
    population: str | None,
    reports: tuple[str, ...],
    fail_on: str,
    conventions: str,
    memory: str | None,
    blocked: tuple[str, ...],
    *,
    as_json: bool,
    quiet: bool,
    measure_only: bool,
    show_values: bool,
    no_external_plugins: bool,
) -> int:
    """Audit RELEASE against a policy.

    RELEASE is a CSV, Parquet, JSON lines, Feather or Arrow file; without it, the one that the policy names.

    Exit code: 0 passed, 1 an expectation failed, 2 the call or the policy is wrong, 3 the audit is incomplete.
    """
    from tcdp_audit.api import audit  # noqa: PLC0415 - imports the engine
    from tcdp_audit.policy import discover, read_policy  # noqa: PLC0415 - imports pydantic

    budget = None if memory is None else parse_memory(memory)
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    loaded = read_policy(discover(Path()) if policy is None else policy, plugins)
    plugins = plugins_of(loaded, plugins)
    chosen = chosen_reporters(reports, plugins)
    require_own_outputs(reports, loaded, release=release, original=original, population=population)
    preparing = Ahead(lambda: prepare(chosen))
    with progress_on_terminal(quiet=quiet) as progress:
        result = audit(
            release,
            loaded,
            original,
            population,
            plugins=plugins,
            memory=budget,
            show_values=show_values,
            all_conventions=conventions == "all",
            progress=progress,
        )
        preparing.result()
        rendered, faults = rendered_reports(result, reports)
    for path, text in rendered:
        write_atomically(path, text)
    if as_json:
        write(result.render(JSON_SUFFIX))
    elif not quiet:
        from tcdp_audit.cli.terminal import show  # noqa: PLC0415 - imports rich

        show(result, [str(path) for path, _ in rendered])
        if result.variants:
            from tcdp_audit.cli.conventions import show_conventions  # noqa: PLC0415 - only where it is asked for

            show_conventions(loaded, result.variants)
    if faults:
        raise faults[0]
    return result.exit_code(fail_on_warning=fail_on == "warning", measure_only=measure_only)
