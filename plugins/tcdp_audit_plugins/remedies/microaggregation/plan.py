"""When microaggregation is worth trying, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_audit.outcome import Outcome
from tcdp_audit.remedy_view import RemedyView
from tcdp_audit_plugins.remedies.failing import failing_on_classes
from tcdp_audit_plugins.remedies.microaggregation.parameters import Closeness, demanded_k
from tcdp_audit_plugins.remedies.microaggregation.records import has_numbers


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a demand on classes fails and all quasi-identifiers are numeric or ordinal.

    Args:
        view: the release.
        outcomes: what stands against it.
    """
    failing = failing_on_classes(view, outcomes)
    known = view.quasi_identifiers
    if not failing or not known or not all(has_numbers(one) for one in known):
        return
    k = demanded_k(view.policy) or 2
    yield {"k": k}
    sensitive = {one.name for one in view.sensitive}
    for name in sorted({one.attribute for one in failing if one.attribute is not None} & sensitive):
        yield {"k": k, "closeness": Closeness.FIRST.value, "attribute": name}
