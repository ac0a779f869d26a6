"""Attack stories: who would do what with the release, and to how many people, from the outcomes that there are.

After Machanavajjhala et al. 2007 (homogeneity, background knowledge), Li et al. 2007 (skewness, similarity), and the
record linkage of disclosure control.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite

from tcdp_audit.plugin._internal import failing
from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.report import Audit, Rows
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    count,
    figure,
    percent,
    record_noun,
    say,
    sentence_case,
    unit_noun,
)
from tcdp_audit_plugins.checks._shared.known_attributes import few_columns
from tcdp_audit_plugins.checks._shared.sensitive_values import LEAST_MEMBERS

HEAD = ("who", "what they do", "in this file")
INTRODUCTION = "Six people who might open the file, and how far they get. Do not add the numbers."
OF_SCENARIOS = "Six ways to use the file, and how far the intruders above get by each. Do not add the numbers."
Applicability = Callable[[Outcome], str]


@dataclass(frozen=True)
class Story:
    """An intruder."""

    who: str  # what to call them
    deed: str  # what they do
    # the checks that say how far they get, the best first, each with what it says
    measured_by: Sequence[tuple[str, Applicability]]
    searches: bool = False  # whether the matches in a register belong to it, where a demand counted them
    guesses: bool = False  # whether the best guess that any demand found belongs to it
    of_secrets: bool = False  # whether it says how many people each secret is known of


def stories(audit: Audit) -> Iterator[str | Rows]:
    """Every story, with counts where an outcome has them; nothing where no outcome has any."""
    if not audit.has_records:
        yield from _of_figures(audit)
        return
    rows = [(one.who, one.deed, _reach(audit, one)) for one in STORIES]
    if all(reach.startswith("Not counted") for _, _, reach in rows):
        return
    yield OF_SCENARIOS if audit.scenarios else INTRODUCTION
    yield Rows(HEAD, tuple(rows))


def _of_figures(audit: Audit) -> Iterator[Rows]:
    """The reach of any reader and of a neighbour into failing figures; nothing where none is of few people."""
    checks = audit.plugins.checks
    few = [
        (number, one)
        for number, one in enumerate(audit.expectations, 1)
        if one.status is Status.FAILED and one.cells is not None and one.cells.failing and one.parameters.get("k")
        if one.check in checks and checks[one.check].disclosure_type is DisclosureType.IDENTITY_MODEL
    ]
    if few:
        noun, most = audit.policy.document.unit_name or "person", max(int(one.parameters["k"]) for _, one in few)
        reader = say(
            "Finds that figures are of fewer than {most:{noun}} ([{several?}demands|demand] {numbers:names}).",
            most=most,
            noun=noun,
            several=len(few) > 1,
            numbers=[str(number) for number, _ in few],
        )
        known = say("knows that a {noun} is counted in such a figure.", noun=noun)
        rest = say("Knows then that the {noun} is one of at most {rest}.", noun=noun, rest=most - 1)
        needs = "adds and subtracts figures, and needs to know no one."
        yield Rows(
            ("who", "what they do", "in these tables"), (("Any reader", needs, reader), ("The neighbour", known, rest))
        )


def _reach(audit: Audit, story: Story) -> str:
    """The reach of an intruder by the first check that was run, on each column that it was run on.

    Where the policy names intruders, each sentence says whose reach it is.
    """
    named = [one.name for one in audit.scenarios if " " not in one.name]  # others are only sets of columns
    reached: dict[tuple[str, ...], list[str]] = {}
    for scenario in named or [""]:
        outcomes = [one for one in audit.expectations if one.scenario == scenario or not named]
        if sentences := _sentences(audit, outcomes, story, joins_zeros=bool(named)):
            reached.setdefault((*sentences,), []).append(scenario)
    if reached:
        return "\n".join(
            " ".join([say("{names:names}: {sentence:text}", names=names, sentence=first) if named else first, *others])
            for (first, *others), names in reached.items()
        )
    name = story.measured_by[0][0]
    check = audit.plugins.announced_checks.get(name)
    return say("Not counted: {check:text} was not run.", check=name if check is None else check.title)


def _sentences(audit: Audit, outcomes: Sequence[Outcome], story: Story, *, joins_zeros: bool) -> list[str]:
    """The sentences of the first check of a story that was run and has something to say, each once.

    With `joins_zeros`, those on no one are one sentence if others are on someone.
    """
    for name, reach in story.measured_by:
        own = [one for one in outcomes if one.check == name and one.observed is not None]
        if sentences := [one for one in dict.fromkeys(reach(_with_values(each)) for each in own) if one]:
            further = [
                *(_best_guesses(own, outcomes) if story.guesses else ()),
                *(_in_register(outcomes) if story.searches else ()),
            ]
            zeros = {one for one in sentences if joins_zeros and one.startswith("0 ")}
            if zeros and len(zeros) < len(sentences):
                sentences = [one for one in sentences if one not in zeros]
                sentences.append(say("For {n} other {n:secret|secrets}: 0.", n=len(zeros)))
            return [*sentences, *further, *(_uncounted(audit, outcomes, story) if story.of_secrets else ())]
    return []


def _uncounted(audit: Audit, outcomes: Sequence[Outcome], story: Story) -> Iterator[str]:
    """The sentence on the secrets that no check of a story judged; nothing where intruders do not want every one."""
    checks = {name for name, _ in story.measured_by}
    own = [one for one in outcomes if one.check in checks and one.observed is not None]
    counted = {one.attribute for one in own}
    secrets = [one.name for one in audit.columns if one.role is Role.SENSITIVE and one.is_present]
    others = [] if audit.scenarios or None in counted else [one for one in secrets if one not in counted]
    if others:
        names = [own[0].naming.column(one) for one in others]
        yield sentence_case(say("{names:names}: not counted.", names=names))


def _best_guesses(own: Sequence[Outcome], outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The guess at each of their attributes that is right most often, where another demand has a better one."""
    for attribute in dict.fromkeys(one.attribute for one in own):
        own_chances = [(_chance(one), one) for one in own if one.attribute == attribute]
        all_chances = [(_chance(one), one) for one in outcomes if one.attribute == attribute]
        chance, best = max(all_chances, key=lambda pair: pair[0])
        if chance > max(each for each, _ in own_chances):
            shared = best.details["shared_value"]
            yield say(
                "In the worst group, a guess at the {attribute} is right for {have} of {of}.",
                best,
                have=shared["have"],
                of=shared["of"],
            )


def _in_register(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The people of a register who match a record where the fewest do, by the first demand that counted them."""
    for one in outcomes:
        if one.check == "k_map" and one.observed is not None:
            yield say(
                "That is in the file; in the register at least {n:person} {n:matches|match}.", one, n=int(one.observed)
            )
            return


def _chance(outcome: Outcome) -> float:
    """The chance that a guess at a person's value is right in the worst group of a demand; 0 where it is not known."""
    shared = outcome.details.get("shared_value") or {}
    return shared["have"] / shared["of"] if shared.get("have") and shared.get("of") else 0.0


def _with_values(outcome: Outcome) -> Outcome:
    """The outcome of the groups in which someone has a value: in the others there is nothing to learn."""
    details, worst = outcome.details, outcome.details.get("worst_with_value")
    if worst is None or outcome.comparison is None:
        return outcome
    classes, records = int(details["classes_without_value"]), int(details["records_without_value"])
    none = 0.0 if outcome.comparison.higher_is_safer else inf  # the figure of a group without a value
    rows = [
        [value, number - classes * (value == none), held - records * (value == none)]
        for value, number, held in details["distribution"]
    ]
    changed = {**details, "distribution": rows}
    if "victims" in details:
        changed["victims"] -= records
    return replace(outcome, observed=worst.get("figure", outcome.observed), details=changed)


def _at(outcome: Outcome, least: float, most: float) -> int:
    """Records in groups whose figure is in an interval."""
    rows = outcome.details.get("distribution", ())
    return sum(records for value, _, records in rows if least <= value <= most)


def _by(outcome: Outcome) -> str:
    """By what an intruder looks for a row: all columns by name, as the story says that they are named here."""
    naming = outcome.naming
    return say(
        "By [{whole?}the [{home?}composition by|whole history of] ]{names:names}",
        whole=outcome.conventions.get("known_rows") == "all",
        home=naming.history_name.startswith("composition"),
        names=[naming.column(one) for one in naming.in_order(outcome.known)] or ["nothing"],
    )


def _alone(outcome: Outcome) -> str:
    few = failing(outcome)
    return say(
        "{by:text}: [{alone>0?}{alone:{record}} {alone:is|are} the only match|no one is unique]; the smallest group "
        "has {smallest}[{small>0?}; {small:{record}} {small:is|are} in groups too small].",
        outcome,
        by=_by(outcome),
        alone=_at(outcome, 1, 1),
        smallest=figure(outcome.observed),
        small=few[1] if few else 0,
    )


def _matching(outcome: Outcome) -> str:
    """The size of the smallest group in the release, of a check that has it in its distribution."""
    rows = outcome.details.get("distribution", ())
    if outcome.details.get("classes_are_of") != "release" or not rows:
        return ""
    return say(
        "{by:text}: [{alone>0?}{alone:{record}} {alone:is|are} the only match|no one is unique; the smallest group "
        "has {smallest}].",
        outcome,
        by=_by(outcome),
        alone=_at(outcome, 1, 1),
        smallest=figure(float(rows[0][0])),
    )


def _in_smallest(outcome: Outcome) -> str:
    """The size of the smallest group, of a check that reports it among its details."""
    return say(
        "{by:text}: the smallest group has {smallest:text}.",
        outcome,
        by=_by(outcome),
        smallest=count(int(outcome.details["k"]), record_noun(outcome)),
    )


def _unique(outcome: Outcome) -> str:
    alone, noun = _victims(outcome)
    return say("{by:text}: {alone:{noun}} {alone:is|are} the only match.", by=_by(outcome), alone=alone, noun=noun)


def _victims(outcome: Outcome) -> tuple[int, str]:
    """The number that an attack succeeds on, and the noun of what they are: entities where these count once."""
    entities = outcome.details.get("victim_units")
    if entities is None:
        return int(outcome.details.get("victims", 0)), record_noun(outcome)
    return int(entities), unit_noun(outcome)


def _by_few(outcome: Outcome) -> str:
    """What knowing any L quasi-identifiers at most reveals."""
    return say(
        "By {few:text} out of {known}: [{alone>0?}{alone:{record}} {alone:is|are} the only match|no one is unique]; "
        "the smallest group has {smallest}.",
        outcome,
        few=few_columns(outcome.parameters["L"]),
        alone=_of_most(outcome, "unique_records"),
        smallest=figure(outcome.observed),
    )


def _secret_by_few(outcome: Outcome) -> str:
    return say(
        "{victims:{record}} {victims:is in a group that has|are in groups that have} a single secret, by {few:text}.",
        outcome,
        victims=_of_most(outcome, "records_in_homogeneous_groups"),
        few=few_columns(outcome.parameters["L"]),
    )


def _of_most(outcome: Outcome, detail: str) -> int:
    """A count for the largest sets of attributes, which take in those of smaller ones."""
    counts = outcome.details[detail]
    return int(counts[max(counts, key=int)])


def _same_secret(outcome: Outcome) -> str:
    return _in_single(outcome, *_victims(outcome))


def _one_value(outcome: Outcome) -> str:
    return _in_single(outcome, _at(outcome, 1, 1), record_noun(outcome))


def _in_single(outcome: Outcome, victims: int, noun: str) -> str:
    """The sentence on those whose group gives a value away, which may not be the only one of its members."""
    return say(
        "{victims:{noun}} {victims:is in a group|are in groups} in which "
        "[{several_rows?}all share a value of {attribute}|everyone has the same {attribute}]"
        "[{valueless>0?}; {valueless:{record}} {valueless:is|are} in groups in which no one has any].",
        outcome,
        victims=victims,
        noun=noun,
        valueless=int(outcome.details.get("records_without_value", 0)),
    )


def _one_other(outcome: Outcome) -> str:
    return say(
        "{victims:{record}}: knowing one other member at most leaves a single {attribute}.",
        outcome,
        victims=_at(outcome, 0, 1),
    )


def _two_values(outcome: Outcome) -> str:
    return say(
        "{victims:{record}} {victims:is in a group|are in groups} with only two values of {attribute}: ruling out one "
        "leaves the other.",
        outcome,
        victims=_at(outcome, 2, 2),
    )


def _likelier(outcome: Outcome) -> str:
    times = outcome.observed or 0
    if times <= 0:
        return ""
    return _as_common(outcome, times)


def _gain(outcome: Outcome) -> str:
    gain = outcome.observed or 0
    if gain <= 0:
        return ""
    return _as_common(outcome, 1 + gain)


def _as_common(outcome: Outcome, times: float) -> str:
    """How common a value is in the group where it is most common, compared with the whole file."""
    return say(
        "In one group, [{bounded?}a value of {attribute} is {times} times as common as in the whole file, the most of "
        "all groups|there is a value of {attribute} that the reference lacks, so nothing bounds a suspicion].",
        outcome,
        bounded=isfinite(times),
        times=figure(times),
    )


def _mix(outcome: Outcome) -> str:
    if outcome.parameters.get("distance", "equal") != "equal" or not isfinite(outcome.observed or 0):
        return ""
    shared = outcome.details.get("shared_value")
    have, of = (None, None) if not shared else (shared.get("have"), shared.get("of"))
    if not shared or (have == 1 and of != 1):  # no two have the same
        return say(
            "In the group furthest from the whole file, the mix of {attribute} differs from it by {share}.",
            outcome,
            share=percent(outcome.observed),
        )
    return say(
        "In the group furthest from the whole file, [{of=1?}of {of:{record}}, {attribute} is known for certain"
        "|[{of?}{have} of {of}|{share}] have the same {attribute}]; in the whole file [{rare?}fewer than 1 in "
        "{least}|{whole:one in}] [{of=1?}have the same|do].",
        outcome,
        have=have,
        of=of,
        share=percent(shared.get("in_group")),
        rare=not shared["in_reference"],
        least=20 if (of or LEAST_MEMBERS) < LEAST_MEMBERS else 200,
        whole=shared["in_reference"],
    )


def _alike(outcome: Outcome) -> str:
    return say(
        "In the group with the most similar values, {share} have nearly the same {attribute}.",
        outcome,
        share=percent(outcome.observed),
    )


def _linked(outcome: Outcome) -> str:
    chance = outcome.details.get("random_baseline")
    return say(
        "{share} of the pairs are right[{guess?}; guessing is right for {guess}].",
        outcome,
        share=percent(outcome.observed),
        guess=percent(float(chance)) if isinstance(chance, float | int) else "",
    )


def _concealed(outcome: Outcome) -> str:
    return say(
        "[{certain>0?}{certain:{record}} can only be one record|Everyone may be one of {least} records at least], by "
        "{known}.",
        outcome,
        certain=int(outcome.details["certain"]),
        least=figure(outcome.observed),
    )


def _cornered(outcome: Outcome) -> str:
    records = outcome.records
    return say(
        "By how the file was masked all rows but one are ruled out for {certain:{record}}; guessing among what is left "
        "is right for {share}.",
        outcome,
        certain=int(outcome.details["certain"]),
        share=percent(0.0 if records is None else float(outcome.details["expected_correct"]) / records.total),
    )


def _left_over(outcome: Outcome) -> str:
    sentence = "By how the file was masked, everyone may be one of {least} or more."
    return say(sentence, outcome, least=figure(outcome.observed))


def _inferred(outcome: Outcome) -> str:
    return say(
        "The nearest record shows {target:column} rightly for {share} of the {record:plural}"
        "[{control?}; of people who are not in the data, {control}].",
        outcome,
        target=outcome.parameters["target"],
        share=percent(float(outcome.details["success"])),
        control=_control(outcome),
    )


def _joined(outcome: Outcome) -> str:
    return say(
        "Two lists of the same people are joined for {share} of them"
        "[{control?}; of people who are not in the data, {control}].",
        outcome,
        share=percent(float(outcome.details["success"])),
        control=_control(outcome),
    )


def _control(outcome: Outcome) -> str:
    """The share of right answers about people who are not in the data; empty where there are none of those."""
    control = outcome.details.get("control_success")
    return "" if control is None else percent(float(control))


STORIES = (
    Story(
        "The neighbour",
        "knows the facts named at the right about a person, and looks for the row.",
        (
            ("k_anonymity", _alone),
            ("sample_uniqueness", _unique),
            ("alpha_k_anonymity", _in_smallest),
            ("lkc_privacy", _by_few),
            ("reidentification_risk", _matching),
        ),
        searches=True,
    ),
    Story(
        "The colleague",
        "cannot know which row is whose and need not: everyone in the group has the same secret.",
        (("homogeneity", _same_secret), ("distinct_l_diversity", _one_value), ("lkc_privacy", _secret_by_few)),
        of_secrets=True,
    ),
    Story(
        "The insider",
        "knows another person in the group, or what the person cannot have, and sets that aside.",
        (("background_knowledge", _one_other), ("distinct_l_diversity", _two_values)),
        of_secrets=True,
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
        guesses=True,
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
