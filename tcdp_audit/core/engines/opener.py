"""Openers: registered code that makes an engine of what a caller gave, such as a database's URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.base.addresses import scheme_of
from tcdp_audit.core.base.errors import PluginError, UsageError

if TYPE_CHECKING:
    from tcdp_audit.core.engines.base import Engine


@dataclass(frozen=True, kw_only=True)
class EngineOpener:
    """A kind of table that can be audited where it lives.

    Args:
        name: snake_case name, unique among all plugins.
        title: what a person calls it.
        summary: what it opens, in a sentence that begins with a capital letter.
        accepts: whether it opens what the caller gave: text as it stands, a path, or an object. It is asked of
            everything, so it is quick, imports no library, and looks at a URL's scheme or a type's module.
        open: the engine over it, given what messages call the table and the budget in bytes. What it raises is told
            as it is, so it holds neither cells nor credentials.
    """

    name: str
    title: str
    summary: str
    accepts: Callable[[Any], bool]
    open: Callable[[Any, str, int], Engine]


def opener_of(table: Any, openers: Iterable[EngineOpener]) -> EngineOpener | None:
    """The one opener that accepts a table; None where the embedded engine is to open it.

    Raises:
        PluginError: two openers accept it, or one cannot say.
    """
    accepting = [opener for opener in openers if _accepts(opener, table)]
    if len(accepting) > 1:
        names = " and ".join(repr(opener.name) for opener in accepting)
        raise PluginError(f"{names} both open this release; leave one out with `-p no:NAME`")
    return accepting[0] if accepting else None


def _accepts(opener: EngineOpener, table: Any) -> bool:
    try:
        return bool(opener.accepts(table))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises; the text may hold a URL
        kind = type(error).__name__
    raise PluginError(f"the engine {opener.name!r} cannot say what it opens ({kind})")


def require_no_url(table: Any, broken: Iterable[str]) -> None:
    """Refuse a URL that nothing opens, without repeating it: it may hold a password.

    Args:
        table: what the caller gave.
        broken: the plugins that do not work, one of which may have opened it.

    Raises:
        UsageError: it is a URL.
    """
    scheme = scheme_of(table)
    if scheme and f"{scheme}://" == str(table)[: len(scheme) + 3].lower():
        listed = ", ".join(broken)
        hint = f"; these plugins do not work: {listed}" if listed else "; `tcdp-audit plugins` lists what can be opened"
        raise UsageError(f"nothing opens a release at {scheme}://{hint}")
