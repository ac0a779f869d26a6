"""`tcdp-audit fix`: repair a release, prove it by auditing what was written, and say what it cost."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import click

from tcdp_audit.cli.progress import progress_on_terminal
from tcdp_audit.cli.release_command import Call, release_command


@release_command(
    click.option("--output", metavar="FILE", required=True, help="Where to write the repaired release."),
    click.option("--keep-failing", is_flag=True, help="Write the best release found even if it does not pass."),
    click.option("--keep-order", is_flag=True, help="Do not shuffle the records. Their order links them!"),
)
def command(call: Call, *, output: str, keep_failing: bool, keep_order: bool) -> int:
    """Repair RELEASE under a policy and write the result to --output.

    The remedies that the policy names run in its order; where it names none, those that apply are tried and the one
    that loses least is kept. Everything is audited again after each. The output appears only if its own audit passes.

    Exit code: 0 the output passes, 1 it does not, 2 the call or the policy is wrong, 3 the audit is incomplete.
    """
    from tcdp_audit.repair.fixing import fix  # noqa: PLC0415 - imports the engine

    gc.enable()  # this is longer work than a check
    with progress_on_terminal(quiet=call.quiet) as progress:
        remediation = fix(
            **call.arguments, output=output, keep_failing=keep_failing, keep_order=keep_order, progress=progress
        )
        reports = call.rendered_reports(remediation.after)

    def show(written: Sequence[str]) -> None:
        from tcdp_audit.cli.remediation import show_remediation  # noqa: PLC0415 - imports rich

        show_remediation(remediation, written)

    call.hand_over(remediation.after, reports, show)
    return remediation.after.exit_code()
