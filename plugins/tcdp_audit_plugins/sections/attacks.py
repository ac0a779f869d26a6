"""Attack stories: who would do what with the release, and to how many people, from the outcomes that there are.

After Machanavajjhala et al. 2007 (homogeneity, background knowledge), Li et al. 2007 (skewness, similarity), and the
record linkage of disclosure control.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tcdp_audit.plugin._internal import failing
from tcdp_audit.plugin.report import Audit, Rows
from tcdp_audit.plugin.sentences import (
    Outcome,
    agree,
    column_of,
    count,
    figure,
    known_columns,
    percent,
    plural,
    record_noun,
    unit_noun,
)
from tcdp_audit_plugins.checks._shared.known_attributes import few_columns
from tcdp_audit_plugins.checks._shared.sensitive_values import may_be_shared

HEAD = ("who", "what they do", "in this file")
INTRODUCTION = (
    "Six people who might open the file, what each of them does with it, and how far they get. Do not add the "
    "numbers; people can appear in several."
)
Applicability = Callable[[Outcome], str]


@dataclass(frozen=True)
class Story:
    """An intruder."""

    who: str  # what to call them
    deed: str  # what they do
    # the checks that say how far they get, the best first, each with what it says
    measured_by: Sequence[tuple[str, Applicability]]


def stories(audit: Audit) -> Iterator[str | Rows]:
    """Every story, with counts where an outcome has them; nothing where no outcome has any."""
    rows = [(one.who, one.deed, _reach(audit, one)) for one in STORIES]
    if all(reach.startswith("Not counted") for _, _, reach in rows):
        return
    yield INTRODUCTION
    yield Rows(HEAD, tuple(rows))


def _reach(audit: Audit, story: Story) -> str:
    """The reach of an intruder by the first check that was run, on each column that it was run on."""
    for name, reach in story.measured_by:
        outcomes = [one for one in audit.expectations if one.check == name and one.observed is not None]
        sentences = dict.fromkeys(reach(one) for one in outcomes)
        if any(sentences):
            return " ".join(one for one in sentences if one)
    return f"Not counted: the policy does not ask for {story.measured_by[0][0]}."


def _people(outcome: Outcome, number: int) -> str:
    noun = record_noun(outcome)
    return f"{count(number)} {noun if number == 1 else plural(noun)}"


def _at(outcome: Outcome, least: float, most: float) -> int:
    """Records in groups whose figure is in an interval."""
    rows = outcome.details.get("distribution", ())
    return sum(records for value, _, records in rows if least <= value <= most)


def _alone(outcome: Outcome) -> str:
    alone, smallest = _at(outcome, 1, 1), figure(outcome.observed)
    result = f"{_people(outcome, alone)} {agree(alone, 'is', 'are')} the only match" if alone else "No one is unique"
    few = failing(outcome)
    small = f"; {_people(outcome, few[1])} {agree(few[1], 'is', 'are')} in groups too small" if few and few[1] else ""
    return f"By {known_columns(outcome)}: {result[0].lower() + result[1:]}; the smallest group has {smallest}{small}."


def _unique(outcome: Outcome) -> str:
    alone, people = _victims(outcome)
    return f"By {known_columns(outcome)}: {people} {agree(alone, 'is', 'are')} the only match."


def _victims(outcome: Outcome) -> tuple[int, str]:
    """The number that an attack succeeds on, and the same with what they are: entities where these count once."""
    entities = outcome.details.get("victim_units")
    if entities is None:
        number = int(outcome.details.get("victims", 0))
        return number, _people(outcome, number)
    return int(entities), count(int(entities), unit_noun(outcome))


def _by_few(outcome: Outcome) -> str:
    """What knowing any L quasi-identifiers at most reveals."""
    few, alone = few_columns(outcome.parameters["L"]), _of_most(outcome, "unique_records")
    result = f"{_people(outcome, alone)} {agree(alone, 'is', 'are')} the only match" if alone else "no one is unique"
    return f"By {few} out of {known_columns(outcome)}: {result}; the smallest group has {figure(outcome.observed)}."


def _secret_by_few(outcome: Outcome) -> str:
    victims = _of_most(outcome, "records_in_homogeneous_groups")
    verb = agree(victims, "is in a group that has", "are in groups that have")
    return f"{_people(outcome, victims)} {verb} a single secret, by {few_columns(outcome.parameters['L'])}."


def _of_most(outcome: Outcome, detail: str) -> int:
    """A count for the largest sets of attributes, which take in those of smaller ones."""
    counts = outcome.details[detail]
    return int(counts[max(counts, key=int)])


def _same_secret(outcome: Outcome) -> str:
    victims, people = _victims(outcome)
    return f"{people} {_in_single(outcome, victims)} {column_of(outcome)}."


def _one_value(outcome: Outcome) -> str:
    victims = _at(outcome, 1, 1)
    return f"{_people(outcome, victims)} {_in_single(outcome, victims)} {column_of(outcome)}."


def _in_single(outcome: Outcome, victims: int) -> str:
    """The verb of a sentence on those whose group gives a value away, which may not be the only one of its members."""
    if may_be_shared(outcome):
        where = agree(victims, "is in a group", "are in groups")
        return f"{where} in which everyone has the same"
    return f"{agree(victims, 'is in a group that has', 'are in groups that have')} a single"


def _one_other(outcome: Outcome) -> str:
    victims = _at(outcome, 0, 1)
    return f"{_people(outcome, victims)}: knowing one other member at most leaves a single {column_of(outcome)}."


def _two_values(outcome: Outcome) -> str:
    victims = _at(outcome, 2, 2)
    verb = agree(victims, "is in a group", "are in groups")
    return f"{_people(outcome, victims)} {verb} with two {column_of(outcome)} values: ruling out one leaves the other."


def _likelier(outcome: Outcome) -> str:
    observed, column = outcome.observed or 0, column_of(outcome)
    sentence = f"At worst a value of {column} is {figure(observed)} times as common as in the whole file."
    return sentence if observed > 0 else ""


def _gain(outcome: Outcome) -> str:
    observed, column = outcome.observed or 0, column_of(outcome)
    sentence = f"At worst a {column} is {figure(1 + observed)} times as common as in the whole file."
    return sentence if observed > 0 else ""


def _mix(outcome: Outcome) -> str:
    if outcome.parameters.get("distance", "equal") != "equal":
        return ""
    part = percent(outcome.observed)
    return f"At worst {part} of a group would need another {column_of(outcome)} to look like the whole file."


def _alike(outcome: Outcome) -> str:
    return f"At worst {percent(outcome.observed)} of a group have nearly the same {column_of(outcome)}."


def _linked(outcome: Outcome) -> str:
    chance = outcome.details.get("random_baseline")
    guess = "" if not isinstance(chance, float | int) else f"; guessing is right for {percent(float(chance))}"
    return f"{percent(outcome.observed)} of the pairs are right{guess}."


def _concealed(outcome: Outcome) -> str:
    certain, least = int(outcome.details["certain"]), figure(outcome.observed)
    if certain:
        return f"{_people(outcome, certain)} can only be one record, by {known_columns(outcome)}."
    return f"Everyone may be one of {least} records at least, by {known_columns(outcome)}."


def _cornered(outcome: Outcome) -> str:
    certain, records = int(outcome.details["certain"]), outcome.records
    share = 0.0 if records is None else float(outcome.details["expected_correct"]) / records.total
    ruled_out = "By how the file was masked all rows but one are ruled out for"
    return f"{ruled_out} {_people(outcome, certain)}; guessing among what is left is right for {percent(share)}."


def _left_over(outcome: Outcome) -> str:
    return f"By how the file was masked, everyone may be one of {figure(outcome.observed)} or more."


def _inferred(outcome: Outcome) -> str:
    own = f"The nearest record shows {column_of(outcome, outcome.parameters['target'])} rightly for"
    sentence = f"{own} {percent(float(outcome.details['success']))} of the {plural(record_noun(outcome))}"
    return sentence + _of_control(outcome)


def _joined(outcome: Outcome) -> str:
    joined = f"Two lists of the same people are joined for {percent(float(outcome.details['success']))} of them"
    return joined + _of_control(outcome)


def _of_control(outcome: Outcome) -> str:
    control = outcome.details.get("control_success")
    return "." if control is None else f"; of people who are not in the data, {percent(float(control))}."


STORIES = (
    Story(
        "The neighbour",
        "knows these things about a person and looks for the row.",
        (
            ("k_anonymity", _alone),
            ("sample_uniqueness", _unique),
            ("alpha_k_anonymity", _alone),
            ("lkc_privacy", _by_few),
        ),
    ),
    Story(
        "The colleague",
        "cannot know which row is whose and need not: everyone in the group has the same secret.",
        (("homogeneity", _same_secret), ("distinct_l_diversity", _one_value), ("lkc_privacy", _secret_by_few)),
    ),
    Story(
        "The insider",
        "knows another person in the group, or what the person cannot have, and sets that aside.",
        (("background_knowledge", _one_other), ("distinct_l_diversity", _two_values)),
    ),
    Story(
        "The gossip",
        "is happy with a good guess: what is rare in the file is common in this group.",
        (
            ("skewness", _likelier),
            ("basic_beta_likeness", _gain),
            ("t_closeness", _mix),
            ("attribute_inference", _inferred),
        ),
    ),
    Story(
        "The advertiser",
        "does not need the exact value, only its kind: low income, a disease of the stomach.",
        (("similarity", _alike),),
    ),
    Story(
        "The data broker",
        "holds another file about the same people and pairs each row with the nearest.",
        (
            ("distance_record_linkage", _linked),
            ("assignment_record_linkage", _linked),
            ("probabilistic_record_linkage", _linked),
            ("k_concealment", _concealed),
            ("pram_attack", _linked),
            ("supervised_record_linkage", _linked),
            ("noise_attack", _linked),
            ("rank_swap_attack", _cornered),
            ("microaggregation_attack", _cornered),
            ("k_confusion", _left_over),
            ("linkability", _joined),
        ),
    ),
)
