"""Errors that a person can act on. A message says what is wrong, where, and what to do; never a cell value."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ContextDecorator
from types import TracebackType


class TcdpAuditError(Exception):
    """Anything the auditor says on purpose. `exit_code` is what the command line answers with."""

    exit_code = 3


class UsageError(TcdpAuditError):
    """The call itself is wrong: a missing file, an unwritable report path, an unknown format."""

    exit_code = 2


class PolicyError(TcdpAuditError):
    """The policy is wrong. The message lists every fault, each with file, line and column.

    Args:
        message: all of it, for people.
        faults: each fault by itself: line, column (both from 1; 0 is unknown) and sentence.
    """

    exit_code = 2

    def __init__(self, message: str, faults: Sequence[tuple[int, int, str]] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)


class DataError(TcdpAuditError):
    """The release cannot be read as a table."""


class PluginError(TcdpAuditError):
    """A plugin is broken, clashes with another, or is missing although the policy needs it."""


class ResultError(TcdpAuditError):
    """A result or an attestation cannot be read as one, or what it says cannot be verified."""


class CheckError(TcdpAuditError):
    """A check could not give an answer for this release."""


class redact_errors(ContextDecorator):  # noqa: N801 - used as a decorator and as a context
    """Lets our own errors leave without the errors that they were raised over, whose texts and attributes hold cells.

    `raise ... from None` hides such an error from a traceback only; tools that collect errors walk `__context__`. Every
    public function is decorated with it, and engines work within it.
    """

    def __enter__(self) -> None:
        """Nothing is prepared."""

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        """Cut the error off from those before it."""
        if isinstance(error, TcdpAuditError):
            error.__cause__ = error.__context__ = None


class ExpectationsFailedError(TcdpAuditError):
    """The release does not keep its policy, or could not be audited completely."""

    exit_code = 1
