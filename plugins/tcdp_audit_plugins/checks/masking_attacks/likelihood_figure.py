"""What every attack by likelihood gives: its figure, its details, its sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Pairs, TableFigure
from tcdp_audit.plugin.sentences import Outcome, Sentences
from tcdp_audit_plugins.checks.masking_attacks.parameters import LikelihoodParameters
from tcdp_audit_plugins.checks.masking_attacks.posteriors import Likelihood, Posteriors, posterior_figures
from tcdp_audit_plugins.checks.record_linkage.credit import Credit, credit
from tcdp_audit_plugins.checks.record_linkage.linked_records import LINKED, finds
from tcdp_audit_plugins.checks.record_linkage.standardised import Space


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


def attack_sentences(columns: str, knowledge: str) -> Sentences:
    """The sentences on how many people an intruder finds who knows what the masking does, and one who does not.

    Args:
        columns: the template of the attributes that the intruder knows.
        knowledge: the template of what else the intruder knows, which weighs the candidates.
    """
    return Sentences(
        passed=(
            "An intruder who knows {columns} and {knowledge} should find the right person for {linked}.[{without?} "
            "Without that knowledge the nearest record is right for {without:%}.][{estimated?} That knowledge was "
            "estimated from the true pairs.]"
        ),
        impact=finds("weighs {knowledge}").removesuffix(".") + LIKELIER,
        parts={
            "columns": columns,
            "knowledge": knowledge,
            "linked": LINKED,
        },
        values=_values,
    )


LIKELIER = (
    "[{above_half>0?}; for {above_half:released {record}} one person is likelier than all others together"
    "|; no one is likelier than all others together]."
)


def _values(outcome: Outcome) -> dict[str, float]:
    """The share that the nearest record is right for, without that knowledge; nothing where it is unknown."""
    baseline = outcome.details["without_knowledge"].get(outcome.parameters["direction"])
    if baseline is None or outcome.records is None:
        return {}
    return {"without": float(baseline["expected_correct"]) / outcome.records.total}
