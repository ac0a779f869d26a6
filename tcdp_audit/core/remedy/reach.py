"""What a remedy cannot help, asked before it starts: which of the failing demands, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.words import listing
from tcdp_audit.core.remedy.remedy import Remedy, RemedyParameters
from tcdp_audit.core.remedy.view import RemedyView


@dataclass(frozen=True)
class Applicability:
    """Which failing demands a remedy may help.

    Args:
        helped: those that it may.
        unhelped: those that it cannot, each with the reason.
    """

    helped: Sequence[Outcome]
    unhelped: Sequence[tuple[Outcome, str]]

    @property
    def reasons(self) -> str:
        """Why it cannot help some, each reason once, or nothing."""
        return "; ".join(dict.fromkeys(reason for _, reason in self.unhelped))

    @property
    def sentence(self) -> str:
        """What it does not act on, and why, or nothing.

        Example:
            >>> from tcdp_audit.core.base.outcome import Status
            >>> failed = Outcome(check="k_anonymity", status=Status.FAILED)
            >>> Applicability((), [(failed, "only for demands beside the original")]).sentence
            'does not act on k_anonymity (only for demands beside the original)'
        """
        named: dict[str, dict[str, None]] = {}
        for one, reason in self.unhelped:
            named.setdefault(reason, {})[_named(one)] = None
        return "; ".join(f"does not act on {listing(list(names))} ({reason})" for reason, names in named.items())


def reach(
    remedy: Remedy[Any], view: RemedyView, parameters: RemedyParameters | None, failing: Iterable[Outcome]
) -> Applicability:
    """Which of some failing demands a remedy may help.

    Args:
        remedy: the remedy.
        view: the release.
        parameters: its own; None where it would propose them.
        failing: what stands against the release.
    """
    asked = [(one, remedy.why_not_applicable(view, parameters, one)) for one in failing]
    return Applicability([one for one, why in asked if not why], [(one, why) for one, why in asked if why])


def _named(outcome: Outcome) -> str:
    return outcome.check + ("" if outcome.attribute is None else f" of {outcome.attribute!r}")
