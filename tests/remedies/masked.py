"""Masked releases for the tests: a remedy applied to a table, and a policy whose demands compare with the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.treatment import apply_treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)


@dataclass(frozen=True)
class Masked:
    """A table after a remedy, its records in their order, what the remedy notes, and the attack that it names."""

    table: pa.Table
    notes: Mapping[str, Any]
    attack: Mapping[str, Mapping[str, Any]]

    def column(self, name: str) -> list[Any]:
        """The cells of one column."""
        return list(self.table[name].to_pylist())


def masked(table: pa.Table, declared: Mapping[str, Any], remedy: str, /, *, seed: int = 0, **parameters: Any) -> Masked:
    """Apply a remedy, whether or not the table needs it; an attribute declared by its scale is a quasi-identifier."""
    attributes = {
        name: {"role": "quasi_identifier", "scale": one} if isinstance(one, str) else one
        for name, one in declared.items()
    }
    specification = PLUGINS.remedies[remedy]
    with open_engine(table, 2**28) as engine:
        expect = [{"k_anonymity": {}}]
        policy = load_policy({"version": 1, "attributes": attributes, "expect": expect, "seed": seed}, PLUGINS)
        view = RemedyView(Release(engine, policy), (), seed, lambda _: ())
        treatment = specification.apply(view, specification.parameters.model_validate(parameters))
        attack = next(iter(treatment.attacks), {})
        return Masked(apply_treatment(table, view, treatment), treatment.notes, attack)


def paired_policy(attributes: Mapping[str, Any], *expect: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A policy whose release and original are aligned row by row."""
    return {"version": 1, "rows_aligned": True, "attributes": dict(attributes), "expect": list(expect), **more}
