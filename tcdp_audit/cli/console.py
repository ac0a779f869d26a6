"""A rich console on a command's streams, in which no text acts on the terminal: only rich's own styles do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from tcdp_audit.api import visible_lines
from tcdp_audit.cli.printing import current


class VisibleConsole(Console):
    """Writes out what would act on the terminal, wherever in a table or a progress bar it stands."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The parts of something to print; only rich's own control codes stay as they are."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible_lines(segment.text), segment.style)


def console(*, stderr: bool = False) -> Console:
    """The console of the command that runs."""
    stream = current().err if stderr else current().out
    return VisibleConsole(file=cast("IO[str]", stream.as_it_is), highlight=False)
