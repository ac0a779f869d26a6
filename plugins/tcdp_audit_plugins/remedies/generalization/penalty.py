"""What labels cost: their certainty penalty, as information loss measures it on the released column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.encoding import Domain, RawDomain, canonical
from tcdp_audit.exact import Floats
from tcdp_audit.information_loss.columns import PairedColumn, unknown
from tcdp_audit.information_loss.loss import coverage_of
from tcdp_audit.policy.model import Conventions
from tcdp_audit.remedy import RemedyError
from tcdp_audit.remedy_view import Attribute

Mask = NDArray[np.bool_]


def penalties(attribute: Attribute, labels: Sequence[str], conventions: Conventions) -> tuple[Floats, Mask]:
    """The normalised certainty penalty of some labels of an attribute, and which of them tell nothing.

    A range of numbers or ranks costs its width over that of all values, a node of a hierarchy its share of the leaves,
    a suppressed cell 1.

    Args:
        attribute: the attribute before it is generalised.
        labels: different labels, as they would be released.
        conventions: which cells stand for a suppressed or a missing value.

    Returns:
        float64 from 0 to 1 and bool, both of shape (labels,).

    Raises:
        RemedyError: a label has no place on the attribute's scale, so that the audit could not read it.

    Cost: O(labels).

    Source: Xu et al. (2006), Utility-based anonymization using local recoding, section 3; Ghinita et al. (2007),
    section 3.
    """
    ordered = sorted(labels)
    raw = RawDomain(np.array([*ordered, None], dtype=object)[:-1], np.ones(len(ordered), dtype=np.int64), 0)
    domain, misfit = canonical(attribute.name, raw, attribute.declaration, conventions)
    if misfit is not None:
        raise RemedyError(_unreadable(attribute))
    place = dict(zip(ordered, domain.code_of_raw.tolist(), strict=True))
    codes = np.array([place[label] for label in labels], dtype=np.int64)
    return _penalties(attribute, domain)[codes], unknown(domain)[codes]


def own_penalties(attribute: Attribute) -> tuple[Floats, Mask]:
    """The penalties of the values as they are; see `penalties`. The missing value's comes last. Shape (domain + 1,)."""
    return _penalties(attribute, attribute.domain), unknown(attribute.domain)


def _penalties(attribute: Attribute, after: Domain) -> Floats:
    nobody = np.zeros(0, dtype=np.intp)
    column = PairedColumn(attribute.declaration, attribute.hierarchy, attribute.domain, after, nobody, nobody, nobody)
    return np.where(unknown(after), 1.0, np.append(coverage_of(column).penalties(after), 1.0))


def _unreadable(attribute: Attribute) -> str:
    name, scale = attribute.name, attribute.scale.value
    return (
        f"the hierarchy of {name!r} has labels that are no range of its {scale} values, so the audit could not read "
        f"them; write them as `20-29` or `[20, 30)`, or declare {name!r} as `scale: nominal`"
    )
