"""Questions about the columns that a draft leaves open, in a terminal: one question a screen, one answer a family."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from tcdp_audit.cli.printing import complain, current
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import count, listing, visible

if TYPE_CHECKING:
    from tcdp_audit.drafting import PolicyDraft
    from tcdp_audit.drafting.draft import DraftColumn

FEW = 8  # columns of a family that are named
CLEAR = "\x1b[2J\x1b[H"  # the screen
CHOICES = (
    ("k", Role.QUASI_IDENTIFIER, "known: others may know it of a person (quasi_identifier)"),
    ("s", Role.SENSITIVE, "secret: no one must learn it of a person (sensitive)"),
    ("n", Role.INSENSITIVE, "neither: it says nothing of a person; this claim is yours (insensitive)"),
    ("i", Role.IDENTIFIER, "it names a person directly, and must not be in the release (identifier)"),
)
LATER, BACK, END = "l", "b", "q"
COMMANDS = ((LATER, "later: leave it TODO"), (BACK, "back to the question before"), (END, "end: leave the rest TODO"))


@dataclass
class Answers:
    """The roles that a person gave, and how many questions were answered."""

    roles: dict[str, Role] = field(default_factory=dict)  # by column

    def give(self, family: Sequence[str], role: Role | None) -> None:
        """Give all columns of a family one role; None takes it back."""
        for name in family:
            self.roles.pop(name, None)
            if role is not None:
                self.roles[name] = role


def require_terminal() -> None:
    """Require a person who can answer.

    Raises:
        UsageError: standard input or standard error is no terminal.
    """
    if not (sys.stdin is not None and sys.stdin.isatty() and current().err.isatty()):
        raise UsageError("--ask: asks questions in a terminal, and this is none; leave it out, and decide in the file")


def ask_roles(draft: PolicyDraft) -> Mapping[str, Role]:
    """Ask for the role of each column that is open; columns whose names differ in numbers only are one question.

    An answer is a letter and the return key. Without an answer, and at the end of input, a column stays open.
    """
    questions, answers = draft.questions, Answers()
    columns = {one.name: one for one in draft.columns}
    place = 0
    while place < len(questions):
        family = questions[place]
        write_screen(_screen(place, len(questions), family, columns[family[0]]))
        answer = _answer()
        if answer == END:
            break
        if answer == BACK:
            place = max(0, place - 1)
            continue
        role = next((role for key, role, _ in CHOICES if key == answer), None)
        if role is None and answer != LATER:
            continue
        answers.give(family, role)
        place += 1
    write_screen([])
    return answers.roles


def write_screen(lines: Sequence[str]) -> None:
    """Show lines on an empty screen: on standard error, as standard output is for results."""
    current().err.as_it_is.write(CLEAR)
    complain("".join(f"{line}\n" for line in lines))


def _answer() -> str:
    try:
        return (
            str(click.prompt("Answer", prompt_suffix=": ", default="", show_default=False, err=True))
            .strip()
            .lower()[:1]
        )
    except (click.Abort, EOFError):
        raise KeyboardInterrupt from None


def _screen(place: int, number: int, family: Sequence[str], column: DraftColumn) -> list[str]:
    """The lines of a question: which column, what is known of it, and the answers."""
    width = max(40, get_terminal_size().columns - 2)
    named = listing([repr(one) for one in family[:FEW]])
    more = f" and {count(len(family) - FEW)} more" if len(family) > FEW else ""
    lines = [f"Question {place + 1:,} of {number:,}", ""]
    lines += wrap(visible(f"What is {named}{more}?"), width)
    if len(family) > 1:
        lines += wrap("Their names differ in numbers only, so that one answer is for all of them.", width)
    lines += ["", *wrap(visible(column.note), width), ""]
    lines += [f"  {key}  {text}" for key, _, text in CHOICES]
    lines += ["", *(f"  {key}  {text}" for key, text in COMMANDS), ""]
    return lines
