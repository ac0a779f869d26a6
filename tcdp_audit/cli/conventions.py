"""The convention matrix on a terminal: would another convention change a verdict?"""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from tcdp_audit.api import ConventionVariant, Policy, flips
from tcdp_audit.cli.console import console as console_of_command
from tcdp_audit.plugin.sentences import Status

MARKS = {
    Status.PASSED: "✓",
    Status.FAILED: "✗",
    Status.ERROR: "?",
    Status.MEASURED: "○",
    Status.SKIPPED: "·",
}


def show_conventions(policy: Policy, variants: Sequence[ConventionVariant]) -> None:
    """Print the verdict of each expectation under each combination, and which of them flip."""
    console = console_of_command()
    console.print()
    if len(variants) == 1:
        console.print("No convention could change a verdict: the release gives none of them anything to decide.")
        return
    console.print(_table(variants))
    console.print(Text("Columns are the expectations of the policy, in its order. · does not suit the conventions."))
    flipping = flips(variants)
    for position in flipping:
        expectation = policy.expectations[position]
        verdicts = sorted({one.verdicts[position].value for one in variants} - {Status.SKIPPED.value})
        title = expectation.check.titled(expectation.parameters)
        console.print(Text(f"{position + 1} {title}: {' or '.join(verdicts)}, by convention"))
    if not flipping:
        console.print(f"No verdict changes under any of the {len(variants)} combinations of conventions.")


def _table(variants: Sequence[ConventionVariant]) -> Table:
    """A row a combination; only what differs from the policy's own is named."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("conventions", overflow="fold")
    for position in range(len(variants[0].verdicts)):
        table.add_column(str(position + 1), justify="right")
    own = variants[0].conventions
    for variant in variants:
        changed = {name: value for name, value in variant.conventions.items() if value != own[name]}
        label = ", ".join(f"{name}: {value}" for name, value in changed.items()) or "as in the policy"
        table.add_row(Text(label), *(MARKS[verdict] for verdict in variant.verdicts))
    return table
