"""The files of a release: their names, how they are written, and their signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcdp_audit.verification.keys import private_key


@dataclass(frozen=True)
class Signer:
    """The key of the call, which no page sees.

    Args:
        path: its file.
        key: the key.
    """

    path: Path
    key: Any = field(repr=False)

    @classmethod
    def of(cls, path: str, password: Callable[[], bytes]) -> Signer:
        """Read a private key.

        Raises:
            UsageError: there is none in the file, or the password does not open it.
        """
        return cls(Path(path), private_key(Path(path), password))
