"""The parameters of probabilistic record linkage, and what must be true of them under a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit_plugins.checks.record_linkage.fellegi_sunter import Estimation

MOST = 12  # attributes; the patterns are two to this power
Share = Annotated[Exact, Field(ge=0, le=1)]


class ProbabilisticParameters(Parameters):
    """Parameters of `probabilistic_record_linkage`."""

    at_most: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest share of released records linked correctly.")
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            max_length=MOST,
            description="What the intruder compares, twelve at most; without it, all quasi-identifiers.",
        ),
    ] = None
    tolerance: Annotated[
        dict[Text, Annotated[Exact, Field(ge=0)]] | None,
        Field(description="Numeric attributes that agree within so much, in their own unit, inclusive."),
    ] = None
    similarity: Annotated[
        dict[Text, Annotated[Exact, Field(gt=0, le=1)]] | None,
        Field(description="Texts that agree where Dice's coefficient of their bigrams is at least so much."),
    ] = None
    unconstrained: Annotated[
        bool, Field(description="Estimate the prior, m and u by plain maximum likelihood instead of m alone.")
    ] = False
    smoothing: Annotated[
        Exact,
        Field(ge=0, description="Agreeing, and disagreeing, pairs that each m is given; not if unconstrained."),
    ] = Fraction(1)
    false_link_rate: Annotated[Share, Field(description="P(link | unmatched) that is tolerated.")] = Fraction(1, 10**6)
    missed_link_rate: Annotated[Share, Field(description="P(non-link | matched) that is tolerated.")] = Fraction(1, 20)
    posteriors: Annotated[
        list[Share], Field(description="Posterior probabilities of a match at which links are reported.")
    ] = [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)]  # noqa: RUF012 - pydantic copies it
    convergence: Annotated[
        Exact, Field(ge=0, description="The estimation ends when no probability changes by more in a step.")
    ] = Fraction(1, 10**9)
    iterations: Annotated[int, Field(ge=1, description="The estimation ends after so many steps at the latest.")] = (
        10_000
    )

    def how(self) -> Estimation:
        """How the model is to be estimated."""
        return Estimation(self.unconstrained, float(self.smoothing), float(self.convergence), self.iterations)


def faults(parameters: ProbabilisticParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why an expectation cannot hold for a policy: (parameter, sentence)."""
    roles = {name: one.role for name, one in document.attributes.items()}
    names = parameters.attributes or [name for name, role in roles.items() if role is Role.QUASI_IDENTIFIER]
    if len(names) > MOST:
        yield (
            "attributes",
            f"at most {MOST} attributes can be compared, not {len(names)}; name those that matter most",
        )
    if len(set(names)) < len(names):
        yield "attributes", "an attribute is named twice"
    for name in names:
        if name not in roles:
            yield "attributes", f"the policy declares no attribute {name!r}"
        elif name == document.key:
            yield (
                "attributes",
                f"{name!r} is the key that tells who is who; an intruder who had it need not link",
            )
    yield from _misused(parameters, document, names)


def _misused(
    parameters: ProbabilisticParameters, document: PolicyDocument, names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    for field, wanted in (("tolerance", True), ("similarity", False)):
        for name in getattr(parameters, field) or {}:
            declaration = document.attributes.get(name)
            if name not in names or declaration is None:
                yield field, f"{name!r} is not among the attributes that are compared"
            elif (declaration.scale is Scale.NUMERIC) is not wanted:
                needed = f"scale: {'numeric' if wanted else 'nominal'}"
                yield field, f"a {field} needs {name!r} to be declared `{needed}`"
