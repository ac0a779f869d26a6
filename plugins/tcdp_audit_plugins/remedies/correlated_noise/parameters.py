"""The parameters of correlated noise, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit.plugin.remedy import RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.masked_attributes import masked_faults
from tcdp_audit_plugins.remedies._shared.scope import NO_NUMBERS, only_where_masked

Row = Annotated[dict[Text, Exact], Field(min_length=1)]


class Shape(StrEnum):
    """How the noise of one attribute goes with that of another."""

    CORRELATED = "correlated"
    INDEPENDENT = "independent"


class CorrelatedNoiseParameters(RemedyParameters):
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
        list[Text] | None,
        Field(
            min_length=1,
            description="The numeric attributes that get noise; by default those of `covariance`, and without it the "
            "numeric quasi-identifiers.",
        ),
    ] = None

    @property
    def names(self) -> Sequence[str] | None:
        """The attributes that get noise; None for the quasi-identifiers."""
        return self.attributes or (None if self.covariance is None else sorted(self.covariance))


def faults(parameters: CorrelatedNoiseParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    field = "covariance" if parameters.attributes is None else "attributes"
    yield from ((field, sentence) for _, sentence in masked_faults(parameters.names, document, ordered=True))
    for name in parameters.names or ():
        declared = document.attributes.get(name)
        if declared is not None and declared.scale is Scale.ORDINAL:
            yield field, f"{name!r} is ordinal, and noise is added to numbers; use rank_swapping"
    yield from _faults_of_matrix(parameters)


def _faults_of_matrix(parameters: CorrelatedNoiseParameters) -> Iterator[tuple[str, str]]:
    matrix, names = parameters.covariance, set(parameters.names or ())
    if matrix is None:
        return
    given = [one for one in ("percent", "shape", "rescaled") if one in parameters.model_fields_set]
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


def why_not_applicable(view: RemedyView, parameters: CorrelatedNoiseParameters | None, outcome: Outcome) -> str:
    """Why noise cannot help a failing demand, or nothing."""
    given = parameters or CorrelatedNoiseParameters()
    return only_where_masked(
        view,
        outcome,
        given.names,
        lambda one: one.is_numeric,
        unfit=NO_NUMBERS,
        chosen=given.percent is None and given.covariance is None,
        alike=False,
    )


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """As little as will do, where a demand that compares with the original fails."""
    if any(not why_not_applicable(view, None, one) for one in outcomes):
        yield {}
