"""The parameters of suppression, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text
from tcdp_audit.plugin.remedy import RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.class_size import ClassSize
from tcdp_audit_plugins.remedies._shared.scope import only_by_size

ALIGNED = (
    "dropping records would break `rows_aligned: true`; declare a `key:` that aligns release and original, or use "
    "`of: cells`"
)
Weight = Annotated[Exact, Field(ge=0)]


class Of(StrEnum):
    """The unit of suppression."""

    RECORDS = "records"
    CELLS = "cells"


class SuppressionParameters(RemedyParameters):
    """Parameters of `suppression`."""

    of: Annotated[
        Of,
        Field(strict=False, description="records: failing classes are dropped; cells: some of their cells become `*`."),
    ] = Of.RECORDS
    at_most: Annotated[
        Exact,
        Field(gt=0, le=1, description="The largest share of records, or of quasi-identifier cells, to be suppressed."),
    ] = Fraction(1)
    importance: Annotated[
        dict[Text, Weight] | None,
        Field(description="What a cell of an attribute counts, 1 without; the more, the later it is suppressed."),
    ] = None
    k: ClassSize = None


def faults(parameters: SuppressionParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    if parameters.of is Of.RECORDS and document.rows_aligned:
        yield "of", ALIGNED
    if parameters.of is Of.CELLS and not document.conventions.suppressed_tokens:
        yield "of", "a suppressed cell needs a token; declare `suppressed_tokens` under `conventions:`"
    if parameters.of is Of.RECORDS and parameters.importance is not None:
        yield "importance", "records are dropped as a whole; importance belongs to `of: cells`"
    for name in parameters.importance or {}:
        if name not in document.attributes or document.attributes[name].role is not Role.QUASI_IDENTIFIER:
            yield "importance", f"{name!r} is no quasi-identifier of this policy; only their cells are suppressed"


def why_not_applicable(view: RemedyView, parameters: SuppressionParameters | None, outcome: Outcome) -> str:
    """Why suppressing what fails in its class cannot help a failing demand, or nothing."""
    return only_by_size(view, outcome, sized=parameters is None or parameters.k is not None)
