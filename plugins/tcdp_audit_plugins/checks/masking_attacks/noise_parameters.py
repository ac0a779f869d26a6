"""The parameters of the attack on added noise, and what must be true of them under a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from tcdp_audit.plugin.detector import AttributeDeclaration, Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit_plugins.checks.masking_attacks.parameters import LikelihoodParameters, misnamed
from tcdp_audit_plugins.checks.masking_attacks.scores import Scores

Percent = Annotated[Exact, Field(ge=0)]


class NoiseParameters(LikelihoodParameters):
    """Parameters of `noise_attack`."""

    attributes: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            description="The numeric attributes that the intruder knows; without it, all numeric quasi-identifiers, or "
            "where ranks are meant all that have an order.",
        ),
    ] = None
    sd: Annotated[
        Percent | dict[Text, Percent] | None,
        Field(
            description="The standard deviation of the noise, in percent of the original attribute's: one for every "
            "attribute, or one for each."
        ),
    ] = None
    shape: Annotated[
        Literal["independent", "correlated"],
        Field(
            description="With `sd`: noise of different attributes is independent, or has the correlations of the "
            "original's attributes."
        ),
    ] = "independent"
    rescaled: Annotated[
        bool,
        Field(
            description="With `sd`: numbers were drawn back to their mean after the noise, so that variances stay on "
            "average; whoever knows that stretches them again."
        ),
    ] = False
    covariance: Annotated[
        str | dict[Text, Annotated[dict[Text, Exact], Field(min_length=1)]] | None,
        Field(
            description="The covariance matrix of the noise, in units of the attributes: a CSV file with their names "
            "in the first line, then for each a line with its name and its covariances; or the numbers themselves, "
            "`{age: {age: 4, wage: 10}, wage: {wage: 2500}}`, each pair once or twice."
        ),
    ] = None
    scores: Annotated[
        Scores,
        Field(
            description="What the noise was added to: the numbers, their ranks, or the normal scores of their ranks. "
            "The latter two are for values that were moved about, of ordinal attributes too."
        ),
    ] = "values"
    estimate: Annotated[
        Literal["covariance", "variances"],
        Field(description="What is estimated from the pairs where neither is declared."),
    ] = "covariance"

    def files(self) -> Iterator[tuple[str, str | None, str]]:
        """The file of the covariance matrix."""
        if isinstance(self.covariance, str):
            yield "covariance", None, self.covariance

    @property
    def is_estimated(self) -> bool:
        """Whether nothing is declared of the noise."""
        return self.sd is None and self.covariance is None


def numeric_attributes(parameters: NoiseParameters, document: PolicyDocument) -> list[str]:
    """Those that are named, or else all numeric quasi-identifiers, sorted; where ranks are meant all with an order."""
    if parameters.attributes:
        return sorted(set(parameters.attributes))
    declared = document.attributes.items()
    quasi = (name for name, one in declared if one.role is Role.QUASI_IDENTIFIER and name != document.key)
    return sorted(name for name in quasi if not _unsuited(parameters, document.attributes[name]))


def _unsuited(parameters: NoiseParameters, declaration: AttributeDeclaration) -> str:
    """Why an attribute has nothing that noise could be added to; nothing where it has."""
    if declaration.scale is Scale.NUMERIC:
        return ""
    if parameters.scores == "values":
        return "is not numeric, and noise is added to numbers"
    ranked = declaration.scale is Scale.ORDINAL and declaration.order is not None
    return "" if ranked else "has no order, so its values have no ranks"


def faults(parameters: NoiseParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why an expectation cannot hold for a policy: (parameter, sentence)."""
    if parameters.attributes:
        yield from misnamed(parameters, document)
    names = numeric_attributes(parameters, document)
    if not names:
        yield "", "no quasi-identifier is numeric, and noise is added to numbers; declare `scale: numeric`"
    for name in names:
        declaration = document.attributes.get(name)
        if declaration is not None and (why := _unsuited(parameters, declaration)):
            example = f"`{name}: {{role: {declaration.role.value}, scale: numeric}}`"
            yield "attributes", f"{name!r} {why}; declare it, as in {example}"
    yield from _misdeclared(parameters, names)


def _misdeclared(parameters: NoiseParameters, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is declared of the noise twice, not at all, or of no attribute: (parameter, sentence)."""
    if parameters.sd is not None and parameters.covariance is not None:
        yield "covariance", "the noise is declared twice; leave `sd` or `covariance`"
    for name in ("shape", "rescaled"):
        if name in parameters.model_fields_set and parameters.sd is None:
            yield name, "it says more of noise whose `sd` is declared; declare that, or leave it"
    if isinstance(parameters.sd, Mapping):
        for name in sorted(set(parameters.sd) - set(names)):
            yield "sd", f"{name!r} has a standard deviation and is not among the attributes that the intruder knows"
        for name in sorted(set(names) - set(parameters.sd)):
            yield "sd", f"{name!r} has no standard deviation; declare it, 0 where nothing was added"
