"""The parameters of post-randomisation, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, model_validator

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit_plugins.remedies._shared.masking import Fault, Masking, MaskingParameters, Names

Share = Annotated[Exact, Field(ge=0, le=1)]
Line = Annotated[dict[Text, Share], Field(min_length=1)]


class PramParameters(MaskingParameters):
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
        Names | None,
        Field(
            description="The attributes to randomise, each by itself; by default those with a matrix, and without any "
            "the nominal and ordinal quasi-identifiers."
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

    @property
    def named_by(self) -> str:
        """The parameter that names them."""
        return "matrix" if self.attributes is None else "attributes"

    @property
    def chooses_strength(self) -> bool:
        """Whether neither a retention nor a matrix is given."""
        return self.retention is None and self.matrix is None

    def further_faults(self, _: PolicyDocument) -> Iterator[Fault]:
        """Yield the faults of matrices without an attribute."""
        for name in sorted(set(self.matrix or ()) - set(self.names or ())):
            yield "matrix", f"{name!r} has a matrix and is not among `attributes`"


MASKING = Masking(
    PramParameters,
    unfit="every quasi-identifier is numeric",
    ordered=False,
    refused={Scale.NUMERIC: "is numeric, and categories are randomised; swap its ranks, or generalise it first"},
    suggested=[{"invariant": True}],
)
