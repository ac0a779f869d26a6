"""Which attributes of a failing release are in buckets already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tcdp_audit import Outcome
from tcdp_audit.check import ClassCheck, VictimCheck
from tcdp_audit.remedy_view import Attribute, RemedyView
from tcdp_audit_plugins.remedies.rebucketize.trial import concerns, stands


def plan(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Each generalised attribute that something on classes that fails concerns."""
    of_classes = {one.check.name for one in view.policy.expectations if isinstance(one.check, ClassCheck | VictimCheck)}
    failing = [one for one in outcomes if one.check in of_classes and stands(one)]
    for attribute in (*view.quasi_identifiers, *view.sensitive):
        if any(concerns(one, attribute) for one in failing) and _is_in_buckets(attribute):
            yield {"attribute": attribute.name}


def _is_in_buckets(attribute: Attribute) -> bool:
    """Whether several of its values stand for more than one number, rank or leaf each."""
    domain, hierarchy = attribute.domain, attribute.hierarchy
    present = np.flatnonzero(np.bincount(attribute.codes, minlength=domain.size + 1)[:-1]).tolist()
    present = [code for code in present if code not in domain.suppressed]
    if domain.covers is not None:
        wide = [domain.covers[code].low < domain.covers[code].high for code in present]
    elif hierarchy is not None:
        wide = [hierarchy.lineage.get(domain.labels[code], (0,))[0] > 0 for code in present]
    else:
        wide = [domain.labels[code].startswith("{") and ", " in domain.labels[code] for code in present]
    return len(present) > 1 and any(wide)
