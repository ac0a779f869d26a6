"""Sensitive values that an expectation names, and what missing ones mean where they are a failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.check import AttributeParameters, ClassEvidence, TableView
from tcdp_audit.plugin.detector import PolicyDocument, Role
from tcdp_audit.plugin.engine import CheckError, Domain
from tcdp_audit.plugin.sentences import agree, count


def among(evidence: ClassEvidence, names: Sequence[str]) -> NDArray[np.bool_]:
    """Which codes of the domain are named; a name that the domain lacks marks none. Shape (reference values,)."""
    _, marginal = evidence.sensitive
    marked = np.zeros(marginal.size, dtype=bool)
    wanted = set(names)
    marked[[code for code, label in enumerate(evidence.labels) if label in wanted]] = True
    return marked


def known(evidence: ClassEvidence, names: Sequence[str], parameter: str) -> NDArray[np.bool_]:
    """Which codes are named, where each must have a weight in the reference.

    Raises:
        CheckError: a name stands for no value there, so that looking for it would find nothing and pass.
    """
    _, marginal = evidence.sensitive
    present = {label for label, weight in zip(evidence.labels, marginal.weights.tolist(), strict=False) if weight}
    lacking = [name for name in names if name not in present]
    if lacking:
        raise CheckError(f"the reference distribution has no record with the {parameter} value {lacking[0]!r}")
    return among(evidence, names)


def ambiguous(parameters: AttributeParameters, document: PolicyDocument, *fields: str) -> Iterator[tuple[str, str]]:
    """A fault for each field that names values where it is open which attribute's they are."""
    sensitive = [one for one in document.attributes.values() if one.role is Role.SENSITIVE]
    if parameters.attribute is None and len(sensitive) > 1:
        for name in fields:
            if getattr(parameters, name):
                yield name, "names values of one attribute; say which in `attribute`"


def violation_of(view: TableView, sensitive: Iterable[Domain]) -> str:
    """Why a check fails under the policy: a value of a sensitive attribute is missing; nothing where it does not.

    Args:
        view: the release, with the policy's conventions.
        sensitive: the attributes that are measured.
    """
    incomplete = [one for one in sensitive if one.missing]
    if view.policy.conventions.missing_sensitive != "fail" or not incomplete:
        return ""
    first = incomplete[0]
    records = f"{count(first.missing, 'record')} {agree(first.missing, 'has', 'have')}"
    return f"{records} no value in the sensitive attribute {first.attribute!r}"
