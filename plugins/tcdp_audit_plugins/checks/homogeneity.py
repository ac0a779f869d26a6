"""The homogeneity attack: where all members of a class share a value, finding the class is enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.check import AttackCheck, ClassEvidence, DisclosureType, ShareParameters
from tcdp_audit.plugin.sentences import Sentences
from tcdp_audit_plugins.checks._shared.sensitive_values import SINGLE_VALUE
from tcdp_audit_plugins.guides import built_in_guide


class HomogeneityParameters(ShareParameters):
    """Parameters of `homogeneity`."""


def homogeneous(evidence: ClassEvidence, _: HomogeneityParameters) -> NDArray[np.bool_]:
    """The classes with a sensitive value that all their members have, be it the only one or not.

    Returns:
        bool, shape (classes,).

    Cost: O(classes).

    Source: Machanavajjhala et al. (2007), homogeneity attack; Torra (2022).

    Example:
        >>> from tcdp_audit.plugin.check import ReferenceDistribution
        >>> from tcdp_audit.plugin.check import Histogram
        >>> rows = Histogram(*map(np.array, ([0, 1, 3], [0, 0, 1], [2, 1, 2])))
        >>> evidence = ClassEvidence(np.array([2, 3]), rows, ReferenceDistribution(np.array([3, 2])))
        >>> homogeneous(evidence, HomogeneityParameters())
        array([ True, False])
    """
    return evidence.sensitive[0].certain


CHECKS = [
    AttackCheck(
        name="homogeneity",
        title="Homogeneity attack",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=HomogeneityParameters,
        victims=homogeneous,
        label="share of records or units in homogeneous groups",
        monotone=lambda _: True,  # a union with a single value has only parts with that value
        on_attribute=True,
        history_reading=lambda _: "units",
        sentences=Sentences(
            passed=(
                "[{units?}{victim_units/units:{unit}} {victim_units/units:is|are} in "
                "[{victim_classes>1?}{victim_classes} groups|a group] in which all have the same value of "
                "{attribute}[{details.victims>0?}: finding the group is enough to know "
                "it]|{details.victims>0?}{details.victims/records:{record}} {details.victims/records:is|are} in "
                "[{victim_classes>1?}{victim_classes} groups|a group] that {victim_classes:has|have} a single value "
                "of {attribute}: finding the group is enough to know it|Every {record} is in a group with several "
                "values of {attribute}: finding it reveals none]."
            ),
            impact=(
                "[{details.victims>0?}{in_worst_group} {single_value}|{intruder} finds [{units?}no value that all "
                "have|several values] of {attribute} in every group]."
            ),
            parts={"single_value": SINGLE_VALUE},
        ),
        guide=built_in_guide(__file__, "homogeneity.md"),
    )
]
