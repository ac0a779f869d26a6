"""What was compared and what came of it, on a terminal: a line a point, what differs last, then what follows."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from tcdp_audit.cli.console import console as console_of_command
from tcdp_audit.plugin.sentences import count, visible
from tcdp_audit.verification.points import Point, State

MARKS = {
    State.CONFIRMED: ("✓", "green"),
    State.NOTE: ("·", "default"),
    State.UNVERIFIED: ("?", "bold magenta"),
    State.DIFFERS: ("✗", "bold red"),
}
MOST = 40  # points that are printed


def show_points(points: Sequence[Point], conclusion: str, state: State) -> None:
    """Print points and what follows from them.

    Args:
        points: what was compared.
        conclusion: what follows, in a sentence or a few.
        state: how the conclusion is marked.
    """
    console = console_of_command()
    width = max(map(len, (visible(one.subject) for one in points)), default=0)
    graver_first = sorted(points, key=lambda one: -list(MARKS).index(one.state))
    for one in sorted(graver_first[:MOST], key=lambda one: list(MARKS).index(one.state)):
        mark, style = MARKS[one.state]
        head = Text(f"{mark} {visible(one.subject):<{width}}  ", style)
        console.print(_hanging(head, Text(visible(one.sentence)), width + 4))
    if len(points) > MOST:
        console.print(Text(f"  and {count(len(points) - MOST, 'more point')}"))
    mark, style = MARKS[state]
    console.print()
    console.print(Text(f"{mark} ", style) + Text(conclusion, "default"))


def _hanging(head: Text, text: Text, indent: int) -> Text:
    """A text whose further lines stand below its first word."""
    console = console_of_command()
    lines = text.wrap(console, max(console.width - indent, 20))
    whole = head.copy()
    for position, line in enumerate(lines):
        line.rstrip()
        whole += Text("\n" + " " * indent if position else "") + line
    return whole
