"""Until when the best distance is looked for."""

from __future__ import annotations

from math import inf
from time import monotonic


class Deadline:
    """Seconds from now on, and whether they ended before anyone who asked had finished.

    Example:
        >>> never, past = Deadline(), Deadline(0)
        >>> never.is_over(), past.is_over(), never.was_missed, past.was_missed
        (False, True, False, True)
    """

    def __init__(self, seconds: float = inf) -> None:
        self.end, self.was_missed = monotonic() + seconds, False

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.end - monotonic()

    def is_over(self) -> bool:
        """Whether nothing more may be tried; then something was left out, so that the deadline was missed."""
        self.was_missed |= self.left <= 0
        return self.was_missed

    def miss(self) -> None:
        """Say that a search was ended by time."""
        self.was_missed = True
