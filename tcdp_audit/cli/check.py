"""`tcdp-audit check`: audit a release; the exit code is the verdict."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tcdp_audit.cli.options import on_engine, prepare, with_query
from tcdp_audit.cli.progress import progress_on_terminal
from tcdp_audit.cli.release_command import Call, release_command


@release_command(
    click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", help="What fails the audit."),
    click.option("--measure-only", is_flag=True, help="Accept a policy whose demands cannot fail: exit 0."),
    click.option("--engine", metavar="NAME", help="Audit RELEASE where this engine reads it, such as spark."),
    click.option("--show-values", is_flag=True, help="Name the worst classes by their cells. Confidential!"),
    click.option("--query", metavar="FILE.sql", help="Audit what a query gives, in the database that RELEASE names."),
    click.option("--conventions", type=click.Choice(["policy", "all"]), default="policy", help="Try every convention."),
)
def command(
    call: Call,
    *,
    fail_on: str,
    measure_only: bool,
    engine: str | None,
    show_values: bool,
    query: str | None,
    conventions: str,
) -> int:
    """Audit RELEASE against a policy.

    RELEASE is a CSV, Parquet, JSON lines, Feather or Arrow file, or the address of a database's table, such as
    postgresql://HOST/DATABASE?table=TABLE; without it, the one that the policy names.

    Exit code: 0 passed, 1 an expectation failed, 2 the call or the policy is wrong, 3 the audit is incomplete.
    """
    from tcdp_audit.api import audit  # noqa: PLC0415 - imports the engine
    from tcdp_audit.cli.ahead import ahead  # noqa: PLC0415

    release = on_engine(with_query(call.release, query), engine, call.policy, call.plugins)
    arguments = {**call.arguments, "release": release}
    preparing = ahead(lambda: prepare(call.reporters))
    with progress_on_terminal(quiet=call.quiet) as progress:
        result = audit(**arguments, show_values=show_values, all_conventions=conventions == "all", progress=progress)
        preparing.result()
        reports = call.rendered_reports(result)

    def show(written: Sequence[str]) -> None:
        from tcdp_audit.cli import terminal  # noqa: PLC0415 - imports rich

        terminal.show(result, written)
        if result.variants:
            from tcdp_audit.cli.conventions import show_conventions  # noqa: PLC0415 - only where it is asked for

            show_conventions(call.policy, result.variants)

    call.hand_over(result, reports, show)
    return result.exit_code(fail_on_warning=fail_on == "warning", measure_only=measure_only)
