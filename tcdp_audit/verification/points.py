"""Comparisons of a verification, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The state of a comparison: equal, different, not verifiable, or only worth knowing."""

    CONFIRMED = "confirmed"
    DIFFERS = "differs"
    UNVERIFIED = "unverified"
    NOTE = "note"


@dataclass(frozen=True)
class Point:
    """One thing that was compared.

    Args:
        subject: what it is, in a word: release, policy, figures.
        state: its result.
        sentence: how it was and is. No cell is in it, and no text of a report that is not what it should be.
    """

    subject: str
    state: State
    sentence: str


@dataclass(frozen=True)
class Verification:
    """The result of all comparisons.

    Args:
        points: each of them.
        verdict: what the verified audit concludes: passed, failed, error or measured.
        title: the same in words.
    """

    points: tuple[Point, ...]
    verdict: str
    title: str = ""

    @property
    def differences(self) -> Sequence[Point]:
        """The comparisons that differ."""
        return [one for one in self.points if one.state is State.DIFFERS]

    @property
    def unverified(self) -> Sequence[Point]:
        """The comparisons that could not be made."""
        return [one for one in self.points if one.state is State.UNVERIFIED]

    @property
    def is_confirmed(self) -> bool:
        """Whether everything was compared, and is what it was."""
        return not self.differences and not self.unverified and any(one.state is State.CONFIRMED for one in self.points)

    @property
    def exit_code(self) -> int:
        """0 confirmed; 1 something differs, whatever else could not be verified; 3 something could not be verified."""
        return 1 if self.differences else 0 if self.is_confirmed else 3
