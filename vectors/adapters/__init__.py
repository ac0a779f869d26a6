"""One module for each tool that is asked; each runs in an environment that has the tool."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reply:
    """What a tool answers.

    Args:
        figure: a fraction, or the digits of a floating-point number, or `infinite`; None where it gives a verdict alone.
        verdict: `pass` or `fail`, where it judges a threshold.
    """

    figure: str | None = None
    verdict: str = ""


class LacksError(Exception):
    """The tool has no such measure or convention, by its own documentation."""


class RefusesError(Exception):
    """The tool says that it cannot answer: an exception, or a figure that is none."""


def digits(number: float) -> str:
    """A floating-point number as an answer; raises RefusesError for NaN."""
    number = float(number)
    if number != number:
        raise RefusesError("NaN")
    return "infinite" if number in {float("inf"), float("-inf")} else repr(number)
