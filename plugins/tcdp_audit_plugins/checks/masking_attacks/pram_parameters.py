"""The parameters of the attack on post-randomisation, and what must be true of them under a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks.masking_attacks.parameters import LikelihoodParameters, attributes_under, misnamed

Share = Annotated[Exact, Field(ge=0, le=1)]
Lines = Annotated[dict[Text, Annotated[dict[Text, Share], Field(min_length=1)]], Field(min_length=1)]


class PramParameters(LikelihoodParameters):
    """Parameters of `pram_attack`."""

    retention: Annotated[
        Share | dict[Text, Share] | None,
        Field(
            description="The probability that a value is kept, all others being as probable as each other: one for "
            "every attribute without a matrix, or one for each that is named."
        ),
    ] = None
    matrix: Annotated[
        dict[Text, str | Lines] | None,
        Field(
            min_length=1,
            description="For an attribute a CSV file: released values in the first line, then for each original value "
            "a line with the probabilities; or the lines themselves, `{male: {male: 0.9, female: 0.1}, …}`.",
        ),
    ] = None
    invariant: Annotated[
        bool,
        Field(
            description="Whether what is declared was adapted so that no value is expected to become rarer or more "
            "frequent."
        ),
    ] = False

    def files(self) -> Iterator[tuple[str, str | None, str]]:
        """The files of matrices."""
        yield from (("matrix", name, location) for name, location in self._matrices if isinstance(location, str))

    def figures(self) -> dict[str, Any]:
        """As an outcome carries them: the values of a matrix that stands in the policy are counted."""
        figures = super().figures()
        if self.matrix is not None:
            told = {name: one if isinstance(one, str) else count(len(one), "value") for name, one in self._matrices}
            figures["matrix"] = told
        return figures

    @property
    def _matrices(self) -> list[tuple[str, str | Mapping[str, Mapping[str, Fraction]]]]:
        return sorted((self.matrix or {}).items())

    def kept(self, attribute: str) -> Exact | None:
        """The declared retention of an attribute."""
        return self.retention.get(attribute) if isinstance(self.retention, Mapping) else self.retention


def faults(parameters: PramParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why an expectation cannot hold for a policy: (parameter, sentence)."""
    yield from misnamed(parameters, document)
    names, matrix = set(attributes_under(parameters, document)), parameters.matrix or {}
    kept = parameters.retention if isinstance(parameters.retention, Mapping) else {}
    for field, declared in (("retention", kept), ("matrix", matrix)):
        for name in sorted(set(declared) - names):
            yield field, f"{name!r} has a {field} and is not among the attributes that the intruder knows"
    for name in sorted(set(kept) & set(matrix)):
        yield "retention", f"{name!r} has a matrix, too; leave one of them"
    silent = [name for name in sorted(names) if parameters.invariant and parameters.kept(name) is None]
    for name in sorted(set(silent) - set(matrix)):
        yield "invariant", f"it adapts what is declared, and nothing is of {name!r}; give its retention or its matrix"
