"""The parameters of rebucketize, and those that are worth trying on a release that fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.detector import PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.remedy import Attribute, RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.scope import only_on_classes
from tcdp_audit_plugins.remedies.rebucketize.trial import concerns


class RebucketizeParameters(RemedyParameters):
    """Parameters of `rebucketize`."""

    attribute: Annotated[Text, Field(description="The attribute whose buckets are joined.")]
    buckets: Annotated[
        int | None,
        Field(ge=1, description="How many buckets to leave at most; by default as many as pass."),
    ] = None


def faults(parameters: RebucketizeParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    name = parameters.attribute
    declared = document.attributes.get(name)
    if declared is None:
        yield "attribute", f"the policy declares no attribute {name!r}"
    elif declared.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        yield "attribute", f"{name!r} is neither sensitive nor a quasi-identifier: its role is {declared.role.value}"
    elif declared.scale is Scale.ORDINAL and declared.order is None:
        yield (
            "attribute",
            f"neighbours of {name!r} need its order; declare it, for example `order: [low, middle, high]`",
        )


def why_not_applicable(view: RemedyView, parameters: RebucketizeParameters | None, outcome: Outcome) -> str:
    """Why joining buckets cannot help a failing demand, or nothing."""
    if other := only_on_classes(view, outcome):
        return other
    if parameters is not None:
        attribute = view.attribute(parameters.attribute)
        return "" if concerns(view, outcome, attribute) else f"joins values of {attribute.name!r} only"
    known = (*view.quasi_identifiers, *view.sensitive)
    unasked = any(concerns(view, outcome, one) and _is_in_buckets(one) for one in known)
    return "" if unasked else "no attribute that fails is in buckets"


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Each generalised attribute that something on classes that fails concerns."""
    failing = view.failing_on_classes(outcomes)
    for attribute in (*view.quasi_identifiers, *view.sensitive):
        if any(concerns(view, one, attribute) for one in failing) and _is_in_buckets(attribute):
            yield {"attribute": attribute.name}


def _is_in_buckets(attribute: Attribute) -> bool:
    """Whether several of its values stand for more than one number, rank or leaf each."""
    domain, hierarchy = attribute.domain, attribute.hierarchy
    records = np.bincount(attribute.codes, minlength=domain.size + 1)
    present = np.flatnonzero((records > 0) & ~domain.is_uninformative).tolist()
    if domain.covers is not None:
        wide = [domain.covers[code].low < domain.covers[code].high for code in present]
    elif hierarchy is not None:
        wide = [hierarchy.lineage.get(domain.labels[code], (0,))[0] > 0 for code in present]
    else:
        wide = [domain.labels[code].startswith("{") and ", " in domain.labels[code] for code in present]
    return len(present) > 1 and any(wide)
