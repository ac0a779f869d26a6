"""A check of an attack: it succeeds on a class or not, and the share of people in such classes is limited."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.check import AttackCheck, ClassEvidence, DisclosureType, Guide, ShareParameters


class MajorityParameters(ShareParameters):
    """Parameters of `majority`."""


def decided_by_a_majority(evidence: ClassEvidence, _: MajorityParameters) -> NDArray[np.bool_]:
    """Which classes have a value that more than half of their records share."""
    histogram, _marginal = evidence.sensitive
    return np.asarray(2 * histogram.max(histogram.counts) > histogram.total)


MAJORITY = AttackCheck(
    name="majority",
    title="Majority attack",
    disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
    parameters=MajorityParameters,
    victims=decided_by_a_majority,
    label="share of records in classes with a majority",
    monotone=lambda _: True,  # a majority of a union is one in a part
    on_attribute=True,
    guide=Guide(
        definition="An intruder believes what more than half of a class have. The victims are the records of it.",
        formula="sum of n_E where max_i p_i > 1/2, over N, <= at_most",
        reading="How many people live in a class where one value has the majority.",
        choosing="A tenth where a wrong belief does little harm, less where it does much.",
        source="the office's own rule",
        example="- majority: {at_most: 0.1, attribute: disease}",
    ),
)
