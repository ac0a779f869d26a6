"""`tcdp-audit check`: audit a release; the exit code is the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tcdp_audit.cli.options import (
    format_option,
    judging_options,
    release_command,
    require_one_form,
    table_option,
    verbose_option,
)
from tcdp_audit.plugin.engine import UsageError

if TYPE_CHECKING:
    from tcdp_audit.cli.audits import Form
    from tcdp_audit.cli.request import Request


@release_command(
    judging_options,
    format_option("github", "gitlab"),
    table_option,
    click.option("--engine", metavar="NAME", help="Audit RELEASE where this engine reads it, such as spark."),
    click.option(
        "--show-values", is_flag=True, help="Name the worst groups by their cells. The output will contain cell values."
    ),
    click.option("--query", metavar="FILE.sql", help="Audit the result of a query in the database RELEASE."),
    click.option(
        "--conventions", type=click.Choice(["policy", "all"]), default="policy", help="With all, try every convention."
    ),
    click.option(
        "--try-remedies",
        is_flag=True,
        help="Report what remedies would cost, or what would help tables of figures. Write nothing.",
    ),
    click.option("--digest", is_flag=True, help="Identify tables in databases by a content hash, computed there."),
    verbose_option,
    policy=click.option(
        "--policy",
        "policies",
        multiple=True,
        metavar="PATH",
        help="A policy, a folder or a pattern of them. Default: the single *.tcdp.yaml here or above.",
    ),
)
def command(
    request: Request,
    *,
    fail_on: str,
    allow_vacuous: bool,
    tables: tuple[str, ...],
    format: str,  # noqa: A002 - the option's name
    engine: str | None,
    show_values: bool,
    query: str | None,
    conventions: str,
    try_remedies: bool,
    digest: bool,
) -> int:
    """Audit RELEASE against a policy, or against several.

    RELEASE is a CSV, Parquet, JSON lines, Feather or Arrow file, or the address of a database's table, such as
    postgresql://HOST/DATABASE?table=TABLE; without it, the release that each policy names. For a policy with `tables`
    it is the folder that holds their files.

    Exit code: 0 passed, 1 an expectation failed, 2 the call or the policy is wrong, 3 the audit is incomplete. The
    highest of several policies is that of the run.
    """
    from tcdp_audit.cli.audits import Settings, run  # noqa: PLC0415 - imports the engine

    request = request.with_tables(tables)
    settings = Settings(
        fail_on == "warning", allow_vacuous, engine, query, show_values, conventions == "all", try_remedies, digest
    )
    return run(request, settings, form_of(request, format, fail_on_warning=fail_on == "warning"))


def form_of(request: Request, name: str, *, fail_on_warning: bool) -> Form:
    """The form in which the run prints its results."""
    from tcdp_audit.cli import audits  # noqa: PLC0415 - imports the engine

    require_one_form(as_json=request.as_json, name=name)
    if request.as_json and len(request.policies) > 1:
        raise UsageError(
            f"--json prints one result, and {len(request.policies)} policies are audited; "
            "write one of each with --report '{policy}.json'"
        )
    if request.as_json:
        return audits.AsJson()
    if name == "github":
        from tcdp_audit.cli.github import ForGitHub  # noqa: PLC0415 - only where it is asked for

        return ForGitHub(request.quiet, fail_on_warning, audits.ForPeople(request.brief, request.verbose))
    if request.quiet:
        return audits.Form()
    for_people = audits.ForPeople(request.brief, request.verbose)
    return audits.ForGitLab(request.plugins.only(())) if name == "gitlab" else for_people
