"""Probabilistic record linkage (Fellegi, Sunter): an intruder who learns from all pairs what agreement means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.check import DisclosureType, Need, Pairs, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Sentences
from tcdp_audit_plugins.checks._shared.known_attributes import LINKED, finds
from tcdp_audit_plugins.checks.record_linkage.agreement import (
    Agreement,
    Compared,
    alike,
    enumerated_best,
    enumerated_counts,
    equal,
    graded,
    patterns_of_pairs,
    tolerant,
)
from tcdp_audit_plugins.checks.record_linkage.agreement_patterns import Column, best_matches, pattern_counts
from tcdp_audit_plugins.checks.record_linkage.blocking import Blocks, blocked_best, blocked_counts
from tcdp_audit_plugins.checks.record_linkage.fellegi_sunter import (
    Estimation,
    Linkage,
    Whole,
    decide,
    estimate,
    link_figures,
)
from tcdp_audit_plugins.guides import built_in_guide

MOST = 12  # attributes, or levels of their agreement; the patterns are two to this power
Share = Annotated[Exact, Field(ge=0, le=1)]
Similarity = Annotated[Exact, Field(gt=0, le=1)]
Comparator = Literal["jaro_winkler", "levenshtein"]


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
        dict[Text, Similarity] | None,
        Field(description="Texts that agree where Dice's coefficient of their bigrams is at least so much."),
    ] = None
    comparators: Annotated[
        dict[
            Text,
            Annotated[
                dict[Comparator, Similarity | Annotated[list[Similarity], Field(min_length=1)]],
                Field(min_length=1, max_length=1),
            ],
        ]
        | None,
        Field(
            description="Texts that agree in levels: {attribute: {jaro_winkler: [0.95, 0.85]}}, or one similarity; "
            "needs `blocking`."
        ),
    ] = None
    blocking: Annotated[
        list[Text] | None,
        Field(min_length=1, description="Compare only pairs that are equal in one of these attributes, or more."),
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

    def how(self, names: Sequence[str]) -> Estimation:
        """The method by which the model of some attributes is to be estimated."""
        makes_blocks = [name in (self.blocking or ()) for name in names for _ in range(self.levels(name))]
        return Estimation(
            self.unconstrained,
            float(self.smoothing),
            float(self.convergence),
            self.iterations,
            tuple(makes_blocks) if self.blocking else (),
        )

    def comparator(self, name: str) -> tuple[Comparator, list[Fraction]] | None:
        """The comparator of an attribute's texts, and the similarities of its levels, ascending."""
        for comparator, levels in (self.comparators or {}).get(name, {}).items():
            return comparator, sorted(levels if isinstance(levels, list) else [levels])
        return None

    def levels(self, name: str) -> int:
        """The number of levels on which two values of an attribute can agree."""
        compared = self.comparator(name)
        return 1 if compared is None else len(compared[1])


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
    for field, wanted in (("tolerance", True), ("similarity", False), ("comparators", False)):
        for name in getattr(parameters, field) or {}:
            declaration = document.attributes.get(name)
            if name not in names or declaration is None:
                yield field, f"{name!r} is not among the attributes that are compared"
            elif (declaration.scale is Scale.NUMERIC) is not wanted:
                needed = f"scale: {'numeric' if wanted else 'nominal'}"
                yield field, f"a {field.removesuffix('s')} needs {name!r} to be declared `{needed}`"
    yield from _miscompared(parameters, names)


def _miscompared(parameters: ProbabilisticParameters, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Faults of levels of agreement, and of blocking."""
    for name in parameters.comparators or ():
        compared = parameters.comparator(name)
        if name in (parameters.similarity or ()):
            yield "comparators", f"{name!r} has a similarity already; remove one of them"
        if compared is not None and len(set(compared[1])) < len(compared[1]):
            yield "comparators", f"a level of {name!r} is named twice"
    levels = sum(parameters.levels(name) for name in names)
    if len(names) <= MOST < levels:
        yield (
            "comparators",
            f"at most {MOST} levels can be distinguished in all attributes, not {levels}; name fewer levels",
        )
    if parameters.comparators and parameters.blocking is None:
        yield "blocking", "comparators need it, so that not every pair is compared: name attributes that seldom change"
    blocking = parameters.blocking or []
    if len(set(blocking)) < len(blocking):
        yield "blocking", "an attribute is named twice"
    for name in blocking:
        if name not in names:
            yield "blocking", f"{name!r} is not among the attributes that are compared"


@dataclass(frozen=True)
class _Compared:
    """Release and original on the chosen attributes.

    They are compared block by block if there are any, by joins where all agree exactly, and otherwise pair by pair.
    """

    columns: Sequence[Compared]
    joined: Sequence[Column] | None
    blocks: Blocks | None

    def counts(self) -> Whole:
        """Pairs with each pattern."""
        if self.blocks is not None:
            return blocked_counts(self.blocks, self.columns)
        return enumerated_counts(self.columns) if self.joined is None else pattern_counts(self.joined)

    def best(self, model: Linkage) -> tuple[Whole, Whole]:
        """Rank of each released record's best originals, and their number."""
        ranks = model.ranks
        if self.blocks is not None:
            return blocked_best(self.blocks, self.columns, ranks)
        return enumerated_best(self.columns, ranks) if self.joined is None else best_matches(self.joined, ranks)


def linked_share(view: TableView, parameters: ProbabilisticParameters) -> TableFigure:
    """Expected share of released records whose best original, by weight of agreement, is the right one.

    Every pair of a released and an original record has an agreement pattern. The model of Fellegi and Sunter weighs
    patterns by ln m(pattern) / u(pattern); each released record is linked to the original of the highest weight. A
    true original among t of that weight earns 1/t; a released record without an original earns nothing. With
    blocking, only pairs that are equal in a blocking attribute are compared, and can be linked.

    Returns:
        An exact fraction over all released records.

    Raises:
        CheckError: there is no pair to compare, or no release and original to pair; blocks have more than 2^30 pairs;
            RapidFuzz is missing where a comparator needs it.

    Cost: O(2^p) joins of at most all records where agreement is exact, and no pair is formed; with blocking O(p pairs)
    for the pairs that share a block; otherwise O(p n_released n_original) in blocks.

    Source: Fellegi, Sunter (1969); Torra (2020), record linkage.
    """
    names = sorted(parameters.attributes or view.quasi_identifiers)
    pairs = view.pairs(names)
    compared = _compared(pairs, names, parameters)
    counts = compared.counts()
    matched = _comparable(compared, pairs)
    if not counts.sum():
        raise CheckError(
            "no released record shares a value of an attribute in `blocking` with an original one; name others"
        )
    prior, levels = len(matched) / int(counts.sum()), tuple(one.levels for one in compared.columns)
    model = estimate(counts, prior, parameters.how(names), levels)
    truth = patterns_of_pairs(compared.columns, matched, pairs.partner[matched])
    best, ties = (one[matched] for one in compared.best(model))
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
            **({} if compared.blocks is None else {"matches_outside_blocks": len(pairs.matched) - len(matched)}),
            **_model(model, names, parameters),
            **_links(model, counts, np.bincount(truth, minlength=len(counts)), parameters, len(pairs.matched)),
        },
    )


def _comparable(compared: _Compared, pairs: Pairs) -> Whole:
    """The released records with an original that are compared with it."""
    matched = np.asarray(pairs.matched)
    if compared.blocks is None:
        return matched
    return matched[compared.blocks.share(matched, pairs.partner[matched])]


def _compared(pairs: Pairs, names: Sequence[str], parameters: ProbabilisticParameters) -> _Compared:
    released, original = pairs.released.codes, pairs.original.codes
    sizes = [pairs.released.domains[name].size for name in names]
    columns = [
        Compared(released[name], original[name], _agreement(pairs, name, parameters), parameters.levels(name))
        for name in names
    ]
    joined = {name: Column(released[name], original[name], size) for name, size in zip(names, sizes, strict=True)}
    if parameters.blocking is not None:
        return _Compared(columns, None, Blocks([joined[name] for name in parameters.blocking]))
    if parameters.tolerance or parameters.similarity:
        return _Compared(columns, None, None)
    return _Compared(columns, list(joined.values()), None)


def _agreement(pairs: Pairs, name: str, parameters: ProbabilisticParameters) -> Agreement:
    domain = pairs.released.domains[name]
    if name in (parameters.tolerance or {}):
        return tolerant(domain.values, (parameters.tolerance or {})[name])
    if name in (parameters.similarity or {}):
        return alike(domain.labels, (parameters.similarity or {})[name])
    compared = parameters.comparator(name)
    return equal(domain.size) if compared is None else graded(domain.labels, *compared)


def _model(model: Linkage, names: Sequence[str], parameters: ProbabilisticParameters) -> dict[str, Any]:
    """The estimates, attribute by attribute and level by level, and how the estimation ended."""
    estimates, levels, bit = [], [], 0
    for name in names:
        graded = _levels(model, bit, name, parameters)
        gain = graded[-1]["gain"] if graded else float(model.gains[bit])
        estimates.append({"attribute": name, "m": float(model.m[bit]), "u": float(model.u[bit]), "gain": gain})
        levels += graded
        bit += parameters.levels(name)
    return {
        "prior": model.prior,
        "estimates": estimates,
        **({"levels": levels} if levels else {}),
        "iterations_taken": model.iterations,
        "last_change": model.change,
        "converged": model.converged,
    }


def _levels(model: Linkage, bit: int, name: str, parameters: ProbabilisticParameters) -> list[dict[str, Any]]:
    """Shares of matches and of other pairs that reach each level, and the gain of a pair that reaches no higher one.

    None of an attribute without a comparator; `bit` is that of the attribute's first level.
    """
    _, similarities = parameters.comparator(name) or ("", [])
    bits = slice(bit, bit + len(similarities))
    reached = [(1 << level) - 1 << bit for level in range(1, len(similarities) + 1)]
    gains = model.weights[reached] - model.weights[0]
    shares = (np.cumprod(one[bits]).tolist() for one in (model.m, model.u))
    return [
        {"attribute": name, "at_least": least, "m": m, "u": u, "gain": gain}
        for least, m, u, gain in zip(similarities, *shares, gains.tolist(), strict=True)
    ]


def _links(
    model: Linkage, counts: Whole, truth: Whole, parameters: ProbabilisticParameters, matched: int
) -> dict[str, Any]:
    """Pairs by the two thresholds, and by posterior; `matched` counts the matches that share no block as well."""
    decision = decide(model, float(parameters.false_link_rate), float(parameters.missed_link_rate))
    clerical = ~decision.link & ~decision.non_link
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
                "{correct_unique:{record}} {correct_unique:has|have} no rival].[{matches_outside_blocks?} "
                "{matches_outside_blocks:right pair} {matches_outside_blocks:shares|share} no block, and "
                "{matches_outside_blocks:counts|count} as not linked.][{converged?}| The estimation has "
                "not converged; raise `iterations`.]"
            ),
            impact=finds("weighs in which of them a record agrees"),
            parts={"linked": LINKED},
            values=lambda outcome: {"weighed": [one["attribute"] for one in outcome.details["estimates"]]},
        ),
        guide=built_in_guide(__file__, "probabilistic_record_linkage.md"),
    )
]
