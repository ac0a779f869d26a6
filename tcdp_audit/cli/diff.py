"""`tcdp-audit diff`: compare two audits."""

from __future__ import annotations

from pathlib import Path

import click

from tcdp_audit.api import require_language
from tcdp_audit.cli.options import json_option, language_option, load_plugins, plugin_options, quiet_option
from tcdp_audit.cli.printing import write
from tcdp_audit.cli.reports import chosen_reports, write_reports

DIFFERS = 1
NOTHING = "nothing"
DIFFERENCES = (NOTHING, "worse", "different")


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--report", "reports", multiple=True, metavar="FILE", help="Write the comparison: .html, .md or .json.")
@language_option
@json_option("comparison")
@click.option("--fail-if", type=click.Choice(DIFFERENCES), default=NOTHING, help="The differences that exit with 1.")
@quiet_option
@plugin_options
def command(
    old: str,
    new: str,
    reports: tuple[str, ...],
    language: str,
    blocked: tuple[str, ...],
    *,
    as_json: bool,
    fail_if: str,
    quiet: bool,
    no_external_plugins: bool,
) -> int:
    """Compare two audits: verdict, expectations, columns, people at risk.

    OLD and NEW are JSON results or HTML reports. Nothing is computed again.

    Exit code: 0, whatever differs; with --fail-if worse, 1 if a verdict, a figure or a status is worse, a cell of a
    table of figures fails that did not, or a demand is looser or gone; with --fail-if different, 1 if anything differs;
    2 the call is wrong; 3 a file holds no result.
    """
    from tcdp_audit.core.results.comparison import compare  # noqa: PLC0415 - only for the work
    from tcdp_audit.core.results.protected_files import require_own_files  # noqa: PLC0415 - imports pydantic
    from tcdp_audit.core.results.written import read_audit  # noqa: PLC0415 - likewise

    require_language(language)
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    read = {"OLD": Path(old), "NEW": Path(new)}
    chosen = chosen_reports("render_comparison", reports, plugins, lambda files: require_own_files(files, read))
    titles = {name: check.title for name, check in plugins.checks.items()}
    comparison = compare(read_audit(Path(old)), read_audit(Path(new)), titles)
    written = write_reports("render_comparison", chosen, comparison, plugins, language)
    if as_json:
        write(comparison.to_json())
    elif not quiet:
        from tcdp_audit.cli.displays import print_comparison  # noqa: PLC0415 - imports rich

        print_comparison(comparison, written)
    failed = {NOTHING: False, "worse": comparison.is_worse, "different": not comparison.is_same}
    return DIFFERS if failed[fail_if] else 0
