"""Probabilistic record linkage (Fellegi, Sunter): an intruder who learns from all pairs what agreement means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.check import DisclosureType, Need, Pairs, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.sentences import Sentences
from tcdp_audit_plugins.checks._shared.known_attributes import LINKED, finds
from tcdp_audit_plugins.checks.record_linkage.agreement import (
    Agreement,
    Compared,
    alike,
    enumerated_best,
    enumerated_counts,
    equal,
    patterns_of_pairs,
    tolerant,
)
from tcdp_audit_plugins.checks.record_linkage.agreement_patterns import Column, best_matches, pattern_counts
from tcdp_audit_plugins.checks.record_linkage.fellegi_sunter import (
    Estimation,
    Linkage,
    Whole,
    decide,
    estimate,
    link_figures,
)
from tcdp_audit_plugins.guides import built_in_guide

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
        Exact, Field(ge=0, description="Agreeing, and disagreeing, pairs that each m is given; not if unconstrained.")
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
        """The method by which the model is to be estimated."""
        return Estimation(self.unconstrained, float(self.smoothing), float(self.convergence), self.iterations)


def faults(parameters: ProbabilisticParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The reasons why an expectation cannot hold for a policy: (parameter, sentence)."""
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
            yield ("attributes", f"{name!r} is the key, which identifies people; an intruder who had it need not link")
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


@dataclass(frozen=True)
class _Compared:
    """Release and original on the chosen attributes: by joins where all agree exactly, otherwise pair by pair."""

    columns: Sequence[Compared]
    joined: Sequence[Column] | None

    def counts(self) -> Whole:
        """Pairs with each pattern."""
        return enumerated_counts(self.columns) if self.joined is None else pattern_counts(self.joined)

    def best(self, model: Linkage) -> tuple[Whole, Whole]:
        """Rank of each released record's best originals, and their number."""
        ranks = model.ranks
        return enumerated_best(self.columns, ranks) if self.joined is None else best_matches(self.joined, ranks)


def linked_share(view: TableView, parameters: ProbabilisticParameters) -> TableFigure:
    """Expected share of released records whose best original, by weight of agreement, is the right one.

    Every pair of a released and an original record has an agreement pattern. The model of Fellegi and Sunter weighs
    patterns by ln m(pattern) / u(pattern); each released record is linked to the original of the highest weight. A
    true original among t of that weight earns 1/t; a released record without an original earns nothing.

    Returns:
        An exact fraction over all released records.

    Raises:
        CheckError: there is no pair to compare, or no release and original to pair.

    Cost: O(2^p) joins of at most all records where agreement is exact, and no pair is formed; otherwise
    O(p n_released n_original) in blocks.

    Source: Fellegi, Sunter (1969); Torra (2020), record linkage.
    """
    names = sorted(parameters.attributes or view.quasi_identifiers)
    pairs = view.pairs(names)
    compared = _compared(pairs, names, parameters)
    counts = compared.counts()
    prior = len(pairs.matched) / (pairs.released.records * pairs.original.records)
    model = estimate(counts, prior, parameters.how())
    truth = patterns_of_pairs(compared.columns, pairs.matched, pairs.partner[pairs.matched])
    best, ties = (one[pairs.matched] for one in compared.best(model))
    shared_by = ties[model.ranks[truth] == best]
    times, records = np.unique(shared_by, return_counts=True)
    correct = sum((Fraction(int(n), int(t)) for t, n in zip(times, records, strict=True)), Fraction(0))
    released = pairs.released.records
    return TableFigure(
        value=correct / released,
        records=released,
        details={
            **pairs.counted(),
            "expected_correct": correct,
            "correct_unique": int((shared_by == 1).sum()),
            "correct_including_ties": len(shared_by),
            "random_baseline": Fraction(len(pairs.matched), released * pairs.original.records),
            **_model(model, names),
            **_links(model, counts, np.bincount(truth, minlength=len(counts)), parameters),
        },
    )


def _compared(pairs: Pairs, names: Sequence[str], parameters: ProbabilisticParameters) -> _Compared:
    released, original = pairs.released.codes, pairs.original.codes
    sizes = [pairs.released.domains[name].size for name in names]
    columns = [Compared(released[name], original[name], _agreement(pairs, name, parameters)) for name in names]
    if parameters.tolerance or parameters.similarity:
        return _Compared(columns, None)
    joined = [Column(released[name], original[name], size) for name, size in zip(names, sizes, strict=True)]
    return _Compared(columns, joined)


def _agreement(pairs: Pairs, name: str, parameters: ProbabilisticParameters) -> Agreement:
    domain = pairs.released.domains[name]
    if name in (parameters.tolerance or {}):
        return tolerant(domain.values, (parameters.tolerance or {})[name])
    if name in (parameters.similarity or {}):
        return alike(domain.labels, (parameters.similarity or {})[name])
    return equal(domain.size)


def _model(model: Linkage, names: Sequence[str]) -> dict[str, Any]:
    """The estimates, attribute by attribute, and how the estimation ended."""
    estimates = [
        {"attribute": name, "m": float(m), "u": float(u), "gain": float(gain)}
        for name, m, u, gain in zip(names, model.m, model.u, model.gains, strict=True)
    ]
    return {
        "prior": model.prior,
        "estimates": estimates,
        "iterations_taken": model.iterations,
        "last_change": model.change,
        "converged": model.converged,
    }


def _links(model: Linkage, counts: Whole, truth: Whole, parameters: ProbabilisticParameters) -> dict[str, Any]:
    """Pairs by the two thresholds, and by posterior."""
    decision = decide(model, float(parameters.false_link_rate), float(parameters.missed_link_rate))
    matched, clerical = int(truth.sum()), ~decision.link & ~decision.non_link
    cuts = [(cut, model.posteriors >= float(cut)) for cut in parameters.posteriors]
    return {
        "pairs": int(counts.sum()),
        "linked_pairs": int(counts[decision.link].sum()),
        "clerical_pairs": int(counts[clerical].sum()),
        "non_linked_pairs": int(counts[decision.non_link].sum()),
        "by_error_rates": {
            **link_figures(decision.link, counts, truth, matched),
            "clerical_matches": int(truth[clerical].sum()),
            "missed_matches": int(truth[decision.non_link].sum()),
        },
        "by_posterior": [{"at_least": cut, **link_figures(chosen, counts, truth, matched)} for cut, chosen in cuts],
    }


CHECKS = [
    TableCheck(
        name="probabilistic_record_linkage",
        title="Probabilistic record linkage",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=ProbabilisticParameters,
        measure=linked_share,
        label="share of released records linked correctly",
        worst=lambda figure, _: Fraction(figure.details["matched"], figure.records),  # others have no original
        needs={Need.ORIGINAL},
        validate=faults,
        variant=lambda parameters: "unconstrained" if parameters.unconstrained else "",
        sentences=Sentences(
            passed=(
                "An intruder who weighs agreement on {weighed} should find the right person for {linked}[; "
                "{correct_unique:{record}} {correct_unique:has|have} no rival].[{converged?}| The estimation has "
                "not converged; raise `iterations`.]"
            ),
            impact=finds("weighs in which of them a record agrees"),
            parts={"linked": LINKED},
            values=lambda outcome: {"weighed": [one["attribute"] for one in outcome.details["estimates"]]},
        ),
        guide=built_in_guide(__file__, "probabilistic_record_linkage.md"),
    )
]
