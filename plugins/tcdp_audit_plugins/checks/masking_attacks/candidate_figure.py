"""What every attack on candidate sets gives: its figure, its details, its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

from tcdp_audit.plugin._internal import Counts, allowance, noun_form
from tcdp_audit.plugin.check import CheckError, TableFigure, TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    chance_of,
    count,
    figure,
    intruder_who_knows,
    part_of,
    percent,
    record_noun,
)
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets
from tcdp_audit_plugins.checks.masking_attacks.links import Links, count_assigned, distances_in_sets, nearest_in_sets
from tcdp_audit_plugins.checks.masking_attacks.parameters import AttackParameters
from tcdp_audit_plugins.checks.masking_attacks.tables import AttackedTables
from tcdp_audit_plugins.checks.record_linkage.standardised import Space, space

FIGURE = "share of people found"
READING = (
    "The observed value is the share of people of whom the intruder is certain, or with `links: expected` the share "
    "of right links in the mean over guesses among each person's candidates. Details: `certain`, how many people have "
    "no candidate but their own record, and `expected_correct`, the right guesses; `mean_candidates` and "
    "`least_candidates` of a person; `random_baseline`, the share that guessing among all records finds. "
    "`original_to_masked` has all of it before the closure, `masked_to_original` the same for released records that "
    "look for their person, each with `nearest_correct`, what the nearest candidate gives (ties count 1/t); `closed` "
    "has it after the closure, where there is one; then `assigned_correct` has the right links of the best one-to-one "
    "assignment of everybody to a candidate, which has the least sum of squared distances. It is left out where more "
    "than about a thousand records may all be each other, or where each table has records that the other one lacks. "
    "`without_own_record` counts people whose own record is not among "
    "their candidates, `empty` those without a candidate, `wrongly_certain` those whose only candidate is somebody "
    "else. `candidates_left` counts people by their number of candidates. `matched`, `released_without_original` and "
    "`originals_not_released` tell the pairing."
)
CHOOSING = (
    "0 for `links: certain`: nobody should be found without doubt. For `links: expected` a share like that for "
    "record linkage, 0.05 to 0.1 under contract. These are proposals and no published norm."
)
LIMITS = (
    "A missing cell says nothing, on either side. Candidate sets that outgrow the memory are refused. The closure "
    "takes it that the intruder knows everybody in the original, as the auditor does: without one of them some links "
    "that it makes certain stay open; `closure: false` leaves it out. Nothing is said of an intruder who knows less, "
    "or does not know how the file was masked."
)


def attack_figure(
    view: TableView,
    tables: AttackedTables,
    sets: CandidateSets,
    parameters: AttackParameters,
    further: Mapping[str, Any],
    remedy: str,
) -> TableFigure:
    """The figure of an attack from its candidate sets.

    Args:
        view: the release.
        tables: whose points the sets are of.
        sets: candidates of known points.
        parameters: what is counted.
        further: details of the attack itself.
        remedy: what to do where a person's own record is not among their candidates; half a sentence.

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
    """How many released records each person may be, after the closure where it is asked for. Shape (pairs,).

    Raises:
        CheckError: a person's own record is not among their candidates.
    """
    sets = attacked.sets()
    if not sets.holds_truth.all():
        raise CheckError(_wrong(sets, int((~sets.holds_truth).sum()), attacked.remedy))
    return (sets.closed() if parameters.closure else sets).size


def _wrong(sets: CandidateSets, outside: int, remedy: str) -> str:
    """Why nothing can be demanded of an intruder who is wrong."""
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


def attack_sentence(outcome: Outcome, who: str) -> str:
    """What an attack found: certain links and guesses, and that the intruder is wrong where that is so.

    Args:
        outcome: of an attack.
        who: the intruder, as the subject of the sentence.
    """
    records, details = outcome.records, outcome.details
    assert records is not None  # noqa: S101 - outcomes of these checks have them
    noun, limit = record_noun(outcome), f", where {allowance(outcome)}" if outcome.status is Status.FAILED else ""
    certain, expected = int(details["certain"]), float(details["expected_correct"])
    shares = {"certain": certain / records.total, "expected": expected / records.total}
    parts = {"certain": part_of(certain, records.total, noun), "expected": part_of(expected, records.total, noun)}
    counted = str(outcome.parameters["links"])
    told = {
        name: f"{parts[name]} ({percent(share, outcome.threshold if name == counted else None)})"
        + (limit if name == counted else "")
        for name, share in shares.items()
    }
    found = f"{who} is certain of the right person for {told['certain']}; guessing among the candidates"
    return f"{found} is right for {told['expected']}.{_about_the_wrong(outcome)}"


def _about_the_wrong(outcome: Outcome) -> str:
    outside = int(outcome.details["without_own_record"])
    if not outside:
        return ""
    noun = record_noun(outcome)
    return f" This intruder is wrong about {count(outside, noun)}, not found among the candidates."


def attack_person(outcome: Outcome, how: str) -> str:
    """What an attack means for one person: how many records are left for them.

    Args:
        outcome: of an attack.
        how: what the intruder knows of the masking, after `and`.
    """
    details = outcome.details
    mean, noun = float(details["mean_candidates"]), record_noun(outcome)
    records = outcome.records
    assert records is not None  # noqa: S101 - outcomes of these checks have them
    chance = chance_of(Fraction(details["expected_correct"]) / records.total)
    left = f"{figure(mean)} {noun_form(noun, mean)} on average"
    return f"{intruder_who_knows(outcome)} and {how} is left with {left}, and guesses right with {chance}."
