"""The parameters of correlated noise, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit_plugins.remedies._shared.masking import NO_NUMBERS, Fault, Masking, MaskingParameters, Names

Row = Annotated[dict[Text, Exact], Field(min_length=1)]


class Shape(StrEnum):
    """How the noise of one attribute goes with that of another."""

    CORRELATED = "correlated"
    INDEPENDENT = "independent"


class CorrelatedNoiseParameters(MaskingParameters):
    """Parameters of `correlated_noise`."""

    percent: Annotated[
        Annotated[Exact, Field(gt=0)] | None,
        Field(
            description="The standard deviation of the noise, in percent of each attribute's own. By default the least "
            "that does."
        ),
    ] = None
    shape: Annotated[
        Shape,
        Field(
            strict=False,
            description="correlated: the noise has the correlations of the attributes; independent: it has none.",
        ),
    ] = Shape.CORRELATED
    rescaled: Annotated[
        bool, Field(description="Whether numbers are drawn back to their mean, so that variances stay on average.")
    ] = False
    covariance: Annotated[
        dict[Text, Row] | None,
        Field(
            min_length=1,
            description="The covariance matrix of the noise itself, in units of the attributes: {age: {age: 4, wage: "
            "10}, wage: {wage: 2500}}; each pair once or twice, and 0 where a pair is left out.",
        ),
    ] = None
    attributes: Annotated[
        Names | None,
        Field(
            description="The numeric attributes that get noise; by default those of `covariance`, and without it the "
            "numeric quasi-identifiers."
        ),
    ] = None

    @property
    def names(self) -> Sequence[str] | None:
        """The attributes that get noise; None for the quasi-identifiers."""
        return self.attributes or (None if self.covariance is None else sorted(self.covariance))

    @property
    def named_by(self) -> str:
        """The parameter that names them."""
        return "covariance" if self.attributes is None else "attributes"

    @property
    def chooses_strength(self) -> bool:
        """Whether neither a percentage nor covariances are given."""
        return self.percent is None and self.covariance is None

    def further_faults(self, _: PolicyDocument) -> Iterator[Fault]:
        """Yield the faults of the covariance matrix."""
        matrix, names = self.covariance, set(self.names or ())
        if matrix is None:
            return
        given = [one for one in ("percent", "shape", "rescaled") if one in self.model_fields_set]
        if given:
            yield given[0], "`covariance` says all of the noise; leave it out"
        named = {*matrix, *(other for row in matrix.values() for other in row)}
        if named != names:
            odd = min(named ^ names)
            yield "covariance", f"{odd!r} is in `covariance` or gets noise, and not both"
        for one, row in matrix.items():
            if one not in row or row[one] <= 0:
                yield "covariance", f"{one!r} has no variance of its own above 0"
            for other, value in row.items():
                if matrix.get(other, {}).get(one, value) != value:
                    yield "covariance", f"{one!r} with {other!r} is another number than {other!r} with {one!r}"


MASKING = Masking(
    CorrelatedNoiseParameters,
    unfit=NO_NUMBERS,
    numeric=True,
    refused={Scale.ORDINAL: "is ordinal, and noise is added to numbers; use rank_swapping"},
)
