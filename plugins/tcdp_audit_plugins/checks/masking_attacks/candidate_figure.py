"""The answer of every attack on candidate sets: its figure, its details, its sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import TableFigure, TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, Sentences
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets
from tcdp_audit_plugins.checks.masking_attacks.links import Links, count_assigned, distances_in_sets, nearest_in_sets
from tcdp_audit_plugins.checks.masking_attacks.parameters import AttackParameters
from tcdp_audit_plugins.checks.masking_attacks.tables import AttackedTables
from tcdp_audit_plugins.checks.record_linkage.standardised import Space, space

FIGURE = "share of people found"


def attack_figure(
    view: TableView,
    tables: AttackedTables,
    sets: CandidateSets,
    parameters: AttackParameters,
    further: Mapping[str, Any],
    remedy: str,
) -> TableFigure:
    """The figure of an attack from its candidate sets, with further details of it.

    `remedy` says, in half a sentence, what to do where a person's own record is not among their candidates.

    Raises:
        CheckError: a demand is made of an intruder who is wrong, since a person's own record is not a candidate.

    Cost: O(points + edges).
    """
    outside = int((~sets.holds_truth).sum())
    if outside and parameters.at_most is not None:
        raise CheckError(_wrong(sets, outside, remedy))
    closed = sets.closed() if parameters.closure and not outside else None
    links, both = Links(sets if closed is None else closed), _space(tables)
    pairs = tables.pairs
    value = links.certain if parameters.links == "certain" else links.expected
    return TableFigure(
        value=Fraction(value) / links.people,
        records=links.people,
        failing=links.certain if parameters.links == "certain" else None,
        details={
            **links.figures(),
            "candidates_left": links.by_size(),
            "random_baseline": Fraction(1, view.records),
            "without_own_record": outside,
            **_both_ends(sets, {} if both is None else nearest_in_sets(sets, tables, both)),
            **({} if closed is None else {"closed": _both_ends(closed, {}), **_assigned(closed, tables, both)}),
            **further,
            **pairs.counted(),
        },
    )


class Attacked(Protocol):
    """A release under an attack on candidate sets."""

    def sets(self) -> CandidateSets:
        """The released records that everyone may be."""
        ...

    @property
    def remedy(self) -> str:
        """What to do where a person's own record is not among their candidates; half a sentence."""
        ...


def candidates_of_everybody(attacked: Attacked, parameters: AttackParameters) -> Counts:
    """The number of released records that each person may be, after the closure where it is asked for. Shape (pairs,).

    Raises:
        CheckError: a person's own record is not among their candidates.
    """
    sets = attacked.sets()
    if not sets.holds_truth.all():
        raise CheckError(_wrong(sets, int((~sets.holds_truth).sum()), attacked.remedy))
    return (sets.closed() if parameters.closure else sets).size


def _wrong(sets: CandidateSets, outside: int, remedy: str) -> str:
    """The reason why nothing can be demanded of an intruder who is wrong."""
    links = Links(sets)
    empty, certain = int((links.sizes == 0).sum()), links.wrong
    return (
        f"this intruder is wrong about {outside:,} of {links.people:,} records: what was masked is not among the "
        f"candidates ({empty:,} without any candidate, {certain:,} with a wrong one only), so that passing would say "
        f"nothing; {remedy}"
    )


def _assigned(closed: CandidateSets, tables: AttackedTables, both: Space | None) -> dict[str, Fraction]:
    """Right links of the best assignment within the sets; nothing where there is none, or it is left out."""
    correct = None if both is None else count_assigned(closed, distances_in_sets(closed, tables, both))
    return {} if correct is None else {"assigned_correct": correct}


def _space(tables: AttackedTables) -> Space | None:
    """Both tables in the space of distances; None where nothing varies in both."""
    pairs = tables.pairs
    scales = {name: pairs.scales[name] for name in tables.names}
    sides = (pairs.released, pairs.original)
    if not any(all((side.domains[name].counts > 0).sum() > 1 for side in sides) for name in scales) and all(
        scale is not Scale.NOMINAL for scale in scales.values()
    ):
        return None
    return space(*sides, scales, {})


def _both_ends(sets: CandidateSets, nearest: Mapping[str, Fraction]) -> dict[str, Any]:
    """The figures of both directions by name."""
    ends = {"original_to_masked": sets, "masked_to_original": sets.turned()}
    return {
        name: {**Links(one).figures(), **({"nearest_correct": nearest[name]} if nearest else {})}
        for name, one in ends.items()
    }


def attack_sentences(who: str, how: str, values: Callable[[Outcome], Mapping[str, Any]] = lambda _: {}) -> Sentences:
    """The sentences on an attack: certain links and guesses, and that the intruder is wrong where that is so.

    `who` is the intruder as the subject of a sentence; `how` is what the intruder knows of the masking, to follow
    `and`.
    """
    return Sentences(
        passed=(
            "{who} is certain of the right person for {certain/records:{record}} "
            "({certain/records:%})[{links=certain?}[, where {allowed}]]; guessing among the candidates is right for "
            "{expected_correct/records:{record}} ({expected_correct/records:%})[{links=expected?}[, where "
            "{allowed}]].[ This intruder is wrong about {without_own_record:{record}}, not found among the "
            "candidates.]"
        ),
        impact=(
            "{intruder} and {how} is left with {mean_candidates:{record}} on average, and guesses right with "
            "{expected_correct/records:chance}."
        ),
        parts={"who": who, "how": how},
        values=values,
    )
