"""What a reporter is: registered code that turns a finished audit into one artefact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tcdp_audit.results.audit import Audit


@dataclass(frozen=True, kw_only=True)
class Reporter:
    """A format of the audit.

    Args:
        name: snake_case name of the format, unique among all plugins.
        title: what a person calls it.
        suffix: the file extension that selects it, with its dot.
        render: the audit as text.
        prepare: what can be done before there is an audit, such as imports; the command line calls it meanwhile.
    """

    name: str
    title: str
    suffix: str
    render: Callable[[Audit], str]
    prepare: Callable[[], object] = field(default=lambda: None)
