"""Expectations as checks of pandera's schemas, for frames of pandas and polars.

demand       what one check demands: an expectation in a policy
shared       one audit for all checks of a schema
cases        which records fail, as pandera takes it and without cells
check        an expectation as a check, and the names that schemas know
export       a policy as a schema
validation   a frame and a schema, so that nothing passes unseen
"""

from __future__ import annotations

from tcdp_audit.api import NEEDS_PANDERA, installed

if not installed("pandera"):
    raise ModuleNotFoundError(f"{__name__} {NEEDS_PANDERA}", name="pandera")

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
