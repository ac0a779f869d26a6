"""Suppression: leave out the records of failing classes, or as few of their quasi-identifier cells as will do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.outcome import Outcome
from tcdp_audit.policy import Role
from tcdp_audit.policy.model import PolicyDocument, Text
from tcdp_audit.policy.scalars import Exact
from tcdp_audit.remedy import Remedy, RemedyError, RemedyParameters, Treatment
from tcdp_audit.remedy_view import RemedyView
from tcdp_audit_plugins.remedies.suppression.cells import suppress_cells
from tcdp_audit_plugins.remedies.suppression.guide import GUIDE
from tcdp_audit_plugins.remedies.suppression.quasi_identifier_cells import QuasiIdentifierCells
from tcdp_audit_plugins.remedies.suppression.records import drop_records

ALIGNED = (
    "dropping records would break `rows_aligned: true`; declare a `key:` that aligns release and original, or use "
    "`of: cells`"
)
Weight = Annotated[Exact, Field(ge=0)]


class Of(StrEnum):
    """What is suppressed."""

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


def _apply(view: RemedyView, parameters: SuppressionParameters) -> Treatment:
    if not view.demands:
        raise RemedyError("the policy demands nothing of equivalence classes, so no suppression would help")
    if parameters.of is Of.RECORDS:
        treatment = drop_records(view)
        suppressed, total = int(treatment.notes["records"]), view.records
    else:
        treatment = suppress_cells(view, parameters.importance or {})
        suppressed = sum(treatment.notes["cells"].values())
        total = view.records * len(view.quasi_identifiers)
    _require_few(suppressed, total, parameters)
    return treatment


def _require_few(suppressed: int, total: int, parameters: SuppressionParameters) -> None:
    share = Fraction(suppressed, total)
    if share <= parameters.at_most:
        return
    enough = -(-suppressed * 10_000 // total) / 10_000  # rounded up
    what = "records" if parameters.of is Of.RECORDS else "quasi-identifier cells"
    raise RemedyError(
        f"{suppressed:,} of {total:,} {what} would have to be suppressed, and `at_most` allows "
        f"{int(parameters.at_most * total):,}; `at_most: {enough}` would do, and so may generalising first"
    )


def _faults(parameters: SuppressionParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if parameters.of is Of.RECORDS and document.rows_aligned:
        yield "of", ALIGNED
    if parameters.of is Of.CELLS and not document.conventions.suppressed_tokens:
        yield "of", "a suppressed cell needs a token; declare `suppressed_tokens` under `conventions:`"
    if parameters.of is Of.RECORDS and parameters.importance is not None:
        yield "importance", "records are dropped as a whole; importance belongs to `of: cells`"
    for name in parameters.importance or {}:
        if name not in document.attributes or document.attributes[name].role is not Role.QUASI_IDENTIFIER:
            yield "importance", f"{name!r} is no quasi-identifier of this policy; only their cells are suppressed"


def _plan(view: RemedyView, _: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Few records, or any cells, where a class fails."""
    if not view.demands or not view.quasi_identifiers:
        return
    cells = QuasiIdentifierCells.of(view)
    if not view.demands.keep(*cells.classes()).all():
        yield {"of": "records", "at_most": "0.05"}
        yield {"of": "cells"}


SUPPRESSION = Remedy(
    name="suppression",
    title="Suppression",
    summary="Drops the records of failing classes, or suppresses as few of their quasi-identifier cells as will do.",
    guide=GUIDE,
    parameters=SuppressionParameters,
    apply=_apply,
    validate=_faults,
    plan=_plan,
)
