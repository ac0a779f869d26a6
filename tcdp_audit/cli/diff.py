"""`tcdp-audit diff`: two audits beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcdp_audit.cli.options import load_plugins, plugin_options
from tcdp_audit.cli.printing import write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tcdp_audit.comparison import AuditComparison
    from tcdp_audit.registry import Plugins
    from tcdp_audit.results.reporter import Reporter

DIFFERS = 1


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--report", "reports", multiple=True, metavar="FILE", help="Write the comparison: .html, .md or .json.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option("--fail-on", type=click.Choice(["nothing", "worse", "any"]), default="nothing", help="What exits with 1.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@plugin_options
def command(
    old: str,
    new: str,
    reports: tuple[str, ...],
    blocked: tuple[str, ...],
    *,
    as_json: bool,
    fail_on: str,
    quiet: bool,
    no_external_plugins: bool,
) -> int:
    """Compare what two audits say: verdict, expectations, columns, people at risk.

    OLD and NEW are JSON results or HTML reports. Nothing is computed again.

    Exit code: 0, whatever differs; with --fail-on worse, 1 if a verdict, a figure or a status is worse, or a demand is
    looser or gone; with --fail-on any, 1 if anything differs; 2 the call is wrong; 3 a file holds no result.
    """
    from tcdp_audit.comparison import compare  # noqa: PLC0415 - only for the work
    from tcdp_audit.written import read_audit  # noqa: PLC0415 - likewise

    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    chosen = _chosen(reports, plugins, {"OLD": Path(old), "NEW": Path(new)})
    titles = {name: check.title for name, check in plugins.checks.items()}
    comparison = compare(read_audit(Path(old)), read_audit(Path(new)), titles)
    written = [_written(path, reporter, comparison, plugins) for path, reporter in chosen]
    if as_json:
        write(comparison.to_json())
    elif not quiet:
        from tcdp_audit.cli.comparison import show_comparison  # noqa: PLC0415 - imports rich

        show_comparison(comparison, written)
    failed = {"nothing": False, "worse": comparison.is_worse, "any": not comparison.is_same}
    return DIFFERS if failed[fail_on] else 0


def _chosen(names: Sequence[str], plugins: Plugins, read: dict[str, Path]) -> list[tuple[Path, Reporter]]:
    """The reports that are asked for, each with its format.

    Raises:
        UsageError: a format has no form for comparisons, or a file cannot be written.
    """
    from tcdp_audit.files import require_writable  # noqa: PLC0415 - only for reports
    from tcdp_audit.results.own_files import require_own_files  # noqa: PLC0415 - imports pydantic
    from tcdp_audit.results.reporter import reporter_of  # noqa: PLC0415 - only for reports

    comparing = [one for one in plugins.reporters.values() if one.render_comparison is not None] if names else []
    chosen = [(Path(name), reporter_of(Path(name), comparing)) for name in names]
    require_own_files([("--report", path) for path, _ in chosen], read)
    for path, _ in chosen:
        require_writable(path)
    return chosen


def _written(path: Path, reporter: Reporter, comparison: AuditComparison, plugins: Plugins) -> str:
    from tcdp_audit.files import write_atomically  # noqa: PLC0415 - only for reports
    from tcdp_audit.results.audit import blaming_reporter  # noqa: PLC0415 - imports pydantic

    assert reporter.render_comparison is not None  # noqa: S101 - only such are chosen
    with blaming_reporter(reporter.name, plugins):
        text = reporter.render_comparison(comparison)
    write_atomically(path, text)
    return str(path)
