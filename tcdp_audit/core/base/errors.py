"""Errors that a person can act on. A message says what is wrong, where, and what to do; never a cell value.

Faults of a plugin are sentences about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ContextDecorator, contextmanager
from pathlib import Path
from traceback import extract_tb
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
    """Removes from our own errors the errors that they were raised over, whose texts and attributes hold cells.

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


WRONG_CALL = re.compile(
    r"[\w.<>]+\(\) (takes .* positional arguments? but \d+ (was|were) given|missing \d+ required .*)"
)
OURS = frozenset(
    {str(Path(__file__).with_name("frozen.py"))}
)  # where a refusal is raised, and not where it is deserved


REFUSALS = ("ReadOnlyError", "FrozenInstanceError")  # of `frozen`, which imports nothing of ours, and of dataclasses


def sentence_about(error: BaseException, what: str, plugin: str = "") -> str:
    """State what went wrong in registered code: `what`, such as "the check", of an external `plugin`, or of none.

    Only our own errors are quoted: the text of another error may hold a cell.
    """
    by = f" (plugin {plugin!r})" if plugin else ""
    if isinstance(error, TcdpAuditError):
        return f"{error}{by}"
    if is_wrong_call(error):
        return f"{what} is called with other arguments than it takes: {first_line(error)}{by}"
    raised = f"{type(error).__name__}{_where(error)}"
    if is_attempt_to_write(error):
        return f"{what} tried to change what it was given, which is read-only: {raised}; let it change a copy{by}"
    return f"{what} raised {raised}{by}"


def _where(error: BaseException) -> str:
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename not in OURS]
    return f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""


def is_attempt_to_write(error: BaseException) -> bool:
    """Whether numpy, a buffer, a frozen mapping or a frozen dataclass refused to be changed."""
    if isinstance(error, TypeError | AttributeError) and type(error).__name__ in REFUSALS:
        return True
    if isinstance(error, AttributeError):
        return False
    signs = ("read-only", "WRITEABLE")
    return isinstance(error, ValueError | TypeError) and any(sign in first_line(error) for sign in signs)


def is_wrong_call(error: BaseException) -> bool:
    """Whether a function takes other arguments than it was given; the text names it and how many, and no value."""
    return isinstance(error, TypeError) and WRONG_CALL.fullmatch(first_line(error)) is not None


def first_line(error: BaseException) -> str:
    """The first line of an error's text, which may fail to have one."""
    try:
        lines = str(error).splitlines()
    except Exception:  # noqa: BLE001 - the text of an error is a plugin's code as well
        return "its text cannot be read"
    return lines[0] if lines else "no message"


@contextmanager
def blaming(what: str, plugin: str = "") -> Iterator[None]:
    """Run a plugin's code outside of any expectation.

    Raises:
        PluginError: it raised anything but one of our own errors or an interruption.
    """
    try:
        yield
    except (TcdpAuditError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
        sentence = sentence_about(error, what, plugin)
    else:
        return
    raise PluginError(sentence) from None  # else a traceback would show the text of the error
