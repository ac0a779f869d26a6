"""What every attack by likelihood gives: its figure, its details, its sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Pairs, TableFigure
from tcdp_audit.plugin.sentences import Outcome, columns_of, count, percent, record_noun
from tcdp_audit_plugins.checks.masking_attacks.parameters import LikelihoodParameters
from tcdp_audit_plugins.checks.masking_attacks.posteriors import Likelihood, Posteriors, posterior_figures
from tcdp_audit_plugins.checks.record_linkage.credit import Credit, credit
from tcdp_audit_plugins.checks.record_linkage.linked_records import finds, linked
from tcdp_audit_plugins.checks.record_linkage.standardised import Space

READING = (
    "Details: `masked_to_original` and `original_to_masked` hold both directions, each with `expected` (the share), "
    "`expected_correct`, `optimistic` and `pessimistic` (every tie broken rightly, wrongly), `random_baseline` (1 over "
    "the candidates), `attempts` and `tied`; the direction asked for stands at the top too. `without_knowledge` has "
    "the `expected_correct` of both for an intruder who knows nothing of the masking. Of each released record's "
    "posteriors, with every person as probable beforehand: `mean_posterior_of_truth`; `mean_top_posterior`, which is "
    "the share of right links that the intruder would foretell; `above_half`, records with a person above 1/2, and "
    "`right_above_half`, how many of these are right; `at_probability`: the `least_candidates` and the "
    "`mean_candidates` whose posterior is above `probability` and not equal to it, records with a `single_candidate`, "
    "and how often the `truth_among_candidates`. `estimated` names what was estimated from the pairs. `matched`, "
    "`released_without_original` and `originals_not_released` tell the pairing."
)
CHOOSING = (
    "A share like that for record linkage: 0.05 to 0.1 under contract, near `random_baseline` for open data. These are "
    "proposals and no published norm. Declare what a release notes of its masking; where it notes nothing, an estimate "
    "from the pairs comes near the worst case."
)
LIMITS = (
    "An estimate from the pairs is what nobody has but the auditor; it is near the best that such an intruder could "
    "know, and not a fact about one. Every pair of distinct records is weighed, so that time grows with the product of "
    "the tables, up to `limit` distinct records; all must fit into the memory."
)


@dataclass(frozen=True)
class Attack:
    """The links and posteriors of an attack.

    Args:
        pairs: release and original.
        credit: right links by direction.
        without_knowledge: the space in which a person looks who knows nothing of the masking.
        posteriors: of released points.
        likelihood: that the posteriors are of.
        ends: the released point of each matched record, and its person's.
        estimated: what was estimated from the pairs.
    """

    pairs: Pairs
    credit: Mapping[str, Credit]
    without_knowledge: Space | None
    posteriors: Posteriors
    likelihood: Likelihood
    ends: tuple[NDArray[np.intp], NDArray[np.intp]]
    estimated: list[str]

    def figure(self, parameters: LikelihoodParameters, further: Mapping[str, Any]) -> TableFigure:
        """The figure of the direction that is asked for."""
        headline = self.credit[parameters.direction]
        return TableFigure(
            value=headline.share,
            records=headline.attempts,
            details={
                **headline.figures(),
                **{name: one.figures() for name, one in self.credit.items()},
                "without_knowledge": self._baseline(),
                **posterior_figures(self.posteriors, self.likelihood, self.ends, parameters.probability),
                "estimated": self.estimated,
                **further,
                **self.pairs.counted(),
            },
        )

    def _baseline(self) -> dict[str, Any]:
        if self.without_knowledge is None:
            return {}
        earned = {name: credit(*one).expected for name, one in both_ways(self.without_knowledge, self.pairs).items()}
        return {name: {"expected_correct": expected} for name, expected in earned.items()}

    @property
    def candidates(self) -> Counts:
        """How many people each matched released record may be: by a posterior above the probability.

        Where no one has one, all who are possible are alike.
        """
        counted = np.where(self.posteriors.candidates, self.posteriors.candidates, self.posteriors.possible)
        return counted[self.ends[0]]


def both_ways(space: Space, pairs: Pairs) -> dict[str, tuple[Space, NDArray[np.intp], NDArray[np.intp]]]:
    """Who looks for whom in both directions: a space, the point of each seeker, and that of its true match."""
    released, known = space.released.point[pairs.matched], space.known.point[pairs.partner[pairs.matched]]
    return {
        "masked_to_original": (space, released, known),
        "original_to_masked": (space.turned(), known, released),
    }


def attack_sentence(outcome: Outcome, knowledge: str, columns: Sequence[str]) -> str:
    """How many people an intruder finds who knows what the masking does, and one who does not.

    Args:
        outcome: of an attack.
        knowledge: what the intruder knows beside the columns.
        columns: the attributes that the intruder knows.
    """
    who = f"An intruder who knows {columns_of(outcome, columns)} and {knowledge}"
    return f"{who} should find the right person for {linked(outcome)}.{_without(outcome)}{_estimated(outcome)}"


def _without(outcome: Outcome) -> str:
    one = outcome.details["without_knowledge"].get(outcome.parameters["direction"])
    records = outcome.records
    assert records is not None  # noqa: S101 - outcomes of these checks have them
    if one is None:
        return ""
    without = percent(float(one["expected_correct"]) / records.total)
    return f" Without that knowledge the nearest record is right for {without}."


def _estimated(outcome: Outcome) -> str:
    return " That knowledge was estimated from the true pairs." if outcome.details["estimated"] else ""


def attack_person(outcome: Outcome, how: str) -> str:
    """What an attack means for one person."""
    above, released = int(outcome.details["above_half"]), f"released {record_noun(outcome)}"
    found, likelier = finds(outcome, how).removesuffix("."), "likelier than all others together"
    if not above:
        return f"{found}; nobody is {likelier}."
    return f"{found}; for {count(above, released)} one person is {likelier}."
