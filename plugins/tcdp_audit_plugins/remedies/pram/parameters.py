"""The parameters of post-randomisation, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit.plugin.remedy import RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.masked_attributes import masked_faults
from tcdp_audit_plugins.remedies._shared.scope import only_where_masked

Share = Annotated[Exact, Field(ge=0, le=1)]
Line = Annotated[dict[Text, Share], Field(min_length=1)]


class PramParameters(RemedyParameters):
    """Parameters of `pram`."""

    retention: Annotated[
        Annotated[Exact, Field(gt=0, lt=1)] | None,
        Field(
            description="The probability that a value is kept, all others of the column being as probable as each "
            "other. By default the largest that does."
        ),
    ] = None
    matrix: Annotated[
        dict[Text, Annotated[dict[Text, Line], Field(min_length=1)]] | None,
        Field(
            min_length=1,
            description="For an attribute its matrix: for every value the probabilities of what is released, "
            "`{sex: {male: {male: 0.9, female: 0.1}, female: {female: 1}}}`.",
        ),
    ] = None
    invariant: Annotated[
        bool, Field(description="Adapt the probabilities, so that the expected number of records of no value changes.")
    ] = False
    attributes: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            description="The attributes to randomise, each by itself; by default those with a matrix, and without any "
            "the nominal and ordinal quasi-identifiers.",
        ),
    ] = None

    @model_validator(mode="after")
    def _belong_together(self) -> PramParameters:
        for name, matrix in (self.matrix or {}).items():
            for line in matrix.values():
                if sum(line.values()) != 1:
                    raise ValueError(f"the probabilities of a line of the matrix of {name!r} must add up to 1")
                if not matrix.keys() >= line.keys():
                    raise ValueError(f"the matrix of {name!r} releases a value that has no line; give it one")
        if self.matrix and self.attributes is None and self.retention is not None:
            raise ValueError("every attribute that is randomised has a matrix; leave retention, or name `attributes`")
        return self

    @property
    def names(self) -> list[str] | None:
        """The attributes to randomise; None for the quasi-identifiers."""
        return self.attributes or (None if self.matrix is None else sorted(self.matrix))


def faults(parameters: PramParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    field = "matrix" if parameters.attributes is None else "attributes"
    yield from ((field, sentence) for _, sentence in masked_faults(parameters.names, document, ordered=False))
    for name in parameters.names or ():
        declared = document.attributes.get(name)
        if declared is not None and declared.scale is Scale.NUMERIC:
            yield field, f"{name!r} is numeric, and categories are randomised; swap its ranks, or generalise it first"
    for name in sorted(set(parameters.matrix or ()) - set(parameters.names or ())):
        yield "matrix", f"{name!r} has a matrix and is not among `attributes`"


def why_not_applicable(view: RemedyView, parameters: PramParameters | None, outcome: Outcome) -> str:
    """Why randomising cannot help a failing demand, or nothing."""
    given = parameters or PramParameters()
    return only_where_masked(
        view,
        outcome,
        given.names,
        lambda one: one.scale is not Scale.NUMERIC,
        unfit="every quasi-identifier is numeric",
        chosen=given.retention is None and given.matrix is None,
        alike=False,
    )


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Invariant, and as weak as will do, where a demand that compares with the original fails."""
    if any(not why_not_applicable(view, None, one) for one in outcomes):
        yield {"invariant": True}
