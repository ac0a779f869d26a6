"""Expectations as checks of pandera's schemas, for frames of pandas and polars.

shared       the demand of a check, and one audit for all checks of a schema
check        an expectation as a check, its answers, and the names that schemas know
export       a policy as a schema
validation   the validation of a frame that lets nothing pass unevaluated
"""

from __future__ import annotations

from tcdp_audit.api import missing_extra

if missing_extra("pandera"):
    raise ModuleNotFoundError(f"{__name__} {missing_extra('pandera')}", name="pandera")

from tcdp_audit.integrations.pandera.check import STRUCTURE, ExpectationCheck, expectation_check, register
from tcdp_audit.integrations.pandera.export import checks_of, schema_of
from tcdp_audit.integrations.pandera.validation import Validation, validate

__all__ = [
    "STRUCTURE",
    "ExpectationCheck",
    "Validation",
    "checks_of",
    "expectation_check",
    "register",
    "schema_of",
    "validate",
]
