"""`tcdp-audit frontier`: explore the risk-utility trade-off of other thresholds."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcdp_audit.api import require_language
from tcdp_audit.cli.options import by_name, release_command, require_own_outputs, single_policy, table_option
from tcdp_audit.cli.printing import progress_of_work, write
from tcdp_audit.cli.reports import chosen_reports, write_reports
from tcdp_audit.plugin.engine import UsageError

if TYPE_CHECKING:
    from tcdp_audit.cli.request import Request
    from tcdp_audit.core.results.frontier import Frontier

MOST_WORKERS = 4  # unless `--workers` says more: each holds the release


@release_command(
    table_option,
    click.option("--vary", metavar="CHECK=LEVELS", multiple=True, help="Such as k_anonymity=3..50. Repeatable."),
    click.option(
        "--budget",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="Start no new trial after this many seconds.",
    ),
    click.option("--resume", metavar="FILE", help="Save progress to FILE and resume from it."),
    click.option(
        "--workers", type=click.IntRange(1), metavar="N", help="Processes. Default: one for each CPU, at most 4."
    ),
    click.option("--point", type=click.IntRange(1), metavar="N", help="Print the policy lines of one point."),
    policy=click.option(
        "--policy", "policies", metavar="FILE", help="The policy. Default: the single *.tcdp.yaml here or above."
    ),
    formats=".html, .md, .json",
)
def command(
    request: Request,
    *,
    tables: tuple[str, ...],
    vary: tuple[str, ...],
    budget: float | None,
    resume: str | None,
    workers: int | None,
    point: int | None,
) -> int:
    """Explore what other thresholds of a policy would cost RELEASE.

    Each setting of the thresholds is repaired as fix does it, written to a private file, and audited by reading that
    file; of several linked tables a folder of files. The front holds the releases that no other one dominates in risk
    and loss; its points are policy lines.
    Without --vary, every demand is varied by itself.

    Exit code: 0 some point keeps the policy, 1 none does, 2 the call or the policy is wrong, 3 the search is
    incomplete.
    """
    from tcdp_audit.frontiers.exploring import frontier  # noqa: PLC0415 - imports the engine

    request = request.with_tables(tables)
    call = request.call(single_policy(request, "explored"))
    saved = [] if resume is None else [("--resume", Path(resume))]
    require_language(request.language)
    chosen = chosen_reports(
        "render_frontier",
        request.reports,
        call.plugins,
        lambda files: require_own_outputs([*saved, *files], call.policy, **request.tables),
    )
    gc.enable()  # this is longer work than a check
    with progress_of_work(quiet=request.quiet) as progress:
        explored = frontier(
            **call.arguments,
            vary=_varied(vary),
            budget=budget,
            resume=resume,
            workers=_workers() if workers is None else workers,
            progress=progress,
        )
    explored = replace(explored, run=request.run)
    written = write_reports("render_frontier", chosen, explored, call.plugins, request.language)
    if point is not None:
        return _print_lines(explored, point)
    if request.as_json:
        write(explored.to_json())
    elif not request.quiet:
        from tcdp_audit.cli.displays import print_frontier  # noqa: PLC0415 - imports rich

        print_frontier(explored, written, brief=request.brief)
    return explored.exit_code


def _varied(given: Iterable[str]) -> dict[str, str] | None:
    """The demands to vary, by name; None where none is named."""
    form = "the check, =, and its thresholds, such as k_anonymity=3..50"
    once = "write all its thresholds once, such as k_anonymity=3,5,10"
    return by_name("--vary", (one.rpartition("=") for one in given), form, once) or None


def _workers() -> int:
    from tcdp_audit.api import processors  # noqa: PLC0415 - only for the work

    return min(processors(), MOST_WORKERS)


def _print_lines(explored: Frontier, point: int) -> int:
    """Print the policy lines of one point of the front."""
    if point > len(explored.points):
        raise UsageError(f"--point {point}: the front has {len(explored.points):,} points")
    write(explored.points[point - 1].lines)
    return explored.exit_code
