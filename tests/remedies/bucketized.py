"""Bucketised releases for the tests: how they are made, and how close they are in exact arithmetic."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa

from tcdp_audit import Audit, audit, load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.treatment import apply_treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.bucketization import BUCKETIZATION

PLUGINS = Plugins.load()


@dataclass(frozen=True)
class Bucketized:
    """A table after bucketization, its records in their order."""

    table: pa.Table
    notes: Mapping[str, Any]
    policy: Mapping[str, Any]

    def audit(self) -> Audit:
        """Of the released table by itself, under the policy that asks for what bucketization promises."""
        return audit(self.table, self.policy, plugins=PLUGINS)

    def classes(self) -> dict[tuple[Any, ...], Counter[Any]]:
        """How many records of each bucket every equivalence class has; records without a value do not count."""
        attributes = self.policy["attributes"].items()
        keys = [self.table[name].to_pylist() for name, one in attributes if one["role"] == "quasi_identifier"]
        (confidential,) = [name for name, one in attributes if one["role"] == "sensitive"]
        actual: dict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
        for *key, bucket in zip(*keys, self.table[confidential].to_pylist(), strict=True):
            actual[tuple(key)][bucket] += bucket is not None
        return actual


def bucketized(
    table: pa.Table, attributes: Mapping[str, Any], conventions: Mapping[str, Any] | None = None, **remedy: Any
) -> Bucketized:
    """Apply bucketization, whether or not the table needs it."""
    (confidential,) = [name for name, one in attributes.items() if one["role"] == "sensitive"]
    parameters = BUCKETIZATION.parameters.model_validate({"attribute": confidential, **remedy})
    close = {"attribute": confidential, "distance": "multiplicative", "t": parameters.t}
    expect = [{"k_anonymity": {"k": parameters.k}}, {"t_closeness": close}, {"implied_epsilon": {}}]
    policy = {"version": 1, "attributes": attributes, "conventions": dict(conventions or {}), "expect": expect}
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, load_policy(policy, PLUGINS)), (), 0, lambda _: ())
        treatment = BUCKETIZATION.apply(view, parameters)
        return Bucketized(apply_treatment(table, view, treatment), treatment.notes, policy)


def distance_of(classes: Mapping[Any, Counter[Any]]) -> Fraction:
    """max (p / q, q / p) over all classes and buckets, exact; a bucket that a class lacks divides by zero."""
    whole = sum(classes.values(), Counter[Any]())
    records, worst = sum(whole.values()), Fraction(1)
    shares: set[tuple[int, int, int]] = {
        (held[bucket], sum(held.values()), mass) for held in classes.values() for bucket, mass in whole.items()
    }
    for count, size, mass in shares:
        share = Fraction(count * records, size * mass)
        worst = max(worst, share, 1 / share)
    return worst


def sensitive(scale: str = "numeric", **declaration: Any) -> dict[str, Any]:
    """The declaration of a confidential attribute."""
    return {"role": "sensitive", "scale": scale, **declaration}


def quasi_identifiers(names: Sequence[str], scale: str = "nominal") -> dict[str, Any]:
    """The declarations of some quasi-identifiers."""
    return {name: {"role": "quasi_identifier", "scale": scale} for name in names}
