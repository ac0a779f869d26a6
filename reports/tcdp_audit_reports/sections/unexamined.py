"""The risks that were not examined: those that matter most for this release in sentences, all others by name.

A risk matters most where the policy names a table that no demand used, where a question of the regulators has no
answer, or where a quarter of Torra's map is empty; then come attacks that can be tried now. A check is left out where
it cannot apply: it needs an original or a hold-out that there is none of, it attacks masked values and no other check
does, or a check that has a result answers it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from tcdp_audit.plugin._internal import Block
from tcdp_audit.plugin.check import Check, DisclosureType, LazyCheck, Need
from tcdp_audit.plugin.detector import PolicyDocument, Role
from tcdp_audit.plugin.report import Audit, Items, Paragraph
from tcdp_audit.plugin.sentences import Status, say, sentence_case, visible
from tcdp_audit_reports.languages import once_per_report
from tcdp_audit_reports.people_exposed import of_whole_households
from tcdp_audit_reports.policy_text import first_names, name_of
from tcdp_audit_reports.reasons import DEGREES
from tcdp_audit_reports.sections.columns import has_microdata, noun_of_record
from tcdp_audit_reports.sections.coverage import ATTRIBUTE, IDENTITY, alone_unlimited, possible_checks, regulators

Announced = Check | LazyCheck
MOST = 3
FROM_ELSEWHERE = frozenset({"population", "registry", "previous"})  # a risk whether or not the audit has the table
TABLES = {
    "population": "a register of everybody",
    "registry": "a register of another office",
    "previous": "an earlier release",
    "original": "an original",
    "holdout": "a hold-out",
}
BY_STRUCTURE = {"undeclared_identifiers": "direct_identifiers"}
APPLIES: Mapping[Need, Callable[[PolicyDocument], bool]] = {
    Need.UNIT: lambda document: document.unit is not None or document.household is not None,
    Need.UNLINKED_TABLES: lambda document: document.tables is not None and document.unit is None,
    Need.WHOLE_RECORDS: lambda document: document.sampling_fraction is not None,
}
KINDS: Mapping[Need, str] = {
    Need.UNIT: "people with several rows",
    Need.UNLINKED_TABLES: "unlinked tables",
    Need.WHOLE_RECORDS: "samples",
}
OF_FIGURES: Mapping[str, tuple[Callable[[Audit], bool], str]] = {  # what a check of figures needs of them
    "noise_epsilon": (lambda audit: _declared(audit, "noise"), "figures with noise"),
    "perturbation_bounds": (lambda audit: _declared(audit, "noise"), "figures with noise"),
    "rounding_unpicked": (lambda audit: _declared(audit, "rounding"), "rounded figures"),
    "regression_output": (lambda audit: bool(audit.models), "fitted models"),
}
NOT_COMPARED = (
    "The figures were not compared with the records that they were made from: a wrong figure is taken as it is."
)
LIMITS = (
    "No audit of a file sees who receives it, under which contract, and what else they hold. Judge that in addition "
    "(ISO/IEC 27559:2022)."
)


def blocks(audit: Audit) -> Iterator[Block]:
    """The risks that matter most, how many others there are, and what no audit sees."""
    first = relevant(audit)
    named: set[str] = set()
    risks = [*_of_figures(audit), *_whole_units(audit), *_alone(audit), *_unasked(audit)]
    risks += [_risk(audit, one, named) for one in first]
    if risks:
        yield Items(risks)
    yield from map(Paragraph, _also_unused(audit, first))
    number = len(left(audit))
    if number:
        named_there = say(
            "Annex B names [{n=1?}the check|all {n} checks] that {n:fits|fit} this data and {n:was|were} not run"
            "[{more>0?}, and {more} more that other results answer].",
            n=number,
            more=len(answered(audit)),
        )
        yield Paragraph(f"{named_there} {LIMITS}")
    else:
        yield Paragraph(LIMITS)


def _declared(audit: Audit, key: str) -> bool:
    """Whether a table of figures, or a measure of one, was changed in a way that the policy declares."""
    tables = audit.figures.values()
    measures = [one.measure for table in tables for one in table.figures.values()]
    return any(getattr(one, key) is not None for one in (*(table.declaration for table in tables), *measures))


def _of_figures(audit: Audit) -> Iterator[Paragraph]:
    """The records behind tables of figures, where these were not compared with them, and figures that are no counts."""
    if not audit.figures:
        return
    if not has_microdata(audit):
        yield Paragraph(NOT_COMPARED, lead="The records behind the figures.")
    others = [
        say("{measure} of {table}", measure=visible(name), table=visible(table))
        for table, one in audit.figures.items()
        for name, figures in one.figures.items()
        if figures.measure.counts is None
    ]
    if others:
        yield Paragraph(
            say(
                "{names:names} {n:is no count|are no counts}: no demand on counts looks at {n:it|them}.",
                names=first_names(others),
                n=len(others),
            ),
            lead="Means and other statistics.",
        )


def _whole_units(audit: Audit) -> Iterator[Paragraph]:
    """People or households who are unlike all others by all of their rows, where no demand judges them."""
    for one in audit.structure:
        alone, units = one.details.get("alone"), one.details.get("units")
        if one.is_warning and isinstance(alone, int) and isinstance(units, int) and alone:
            noun = visible(str(one.details.get("noun") or "person"))
            yield Paragraph(
                say(
                    "{alone/units:{noun}} {alone/units:is|are} unlike every other by all of their rows together"
                    "[{computed?}; [{several?}demands|demand] {computed:names} [{several?}compute|computes] a risk of "
                    "them, but none limits how many]. What to do next says how to have them judged.",
                    computed=(computed := of_whole_households(audit)),
                    several=len(computed) > 1,
                    alone=alone,
                    units=units,
                    noun=noun,
                ),
                lead=say("Whole {noun:plural}.", noun=noun),
            )


def _alone(audit: Audit) -> Iterator[Paragraph]:
    """The people who are the only match for an intruder, where no demand limits how many may be."""
    unlimited = alone_unlimited(audit)
    if unlimited:
        noun = noun_of_record(audit)
        first, *others = unlimited.items()
        clauses = [say("{name} ({n:{noun}})", name=first[0], n=first[1], noun=noun)]
        clauses += [say("{name} ({n})", name=name, n=number) for name, number in others]
        yield Paragraph(
            say("No demand limits how many are the only match against {clauses:names}.", clauses=clauses),
            lead="Being alone, against some intruders.",
        )


def _unasked(audit: Audit) -> Iterator[Paragraph]:
    """The secrets that no demand protects from one of the policy's intruders."""
    secrets = {one.name: name_of(one) for one in audit.columns if one.role is Role.SENSITIVE and one.is_present}
    after: dict[tuple[str, ...], list[str]] = {}
    ignored: dict[tuple[str, ...], list[str]] = {}
    for one in audit.scenarios:
        asked = {outcome.attribute for outcome in audit.expectations if outcome.scenario == one.name}
        if " " not in one.name:  # others are only sets of columns
            wanted = tuple(name for name in secrets if name in one.at_stake and name not in asked)
            unwanted = tuple(name for name in secrets if name not in one.at_stake and name not in one.knows)
            after.setdefault(wanted, []).append(visible(one.name))
            ignored.setdefault(unwanted, []).append(visible(one.name))
    unasked = [(pair, is_wanted) for of, is_wanted in ((after, True), (ignored, False)) for pair in of.items()]
    sentences = [
        say(
            "[{wanted?}{intruders:names} {many:wants|want} to learn {names:names}, and no demand protects {n:it|them}|"
            "No demand protects {names:names} against {intruders:names}, who {many:does|do} not want to learn "
            "{n:it|them}, as the policy has it].",
            names=[secrets[name] for name in names],
            intruders=[sentence_case(intruders[0]), *intruders[1:]] if is_wanted else intruders,
            wanted=is_wanted,
            many=len(intruders),
            n=len(names),
        )
        for (names, intruders), is_wanted in unasked
        if names
    ]
    if sentences:
        yield Paragraph(" ".join(sentences), lead="Some secrets, against some intruders.")


def not_run(audit: Audit) -> Iterator[Block]:
    """The names of all checks that were not run, by the table that they would need, and how many cannot be asked."""
    left, given = [*unexamined(audit).values()], _given(audit)
    now = [one for one in left if one.requires <= given]
    if now:
        yield Paragraph(_titles(now), lead="Can be asked of this release:")
    for table in sorted(FROM_ELSEWHERE - given):
        needing = [one for one in left if table in one.requires]
        if needing:
            yield Paragraph(_titles(needing), lead=say("With {table:text}:", table=TABLES[table]))
    if by_another := answered(audit):
        yield Paragraph(_titles(by_another), lead="Answered by other results:")
    others = beyond(audit)
    if with_original := [one for one in others if _needs_original(one)]:
        yield Paragraph(_titles(with_original), lead=say("With {table:text}:", table=TABLES["original"]))
    if left or with_original:
        yield Paragraph("What each of them asks:", code="tcdp-audit explain NAME")
    numbers = Counter(_obstacle(audit, one) for one in others if not _needs_original(one))
    if numbers:
        reasons = [say("{n} of {what:text}", n=number, what=what) for what, number in numbers.items()]
        yield Paragraph(say("{reasons:text}.", reasons=reasons), lead="Checks of other kinds of data:")


def beyond(audit: Audit) -> list[Announced]:
    """The checks that were not run and cannot be asked of the release as it is; without those that a result answers."""
    run = {one.check for one in audit.expectations if one.status is not Status.SKIPPED}
    known = run | _answered(audit) | unexamined(audit).keys()
    return [one for name, one in possible_checks(audit).items() if name not in known]


def left(audit: Audit) -> set[str]:
    """The names of the checks that annex B has: those that could be asked, also of an original."""
    return {*unexamined(audit)} | {one.name for one in beyond(audit) if _needs_original(one)}


def _needs_original(check: Announced) -> bool:
    """True for a check that could be asked if the release had an original."""
    return check.requires == {"original"} and check.concerns != "masked"


def _obstacle(audit: Audit, check: Announced) -> str:
    """The kind of data that a check is about and that the release is not, or does not have."""
    if check.concerns == "masked":
        return "masked values"
    if check.name in OF_FIGURES:
        return OF_FIGURES[check.name][1]
    if "holdout" in check.requires:
        return "synthetic data with a hold-out"
    missing = [need for need, applies in APPLIES.items() if need in check.needs and not applies(audit.policy.document)]
    return KINDS.get(missing[0], "other data") if missing else "other data"


@once_per_report
def unexamined(audit: Audit) -> dict[str, Announced]:
    """The checks that could say more about the release and were not run, by name."""
    run = {one.check for one in audit.expectations if one.status is not Status.SKIPPED}
    checks = {name: audit.plugins.checks[name] for name in run & audit.plugins.checks.keys()}
    by_another = _answered(audit)
    masked = any(one.concerns == "masked" for one in checks.values())
    given = _given(audit) | FROM_ELSEWHERE
    return {
        name: one
        for name, one in possible_checks(audit).items()
        if name not in run | by_another
        and one.requires <= given
        and (masked or one.concerns != "masked")
        and (name not in OF_FIGURES or OF_FIGURES[name][0](audit))
        and all(applies(audit.policy.document) for need, applies in APPLIES.items() if need in one.needs)
    }


def answered(audit: Audit) -> list[Announced]:
    """The checks that were not run as another result answers their question."""
    run = {one.check for one in audit.expectations if one.status is not Status.SKIPPED}
    return [one for name, one in possible_checks(audit).items() if name in _answered(audit) - run]


def _answered(audit: Audit) -> set[str]:
    """The checks whose question another result answers."""
    checks = audit.plugins.checks
    with_result = {one.check for one in audit.outcomes if one.status not in (Status.SKIPPED, Status.ERROR)}
    by_checks = {name for one in checks.keys() & with_result if _is_of_all(audit, one) for name in checks[one].answers}
    return by_checks | {BY_STRUCTURE[one] for one in BY_STRUCTURE.keys() & with_result}


def _is_of_all(audit: Audit, check: str) -> bool:
    """Whether a check has a result for every secret, or is about none: otherwise it answers for some of them only."""
    judged = {
        one.attribute
        for one in audit.expectations
        if one.check == check and one.status not in (Status.SKIPPED, Status.ERROR)
    }
    secrets = {one.name for one in audit.columns if one.role is Role.SENSITIVE and one.is_present}
    return None in judged or secrets <= judged


@once_per_report
def relevant(audit: Audit) -> list[Announced]:
    """At most three of them, those that matter most for the release first."""
    left: Mapping[str, Announced] = unexamined(audit)
    chosen: list[Announced] = []
    for group in _by_concern(audit, left, chosen):
        first = next((one for one in group if one not in chosen and one.risk), None)
        if first is not None and len(chosen) < MOST:
            chosen.append(first)
    return chosen


def _by_concern(audit: Audit, left: Mapping[str, Announced], chosen: Sequence[Announced]) -> Iterator[list[Announced]]:
    """The checks that would use a table that lies unused, answer a regulator's question, or fill an empty quarter.

    What was chosen so far counts as run.
    """
    checks = [*left.values()]
    for table in [one for one in TABLES if one in unused(audit) & FROM_ELSEWHERE]:
        yield [one for one in checks if table in one.requires]
    of_identity = [one for one in checks if one.disclosure_type in IDENTITY]
    unasked = {one.word for one in regulators(audit) if not one.is_asked}
    if "Singling out" in unasked:
        yield [one for one in of_identity if not one.requires]
    if "Linkability" in unasked:
        yield [one for one in of_identity if one.requires and one.disclosure_type is DisclosureType.IDENTITY_DEGREE]
    if "Inference" in unasked:
        yield [one for one in checks if one.disclosure_type in ATTRIBUTE]
    possible = possible_checks(audit)
    run = [
        possible[one.check] for one in audit.expectations if one.check in possible and one.status is not Status.SKIPPED
    ]
    for quarter in DisclosureType:
        if not any(one.disclosure_type is quarter for one in (*run, *chosen)):
            yield [one for one in checks if one.disclosure_type is quarter]
    for quarter in DEGREES if audit.has_records else ():  # where a model holds, another attack may succeed all the same
        yield [one for one in checks if one.disclosure_type is quarter and one.requires <= _given(audit)]


@once_per_report
def unused(audit: Audit) -> frozenset[str]:
    """The tables that the policy names, or that the audit was given, and that nothing used.

    The original is used as a reference distribution, too, and by what repaired the release.
    """
    read = {table for one in audit.policy.expectations for table in _required(audit, one.check.name)}
    if audit.policy.conventions.reference == "original" or audit.change_log is not None:
        read.add("original")
    kinds = {name.partition(" ")[0] for name in (*audit.companions, *audit.unused_companions)}
    return frozenset(kinds & TABLES.keys() - read)


def _required(audit: Audit, name: str) -> frozenset[str]:
    announced = audit.plugins.announced_checks.get(name)
    return frozenset() if announced is None else announced.requires


def _given(audit: Audit) -> frozenset[str]:
    """The further tables that the policy names or that the audit was given."""
    document = audit.policy.document
    companions = {name.partition(" ")[0] for name in audit.companions}  # `population of journalist` of an intruder
    return frozenset(name for name in TABLES if name in companions or getattr(document, name, None) is not None)


def _risk(audit: Audit, check: Announced, named: set[str]) -> Paragraph:
    """A risk with the check that asks about it. A table that the policy names in vain is `named` once."""
    tables = sorted(unused(audit) & check.requires - named)
    named.update(tables)
    missing = sorted(check.requires - _given(audit))
    sentences = [
        visible(check.risk),
        say("The policy names {table:text}, and no demand uses it.", table=TABLES[tables[0]]) if tables else "",
        say("Add the demand {name}.", name=check.name),
        say("It needs {table:text}.", table=TABLES[missing[0]]) if missing else "",
    ]
    return Paragraph(" ".join(filter(None, sentences)), lead=say("{title:text}.", title=visible(check.title)))


def _titles(checks: Sequence[Announced]) -> str:
    return sentence_case(say("{titles:text}.", titles=[visible(one.title) for one in checks]))


def _also_unused(audit: Audit, shown: Sequence[Announced]) -> Iterator[str]:
    """A sentence for each further table that nothing used and that no risk above names, then for hierarchies."""
    for table in sorted(unused(audit) - {name for one in shown for name in one.requires}):
        named = any(name.partition(" ")[0] == table for name in audit.policy.document.companions)
        yield say(
            "No demand uses {table:text} that the [{named?}policy names|audit was given].",
            table=TABLES[table],
            named=named,
        )
    yield from _unused_hierarchies(audit)


def _unused_hierarchies(audit: Audit) -> Iterator[str]:
    """The sentence on hierarchies of sensitive columns that no demand and no remedy reads."""
    policy = audit.policy
    declared = [name for name in policy.with_role(Role.SENSITIVE) if policy.attributes[name].hierarchy is not None]
    reading = [one for one in policy.expectations if one.check.on_records and one.check.needs_hierarchy(one.parameters)]
    targets = [target for one in reading for target in one.check.targets(one.parameters, policy.document)]
    read = {name for target in targets for name in target.attributes}
    left = [repr(visible(name)) for name in declared if name not in read]
    if left and audit.change_log is None and not policy.remedies:
        yield say(
            "The {n:hierarchy|hierarchies} of {names:names} {n:was|were} used by no demand: similar values count as "
            "different.",
            n=len(left),
            names=left,
        )
