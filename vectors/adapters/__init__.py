"""One module for each tool that is asked; each runs in an environment that has the tool."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, isnan


@dataclass(frozen=True)
class Reply:
    """What a tool answers.

    Args:
        figure: a fraction, or the digits of a floating-point number, or `infinite`; None for a verdict alone.
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
    if isnan(number):
        raise RefusesError("NaN")
    return "infinite" if isinf(number) else repr(number)
