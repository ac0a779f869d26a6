"""`tcdp-audit fix`: repair a release, prove it by an audit of the written file, and report its cost."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcdp_audit.cli.options import (
    output_option,
    release_command,
    require_own_outputs,
    single_policy,
    table_option,
    verbose_option,
)
from tcdp_audit.cli.printing import progress_of_work

if TYPE_CHECKING:
    from tcdp_audit.cli.request import Request


@release_command(
    output_option(None, written="the repaired release; for several tables a new folder"),
    table_option,
    click.option("--keep-failing", is_flag=True, help="Write the best release even if it does not pass."),
    click.option("--keep-order", is_flag=True, help="Do not shuffle the records. Record order can link records."),
    verbose_option,
    policy=click.option(
        "--policy", "policies", metavar="FILE", help="The policy. Default: the single *.tcdp.yaml here or above."
    ),
)
def command(request: Request, *, output: str, tables: tuple[str, ...], keep_failing: bool, keep_order: bool) -> int:
    """Repair RELEASE under a policy and write the result to --output.

    The remedies that the policy names run in its order; where it names none, those that apply are tried and the one
    that loses least is kept. Everything is audited again after each. Identifiers and the key are never written. The
    output appears only if its own audit passes. Of several tables it is a folder with a file for each.

    Exit code: 0 the output passes, 1 it does not, 2 the call or the policy is wrong, 3 the audit is incomplete.
    """
    from tcdp_audit.api import fix  # noqa: PLC0415 - imports the engine
    from tcdp_audit.cli.reports import Reports  # noqa: PLC0415 - imports pydantic

    request = request.with_tables(tables)
    call = request.call(single_policy(request, "repaired"))
    reports = Reports.chosen(request.reports, request.policies, call.plugins, request.language)
    files = [("--output", Path(output)), *(("--report", path) for path in reports.files(request.policies))]
    require_own_outputs(files, call.policy, **request.tables)
    gc.enable()  # this is longer work than a check
    with progress_of_work(quiet=request.quiet) as progress:
        remediation = fix(
            **call.arguments, output=output, keep_failing=keep_failing, keep_order=keep_order, progress=progress
        )
    remediation = replace(remediation, after=replace(remediation.after, run=request.run))

    def show(written: Sequence[str]) -> None:
        from tcdp_audit.cli.displays import print_remediation  # noqa: PLC0415 - imports rich
        from tcdp_audit.cli.document import console  # noqa: PLC0415 - likewise

        print_remediation(console(), remediation, written, brief=request.brief, verbose=request.verbose)

    written = reports.write_own(remediation.after, call.path).and_also(reports.write_common([remediation.after]))
    call.hand_over(remediation.after, written, show)
    written.raise_fault()
    return remediation.after.exit_code()
