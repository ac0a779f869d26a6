"""How a demand can be met on a column on which another one fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.base.words import agree, listing

if TYPE_CHECKING:
    from tcdp_audit.core.results.audit import Audit


def beside(audit: Audit, outcome: Outcome) -> str:
    """What a demand that is met asks, and what those ask that fail on the same column; nothing where none does.

    Args:
        audit: it has all outcomes, and the guides of their checks.
        outcome: one of its expectations.
    """
    question = _asks(audit, outcome)
    if outcome.status is not Status.PASSED or not question:
        return ""
    failing = {one.check: one for one in audit.expectations if _fails_beside(one, outcome) and _asks(audit, one)}
    if not failing:
        return ""
    titles, number = listing([one.title for one in failing.values()]), len(failing)
    columns = "columns" if outcome.attribute is None else "column"
    fails = (
        f"{titles} {agree(number, 'fails', 'fail')} on the same {columns}, and {agree(number, 'both', 'all')} are true"
    )
    questions = " ".join(_asks(audit, one) for one in failing.values())
    return f"{fails}. This asks: {question} {agree(number, 'The other asks', 'The others ask')}: {questions}"


def _fails_beside(one: Outcome, outcome: Outcome) -> bool:
    return one.status is Status.FAILED and one.attribute == outcome.attribute and one.check != outcome.check


def _asks(audit: Audit, outcome: Outcome) -> str:
    check = audit.plugins.checks.get(outcome.check)
    return "" if check is None else check.guide.question
