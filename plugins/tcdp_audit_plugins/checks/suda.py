"""SUDA: records that few attributes single out are the first that an intruder finds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import fsum
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import allowance
from tcdp_audit.plugin.check import DisclosureType, Guide, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.sentences import Outcome, Status, an_intruder, column_of, known_columns, record_noun, records_of
from tcdp_audit_plugins.checks._shared.attribute_sets import few_columns
from tcdp_audit_plugins.checks._shared.minimal_uniques import MinimalUniques, dis_suda, minimal_uniques
from tcdp_audit_plugins.checks._shared.pitman import data_intrusion_simulation
from tcdp_audit_plugins.checks._shared.sampling import counts_rows, fraction_of, needs_a_partition
from tcdp_audit_plugins.formulas import formula


class SudaParameters(Parameters):
    """Parameters of `suda`."""

    at_most: Annotated[
        Exact | None,
        Field(
            ge=0,
            le=1,
            description="The largest share of records that at most `max_size` attributes single out.",
        ),
    ] = None
    max_size: Annotated[
        int,
        Field(ge=1, description="How many attributes an intruder needs at the most for a record to count."),
    ] = 3
    dis_fraction: Annotated[
        Exact | None,
        Field(
            gt=0,
            le=1,
            description="The sampling fraction of the DIS scores; by default what the policy says it is.",
        ),
    ] = None


def suda(view: TableView, parameters: SudaParameters) -> TableFigure:
    """The share of records with a minimal sample unique of at most `max_size` quasi-identifiers, and their scores.

    Cost: that of `minimal_uniques`: one key of all records for every set of at most `max_size` quasi-identifiers.
    """
    names = view.quasi_identifiers
    (table,) = view.coded(names)
    uniques = minimal_uniques(
        [table.codes[name] for name in names],
        [table.domains[name].size + 1 for name in names],
        parameters.max_size,
    )
    scores = uniques.scores
    special = int(np.count_nonzero(scores))
    details: dict[str, Any] = {
        "records_singled_out": special,
        "minimal_sample_uniques": _by_size(uniques),
        "highest_score": int(scores.max()),
        "sum_of_scores": int(scores.sum()),
        "contributions": _contributions(uniques, names),
    }
    given = parameters.dis_fraction
    fraction = fraction_of(view) if given is None else float(given)
    if fraction is not None and special:
        details |= _dis_scores(view, uniques, fraction)
    return TableFigure(Fraction(special, view.records), view.records, special, details=details)


def _by_size(uniques: MinimalUniques) -> dict[str, int]:
    return {str(size): int(counts.sum()) for size, counts in enumerate(uniques.by_size, 1)}


def _contributions(uniques: MinimalUniques, names: list[str]) -> dict[str, Fraction]:
    """The share of the sum of scores that comes from sets with each attribute."""
    total = int(uniques.scores.sum())
    shares = (Fraction(int(one), total) if total else Fraction(0) for one in uniques.by_attribute)
    return dict(zip(names, shares, strict=True))


def _dis_scores(view: TableView, uniques: MinimalUniques, fraction: float) -> dict[str, float]:
    size = view.classes.records
    dis = data_intrusion_simulation(size, fraction)
    scores = dis_suda(uniques.scores, dis, int((size == 1).sum()), uniques.attributes)
    return {
        "dis_fraction": fraction,
        "dis": dis,
        "highest_dis_score": float(scores.max()),
        "sum_of_dis_scores": fsum(scores.tolist()),
    }


def _faults(_: SudaParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from counts_rows(document)
    yield from needs_a_partition(
        document, "whether a set of attributes singles out a record would depend on its missing values"
    )


def _sentence(outcome: Outcome) -> str:
    assert outcome.records is not None  # noqa: S101 - outcomes of this check have them
    few = f"{few_columns(outcome.parameters['max_size'])} out of {known_columns(outcome)}"
    singled = f"{records_of(outcome.records, record_noun(outcome))} singled out by {few}"
    if outcome.status is not Status.FAILED:
        return f"{singled}."
    contributions = outcome.details["contributions"]
    first = max(sorted(contributions), key=lambda name: contributions[name])
    return f"{singled}, where {allowance(outcome)}; {column_of(outcome, first)} takes part most often."


def _person(outcome: Outcome) -> str:
    contributions, few = outcome.details["contributions"], few_columns(outcome.parameters["max_size"])
    if not outcome.details["records_singled_out"]:
        return f"Nobody is alone in {few} of {known_columns(outcome)}: whoever knows no more cannot be sure of anyone."
    first = max(sorted(contributions), key=lambda name: contributions[name])
    knows = f"Whoever knows only {few} of {an_intruder(outcome)} can be sure of whoever is singled out"
    return f"{knows}; {column_of(outcome, first)} helps most often."


CHECKS = [
    TableCheck(
        name="suda",
        title="Special uniques (SUDA)",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=SudaParameters,
        measure=suda,
        label="share of records that few attributes single out",
        class_size=lambda _: 2,
        requires=frozenset({"population"}),
        validate=_faults,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="How many people do very few facts suffice to single out?",
            risk="Two or three facts may be enough to be sure of somebody.",
            definition=(
                "A minimal sample unique of a record is a set of quasi-identifiers in which no other record "
                "agrees with it, and no subset of which does the same. The fewer attributes it takes, the "
                "more special the record. The figure is the share of records with a minimal sample unique of "
                "at most `max_size` attributes. A record's SUDA score adds (m - size)! for each of them, m "
                "being the number of quasi-identifiers."
            ),
            **formula(
                r"\frac{1}{n}\, \#\{i : \min_M \left|M\right| \le \text{max\_size}\} \le \text{at\_most}",
                r"s_i = \sum_{M \text{ of } i} (m - \left|M\right|)!",
                r"\text{DIS}_i = \frac{1}{1 + (U/D - U) / (s_i^Q \sum_j s_j^{-Q})}",
                r"Q = 1 + \frac{8 - m}{20}",
                r"M \text{ a minimal sample unique of } i, s \text{ its score}",
            ),
            reading=(
                "The observed value is a share of records. Details: `records_singled_out`; "
                "`minimal_sample_uniques`, how many there are of each size; `highest_score` and "
                "`sum_of_scores`; `contributions`, for each attribute the share of the sum of scores from "
                "sets that contain it (the shares add up to more than 1). With a sampling fraction also "
                "`dis_fraction`, `dis` (the chance that a match to a unique record is right), "
                "`highest_dis_score` and `sum_of_dis_scores`, which spread it over records by their scores."
            ),
            choosing=(
                "3 attributes are what a neighbour knows. Generalise the attribute with the largest "
                "contribution first; 0 is out of reach for detailed files, a few per mille are not."
            ),
            limits=(
                "Scores order records and are no probabilities. Sets of more than `max_size` attributes are "
                "not looked at, so the scores grow with it; more than 100,000 sets are refused. Two scalings "
                "of the score are in use; this one is that of Elliot, and the sum of (m - size)! grows fast "
                "with m, so that releases with different attributes do not compare. "
                "`missing_quasi_identifier: wildcard` is refused: whether a set of attributes singles out a record "
                "would depend on its missing values."
            ),
            source=(
                "Elliot, Manning, Ford, A computational algorithm for handling the special uniques problem, "
                "Int. J. of Uncertainty, Fuzziness and KBS 10(5), 2002; Elamir, Skinner, J. Official "
                "Statistics 22(3), 2006"
            ),
            example="- suda: {max_size: 3, at_most: 0.01}",
        ),
    ),
]
