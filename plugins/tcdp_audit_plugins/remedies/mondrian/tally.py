"""Progress that several threads make together."""

from __future__ import annotations

from threading import Lock

from tcdp_audit.plugin.remedy import Progress


class Tally:
    """The rows that all strategies are done with.

    Args:
        progress: called with (step, done, in all), by one thread at a time.
        total: how many rows there are, each counted once for every strategy.
    """

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total = progress, total
        self._done, self._lock = 0, Lock()

    def add(self, rows: int) -> None:
        """Count some more rows as done."""
        with self._lock:
            self._done += rows
            self._progress("cutting partitions", self._done, self._total)
