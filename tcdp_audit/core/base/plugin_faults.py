"""Faults of a plugin's code, as a sentence that names the plugin and quotes nothing that may be a cell.

Whatever a plugin raises is its own error, also what derives from `BaseException` alone, such as `SystemExit` and
`GeneratorExit`. Only `KeyboardInterrupt` is taken for what it nearly always is: a person who wants to stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

from tcdp_audit.core.base import frozen
from tcdp_audit.core.base.errors import PluginError, TcdpAuditError

OURS = frozenset({frozen.refuse.__code__.co_filename})  # where a refusal is raised, and not where it is deserved


def sentence_about(error: BaseException, what: str, plugin: str = "") -> str:
    """What went wrong in a piece of registered code.

    Args:
        error: what it raised. Only our own errors are quoted: another's text may hold a cell.
        what: what the code is, such as "the check".
        plugin: the external plugin that it belongs to, or nothing.
    """
    by = f" (plugin {plugin!r})" if plugin else ""
    if isinstance(error, TcdpAuditError):
        return f"{error}{by}"
    raised = f"{type(error).__name__}{_where(error)}"
    if is_attempt_to_write(error):
        return f"{what} tried to change what it was given, which is read-only: {raised}; let it change a copy{by}"
    return f"{what} raised {raised}{by}"


def _where(error: BaseException) -> str:
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename not in OURS]
    return f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""


def is_attempt_to_write(error: BaseException) -> bool:
    """Whether numpy, a buffer, a frozen mapping or a frozen dataclass refused to be changed."""
    if isinstance(error, frozen.ReadOnlyError | AttributeError):
        return isinstance(error, frozen.ReadOnlyError) or type(error).__name__ == "FrozenInstanceError"
    signs = ("read-only", "WRITEABLE")
    return isinstance(error, ValueError | TypeError) and any(sign in first_line(error) for sign in signs)


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
    raise PluginError(sentence)
