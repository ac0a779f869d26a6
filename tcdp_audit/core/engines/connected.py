"""A table that a program has already: of a database that it is connected to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class DatabaseTable:
    """A table, view or statement of a database that a program is connected to already.

    Args:
        engine: an `sqlalchemy.Engine`. A connection of it is held for the time of the audit.
        table: an `sqlalchemy.Table`, an `sqlalchemy.Select`, or the name of a table or view.
    """

    engine: Any
    table: Any
