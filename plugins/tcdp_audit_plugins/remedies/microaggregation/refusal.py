"""Why no clusters keep the policy, and what would be attainable."""

from __future__ import annotations

from collections.abc import Sequence

from tcdp_audit.outcome import Outcome, Status


def refusal(titles: Sequence[str], outcomes: Sequence[Outcome]) -> str:
    """A sentence for a release of which even one class of all records fails.

    Args:
        titles: the demands on classes that it fails.
        outcomes: an audit of that class; its figures are what is attainable, where merging classes never does harm.
    """
    failed = [one for one in outcomes if one.status is Status.FAILED and one.title in titles]
    figures = "; ".join(filter(None, (_figure(one) for one in failed)))
    attainable = f" Attainable by that class: {figures}." if figures else ""
    return (
        f"no clusters of these records keep the policy: {', '.join(titles)} would fail even if all records were one "
        f"class.{attainable}"
    )


def _figure(outcome: Outcome) -> str:
    if outcome.observed is None or outcome.threshold is None or outcome.comparison is None:
        return ""
    of = "" if outcome.attribute is None else f" of {outcome.attribute!r}"
    demanded = f"{outcome.comparison} {float(outcome.threshold):.6g}"
    return f"{outcome.title}{of} {outcome.observed:.6g}, where {demanded} is demanded"
