"""The homogeneity attack: where all members of a class share a value, finding the class is enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.check import AttackCheck, ClassEvidence, DisclosureType, Guide, ShareParameters
from tcdp_audit.plugin.sentences import (
    Sentences,
)
from tcdp_audit_plugins.checks._shared.certain_values import SINGLE_VALUE
from tcdp_audit_plugins.formulas import formula


class HomogeneityParameters(ShareParameters):
    """Parameters of `homogeneity`."""


def homogeneous(evidence: ClassEvidence, _: HomogeneityParameters) -> NDArray[np.bool_]:
    """Which classes have a sensitive value that all their members have, be it the only one or not.

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
            parts={
                "single_value": SINGLE_VALUE,
            },
        ),
        guide=Guide(
            question="Are there groups in which everybody has the same secret?",
            risk="Whoever finds such a group knows the secret of everybody in it, and need not tell one from another.",
            definition=(
                "An intruder finds the equivalence class of a person. If all its members have the same sensitive "
                "value, the person's value is known without knowing which record is theirs. The victims are the "
                "records in such classes. Where the policy names a unit, such as a person, a unit may have several "
                "values in a class. A value that every unit of the class has is certain, even if each also has other "
                "values, and the victims are the units with a row in a class that has such a value."
            ),
            **formula(
                r"\frac{1}{N} \sum_{E : m_E = 1} n_E \le \text{at\_most}",
                r"m_E = \left|\{i : p_i > 0\}\right|",
                r"\text{with a unit: } \frac{1}{U}\, \#\{u : \max_i c_i = n_E, u \in E\}",
                r"c_i = \text{units of } E \text{ that have the value } i",
            ),
            reading=(
                "The observed value is the share of records exposed; the details `victims` and `victim_classes` count "
                "the records and the classes. With a unit it is the share of units exposed, each counted once, and the "
                "details `victim_units` and `units` count them and all units. A class of one record is homogeneous. "
                "So is, to be safe, a class whose "
                "sensitive cells are all missing."
            ),
            choosing="0 forbids any. A share above 0 accepts known victims; name the reason where you accept it.",
            limits=(
                "A class with two values, one of them held by a single record, is not counted: see "
                "background_knowledge. Values that mean nearly the same are counted as different: see similarity."
            ),
            source=(
                "Machanavajjhala et al., l-Diversity, ACM TKDD 1(1), 2007, doi:10.1145/1217299.1217302, "
                "homogeneity attack; Torra, Guide to Data Privacy, Springer 2022, "
                "doi:10.1007/978-3-031-12837-0"
            ),
            example="- homogeneity: {at_most: 0, attribute: disease}",
        ),
    ),
]
