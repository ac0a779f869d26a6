"""The reference distribution for closeness: that of the release, of the original, or a declared one."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

import numpy as np

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.check.evidence import ReferenceDistribution
from tcdp_audit.core.classes.histogram import Counts, Histogram
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.policy.policy import Policy

WEIGHT_LIMIT = 2**40  # a declared distribution has integer weights below this, so that products stay exact and fast


def marginal_of_release(domain: Domain, policy: Policy, counts: Counts) -> ReferenceDistribution:
    """The distribution over the records of the table under audit, or over its classes.

    Args:
        domain: the attribute.
        policy: its conventions decide whether a missing value counts as a value.
        counts: the count of each code, the missing one last. Shape (size + 1,).
    """
    return ReferenceDistribution(_without_empty_missing(counts, domain, policy))


def counts_in_classes(domain: Domain, histogram: Histogram) -> Counts:
    """The count of each code in the mixture of some classes, where an entity counts once per class and value.

    Args:
        domain: the attribute.
        histogram: the attribute in disjoint classes, missing codes included.
    """
    counts = np.zeros(domain.size + 1, dtype=np.int64)
    np.add.at(counts, histogram.values, histogram.counts)
    return counts


def marginal_of_original(domain: Domain, counts: Counts, policy: Policy) -> ReferenceDistribution:
    """The distribution in the original, over the same domain; `counts` has the missing ones last."""
    if not counts[: domain.size].sum():
        raise CheckError("the original has no value of this attribute")
    return ReferenceDistribution(_without_empty_missing(counts, domain, policy))


def marginal_as_declared(domain: Domain, policy: Policy) -> ReferenceDistribution:
    """The declared distribution as integer weights; `uniform` is over the domain.

    Raises:
        CheckError: several attributes are read together, or missing values count as a value.
    """
    from tcdp_audit.core.classes.joint import JointDomain  # noqa: PLC0415 - only for this reference

    if isinstance(domain, JointDomain):
        raise CheckError("a declared distribution is of one attribute; several are read together here")
    if policy.conventions.missing_sensitive == "own_category" and domain.missing:
        raise CheckError("a declared distribution has no place for missing values; set `missing_sensitive: excluded`")
    declared = policy.attributes[domain.attribute].distribution
    if declared is None or declared == "uniform":
        return ReferenceDistribution(np.ones(domain.size, dtype=np.int64))
    assert isinstance(declared, Mapping)  # noqa: S101 - the policy model allows nothing else
    return ReferenceDistribution(_weights(domain, declared))


def _weights(domain: Domain, declared: Mapping[str, Fraction]) -> Counts:
    scale = lcm(*(weight.denominator for weight in declared.values()))
    whole = {label: int(weight * scale) for label, weight in declared.items()}
    if sum(whole.values()) > WEIGHT_LIMIT:
        raise CheckError("the declared distribution has too many digits to be computed with exactly; round it")
    return np.array([whole.get(label, 0) for label in domain.labels], dtype=np.int64)


def _without_empty_missing(counts: Counts, domain: Domain, policy: Policy) -> Counts:
    """Drop the missing category if it is empty, as it would lengthen an ordered domain."""
    counts_missing = policy.conventions.missing_sensitive == "own_category"
    return counts if counts_missing and (domain.missing or counts[-1]) else counts[:-1]
