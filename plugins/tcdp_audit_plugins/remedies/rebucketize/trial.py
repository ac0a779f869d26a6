"""Trials of fewer buckets: judged by the demands on classes, or by the outcomes of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import fold
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.remedy import Attribute, MergedDemands, RemedyView
from tcdp_audit.plugin.sentences import Outcome

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Classes:
    """The equivalence classes of a release, to be merged by joining values of one quasi-identifier.

    Args:
        demands: what unions of them must keep.
        value: the code of that quasi-identifier in each class. Shape (classes,).
        others: one number for all other quasi-identifiers in each class. Shape (classes,).
    """

    demands: MergedDemands
    value: Integers
    others: Integers

    @classmethod
    def of(cls, view: RemedyView, attribute: Attribute) -> Classes:
        """The classes of a release as it is. Cost: a sort of the records."""
        others = [one for one in view.quasi_identifiers if one.name != attribute.name]
        rest, count = view.classes(others)
        pairs = fold([rest, attribute.codes], [count, attribute.domain.size + 1])
        distinct, classes = np.unique(pairs.values, return_inverse=True)
        number, value = pairs.decode(distinct)
        return cls(MergedDemands(view.demands, classes, len(distinct)), value, number)

    def keep(self, of_value: Integers) -> bool:
        """Whether all classes keep the demands once values are joined.

        Args:
            of_value: the bucket of each value of the domain; -1 for a suppressed one, which stands for anything as a
                missing one does.

        Cost: a sort of the classes and their sensitive values.
        """
        apart = int(of_value.max(initial=0)) + 1
        bucket = np.append(np.where(of_value < 0, apart, of_value), apart)[self.value]
        merged = np.unique(self.others * (apart + 1) + bucket, return_inverse=True)[1]
        return bool(self.demands.kept_by(merged, int(merged.max(initial=-1)) + 1).all())


def concerns(view: RemedyView, outcome: Outcome, attribute: Attribute) -> bool:
    """Whether buckets of an attribute can matter to an outcome: of a sensitive one only where it is measured."""
    if attribute.declaration.role is Role.QUASI_IDENTIFIER:
        return True
    return attribute.name in _attributes_behind(view).get(outcome.attribute, (outcome.attribute,))


def _attributes_behind(view: RemedyView) -> Mapping[str | None, tuple[str, ...]]:
    """The attributes behind the name that an outcome gives to one or to several read together."""
    return {
        target.name: target.attributes
        for one in view.policy.expectations
        for target in one.check.targets(one.parameters, view.policy.document)
    }
