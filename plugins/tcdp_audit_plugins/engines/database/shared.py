"""Tables of one database that are open together are read on one snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from tcdp_audit_plugins.engines.database.session import Session


@dataclass
class _Open:
    session: Session
    users: int = 0


_OPEN: dict[Hashable, _Open] = {}
_GUARD = threading.Lock()


class SharedSession:
    """One user's hold on a session; the last one to let go closes it.

    Args:
        database: what tells databases apart: an address, or an engine. Threads do not share, as one may begin to
            audit long after another.
        connect: opens the session where nobody has.
    """

    def __init__(self, database: Hashable, connect: Callable[[], Session]) -> None:
        self._key = (database, threading.get_ident())
        with _GUARD:
            entry = _OPEN.get(self._key) or _Open(connect())
            entry.users += 1
            _OPEN[self._key] = entry
        self.session = entry.session
        self._holds = True

    def close(self) -> None:
        """Let go."""
        with _GUARD:
            if not self._holds:
                return
            self._holds = False
            entry = _OPEN[self._key]
            entry.users -= 1
            if entry.users:
                return
            del _OPEN[self._key]
        entry.session.close()
