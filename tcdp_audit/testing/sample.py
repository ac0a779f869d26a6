"""Audits of every status to try reporters on, with names that a careless reporter would obey."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

import pyarrow as pa
from pydantic import Field

from tcdp_audit.api import Counts, Expectation, Plugins, Policy, audit
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.plugin.check import (
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    Comparison,
    DisclosureType,
    Guide,
    Threshold,
)
from tcdp_audit.plugin.detector import PolicyDocument

CELL = "zqcellzq"
SCRIPT = "<script>alert(1)</script>"
TEMPLATE, TEMPLATE_RESULT = "{{7191*7193}}", "51724863"
HOSTILE = (
    SCRIPT,
    TEMPLATE,
    "a|b,c;\"d'&e`\\",
    "line\nbreak \u202eright to left \u001b[31m {columns} %s ${x}",
)


class SampleParameters(AttributeParameters):
    """Parameters of the sample check."""

    n: Annotated[int | None, Field(ge=0, description="The least number of different values in a class.")] = None


def _distinct(evidence: ClassEvidence, _: SampleParameters) -> Counts:
    return evidence.sensitive[0].distinct


SAMPLE = ClassCheck(
    name="sample_check",
    title=f"Sample {SCRIPT}",
    disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
    parameters=SampleParameters,
    thresholds=(Threshold("n", Comparison.AT_LEAST, _distinct, "values in the class"),),
    on_attribute=True,
    guide=Guide(
        definition="Counts the values of each class.",
        formula="min_E m_E ≥ n",
        reading="More is more varied.",
        choosing="2 or more.",
        source="tcdp_audit.testing",
        example="- sample_check: {n: 2}",
    ),
)


def sample_audits(at: datetime) -> Iterator[Audit]:
    """Audits that pass, fail, warn, only measure, demand what nothing can fail, and stay incomplete."""
    clean = HOSTILE[:3]
    for parameters, columns in (
        ({"n": 1}, clean),
        ({"n": 3}, HOSTILE),  # the last column is not declared
        ({"n": 3, "severity": "warning"}, clean),
        ({}, clean),
        ({"n": 1}, HOSTILE[:1]),  # columns that the policy declares are missing
    ):
        yield replace(_audited(parameters, columns), audited_at=at)
    monotone = replace(SAMPLE, monotone=lambda _: True)
    yield replace(_audited({"n": 1}, clean, monotone), audited_at=at)


def _audited(
    parameters: dict[str, Any], columns: tuple[str, ...], check: ClassCheck[SampleParameters] = SAMPLE
) -> Audit:
    roles = zip(HOSTILE[:3], ("quasi_identifier", "quasi_identifier", "sensitive"), strict=True)
    attributes = {name: {"role": role} for name, role in roles}
    document = {"version": 1, "attributes": attributes, "expect": [{SAMPLE.name: parameters}]}
    expectation = Expectation(check, SampleParameters.model_validate({**parameters, "attribute": HOSTILE[2]}), line=3)
    policy = Policy(PolicyDocument.model_validate(document), (expectation,), text=json.dumps(document))
    cells = [f"{CELL}{number % 3}" for number in range(12)]
    table = pa.table(dict.fromkeys(columns, cells))
    return audit(table, policy, plugins=Plugins.load(external=False))
