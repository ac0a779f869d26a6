"""A document becomes a policy, or all of its faults: of its form, of parameters and names, and of how they fit.

Each stage continues with the sound results of the stage before and the possible values of the rest; see `mending`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tcdp_audit.core.base.errors import PluginError, blaming
from tcdp_audit.core.policy.faults import MOST, UNDECIDED, from_validation, is_below, located, nearest, unsound
from tcdp_audit.core.policy.mending import (
    ANY_TEXT,
    Located,
    Way,
    combined,
    faults_of_document,
    in_common,
    mended,
    otherwise,
    typical_names,
)
from tcdp_audit.core.policy.model import FIGURES, TABLES, AttributeDeclaration, Conventions, PolicyDocument
from tcdp_audit.core.policy.policy import Expectation, PlannedRemedy, Policy, Profiled
from tcdp_audit.core.policy.schema import Registered, Registry, Section, SectionEntry
from tcdp_audit.core.policy.source import PolicyFault, PolicySource, PolicySourceError, parse_yaml, replaced, without

CHECKS, REMEDIES = "tcdp_audit_checks", "tcdp_audit_remedies"
SOUND: dict[str, Any] = {"version": 1, "attributes": {ANY_TEXT: {"role": "insensitive"}}, "expect": [{}]}
COLUMNS = ("attribute", "attributes")  # parameters that name columns
UNOPPOSED = (
    "nothing is demanded against this intruder, so that a release could pass unjudged; demand something, such as "
    "`k_anonymity: {k: 5}`, or remove the scenario"
)
JUDGED = 600  # calls of a check on the possible values of an unsound policy

T = TypeVar("T", bound=Registered)
Place = Sequence[str | int]


class Reading:
    """One policy while it is being read; collects faults.

    Args:
        source: the document.
        text: what it was read from.
        path: the file, if any.
        plugins: the plugins whose checks and remedies it may name.
        is_part: whether it has some of the demands of a policy, which others complete.
    """

    def __init__(
        self, source: PolicySource, text: str, path: Path | None, plugins: Registry, *, is_part: bool = False
    ) -> None:
        self.text, self.path, self.plugins, self.is_part = text, path, plugins, is_part
        self.faults: list[PolicyFault] = []
        if isinstance(source.data, Mapping) and {TABLES, *FIGURES} & source.data.keys():
            from tcdp_audit.core.policy.tables import joined, misplaced  # noqa: PLC0415 - only for several tables

            self.faults += [located(source, *fault) for fault in misplaced(source)]
            source = joined(source)
        self.profiled = Profiled.of(source)
        self.source = self.profiled.source

    def policy(self) -> Policy:
        """The policy.

        Raises:
            PolicyError: it is wrong; the message lists every fault in the order of the file.
            PluginError: it names what is unknown while a plugin that may define it is broken.
        """
        documents = self._documents()
        self.faults += self.profiled.faults
        self._judge_documents(documents)
        self._leave_unnamed_plugins_out(documents)
        expectations, remedies = tuple(self._expectations(documents)), tuple(self._remedies(documents))
        self._require_soundness()
        profiles, line = self.profiled.profiles, self.source.position(["profile"])[0]
        read = Policy(
            documents[0], expectations, self.text, self.path, remedies, profiles=profiles, profile_line=line or None
        )
        for name in () if self.is_part else read.unopposed:
            self._fault(["scenarios", name], UNOPPOSED)
        self._require_soundness()
        return read

    def _require_soundness(self) -> None:
        """Raise a `PolicyError` with the faults so far, if there are any."""
        if self.faults:
            name = "policy" if self.path is None else str(self.path)
            ordered = sorted(dict.fromkeys(self.faults), key=lambda fault: (fault.line, fault.column))
            raise unsound(name, self.text if self.path else "", ordered)

    # The form

    def _documents(self) -> list[PolicyDocument]:
        """The document; where its form is faulty, the documents that may have been intended, if any is known."""
        try:
            return self._with_columns(PolicyDocument.model_validate(self.source.data))
        except ValidationError as error:
            self.faults += _of_tables(from_validation(error, self.source, PolicyDocument), self.source)
            has_sound_figures = not _unsound_figures(error)
        data = self.source.data
        attributes = data.get("attributes") if isinstance(data, Mapping) else None
        if not isinstance(attributes, Mapping) or not has_sound_figures or len(self.faults) > MOST:
            return []
        if not attributes and not any(data.get(key) for key in FIGURES):
            return []
        declared = [self._part(AttributeDeclaration, one, ("attributes", name)) for name, one in attributes.items()]
        conventions = self._part(Conventions, data.get("conventions", {}), ("conventions",))
        others = [one for one in self._others(data) if _has_figures_of(data, one.sound)]
        if not all((*declared, conventions, others)):
            return []
        named = [[{name: way} for way, _ in ways] for name, ways in zip(attributes, declared, strict=True)]
        first = self._documents_of(conventions[0].data, others[0].data, combined(named))
        rest = product(conventions[1:], others[:1]), product(conventions[:1], others[1:])
        base = next(combined(named))
        varied = (self._documents_of(one.data, other.data, [base]) for pairs in rest for one, other in pairs)
        return [*first, *(document for some in varied for document in some)]

    def _with_columns(self, document: PolicyDocument) -> list[PolicyDocument]:
        """The document, unless it has a table of records next to tables of figures that declares no column."""
        if document.has_records or ("attributes",) not in self.source.moved:
            return [document]
        self._fault(["attributes"], "must not be empty")
        return []

    def _documents_of(self, conventions: Any, others: Any, attributes: Any) -> list[PolicyDocument]:
        return [
            PolicyDocument.model_validate({**others, "conventions": conventions, "attributes": one})
            for one in attributes
        ]

    def _part(self, model: type[BaseModel], data: Any, place: tuple[str | int, ...]) -> list[Way[BaseModel]]:
        """The possible values of a part of the document; faults that show once others are mended are added."""
        faults, ways = mended(model, data, tuple, lambda error: from_validation(error, self.source, model, place))
        self.faults += self._unreported(_of_tables(faults, self.source))
        return ways

    def _others(self, data: Mapping[Any, Any]) -> list[Way[PolicyDocument]]:
        """All of the document but attributes, conventions, and entries that are no mappings."""
        rest = {**data, **SOUND, "conventions": {}}
        for section in ("expect", "remedy"):
            entries = data.get(section)
            if isinstance(entries, list) and section in data:
                rest[section] = [one for one in entries if isinstance(one, Mapping)] or [{}]
        try:
            PolicyDocument.model_validate(rest)
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_input=False):
                place = detail["loc"]
                rest = without(rest, place) if place[:1] != ("utility",) else replaced(rest, place[:3], _use(place))
        return mended(PolicyDocument, rest, tuple, lambda _: ())[1]

    def _unreported(self, faults: Sequence[PolicyFault]) -> list[PolicyFault]:
        """The faults at places that no reported fault is at or above."""
        return [one for one in faults if not any(is_below(one, reported) for reported in self.faults)]

    # The document as a whole

    def _judge_documents(self, documents: Sequence[PolicyDocument]) -> None:
        """Add what is wrong with every document that may have been intended."""
        questions = [one.key for profile in self.profiled.profiles for one in profile.questions]
        asked = None if self.profiled.faults else questions
        faults = (faults_of_document(document, asked) for document in documents)
        shared: list[Located] = in_common(list(islice(one, MOST + 1)) for one in faults)
        certain = [one for one in shared if repr(ANY_TEXT) not in one[1]]
        self.faults += self._unreported([located(self.source, place, sentence) for place, sentence in certain])

    def _leave_unnamed_plugins_out(self, documents: Sequence[PolicyDocument]) -> None:
        """Use the external plugins that the policy names only; insist on them where its form is sound."""
        data = self.source.data
        named = data.get("plugins") if isinstance(data, Mapping) else None
        if named is None:
            return
        names = [str(one) for one in named] if isinstance(named, list) else []
        self.plugins = self.plugins.only(names)
        for name in names if len(documents) == 1 else ():
            self.plugins.require(name)

    # The sections

    def _expectations(self, documents: Sequence[PolicyDocument]) -> Iterator[Expectation]:
        section = Section(
            "expect", "check", CHECKS, lambda: self.plugins.checks, lambda check, *where: check.faults(*where)
        )
        for entry in self._entries(section, documents):
            plugin = self.plugins.provider_of(CHECKS, entry.registered.name)
            profile, says = self.profiled.origin(entry.index)
            yield Expectation(entry.registered, entry.parameters, entry.line, plugin, entry.column, profile, says)

    def _remedies(self, documents: Sequence[PolicyDocument]) -> Iterator[PlannedRemedy]:
        section = Section(
            "remedy", "remedy", REMEDIES, lambda: self.plugins.remedies, lambda one, *where: one.faults(*where)
        )
        for entry in self._entries(section, documents):
            plugin = self.plugins.provider_of(REMEDIES, entry.registered.name)
            yield PlannedRemedy(entry.registered, entry.parameters, entry.line, plugin)

    def _entries(self, section: Section[T], documents: Sequence[PolicyDocument]) -> Iterator[SectionEntry[T]]:
        """Every sound entry of a section; also where the rest of the document is not, to find all faults at once."""
        data = self.source.data
        entries = data.get(section.key) if isinstance(data, Mapping) else None
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not isinstance(entry, Mapping):
                continue  # its form is a fault already
            if len(self.faults) > MOST:
                return
            if len(entry) != 1:
                self._fault([section.key, index], f"must be one {section.noun} name with its parameters")
                continue
            name, given = next(iter(entry.items()))
            location: list[str | int] = [section.key, index, str(name)]
            registered = self._registered(section, str(name), location)
            if registered is not None:
                yield from self._entry(section, registered, {} if given is None else given, location, documents)

    def _registered(self, section: Section[T], name: str, location: list[str | int]) -> T | None:
        known = section.known()
        if name in known:
            return known[name]
        if self.plugins.broken:
            reasons = "; ".join(f"{plugin.name}: {plugin.error}" for plugin in self.plugins.broken)
            raise PluginError(
                f"no {section.noun} {name!r} is known, and a plugin that may define it did not load ({reasons})"
            )
        line, column = self.source.position(location[:-1])
        sentence = f"unknown {section.noun} {name!r}{nearest(name, known)}"
        if name == UNDECIDED:
            sentence = f"is still to be decided: write a {section.noun} in place of {name}, or remove the entry"
        self.faults.append(PolicyFault(f"{section.key}[{location[1]}]", sentence, line, column))
        return None

    def _entry(
        self,
        section: Section[T],
        registered: T,
        given: Any,
        location: list[str | int],
        documents: Sequence[PolicyDocument],
    ) -> Iterator[SectionEntry[T]]:
        if not isinstance(given, Mapping | registered.parameters):
            self._fault(location, f"must be a mapping of parameters to values, such as `{_example(registered)}`")
            return
        values = _Values(registered, documents)
        model, name = registered.parameters, str(location[-1])
        what = f"the {section.noun} {name!r}, asked about its parameters,"
        report = partial(from_validation, source=self.source, model=model, prefix=location)
        with blaming(what, self.plugins.provider_of(section.hook, name)):
            faults, ways = mended(model, given, values, report)
            misfitting = self._misfits(section, registered, ways, documents, values)
        self.faults += faults
        reported = {fault.location for fault in faults}
        misfits = [located(self.source, [*location, *filter(None, [one])], message) for one, message in misfitting]
        self.faults += [one for one in misfits if one.location not in reported]
        if not faults and not misfits and len(documents) == 1:
            line, column = self.source.position(location)
            yield SectionEntry(registered, ways[0].sound, line or None, column or None, int(location[1]))

    def _misfits(
        self,
        section: Section[T],
        registered: T,
        ways: Sequence[Way[BaseModel]],
        documents: Sequence[PolicyDocument],
        values: Callable[[], Sequence[Any]],
    ) -> list[tuple[str, str]]:
        """The reasons why parameters do not fit the document: (parameter or "", sentence).

        A check may stop at the first parameter that does not fit. So such a parameter is mended as well, and what
        remains is asked for until nothing new comes.
        """
        if len(ways) == len(documents) == 1:
            shared = list(section.faults(registered, ways[0].sound, documents[0]))
            doubtful: list[str] = []
        else:
            asked = list(_asked(section, registered, ways, documents))
            shared = in_common(asked)
            doubtful = [name for one in asked for name, _ in one if name in COLUMNS]  # where a check may stop
        reported: dict[tuple[str, str], None] = dict.fromkeys(shared)
        names = {name for name, _ in shared if name}.union(doubtful)
        while ways and names:
            others = otherwise(registered.parameters, ways[0].data, sorted(names), values)
            answers = [list(one) for one in _asked(section, registered, others, documents)]
            mending = [one for one in answers if not names & {name for name, _ in one}]
            new = [one for one in in_common(mending) if one not in reported and (one[0] or not doubtful)]
            reported |= dict.fromkeys(new)
            if not {name for name, _ in new} - names:
                break
            names |= {name for name, _ in new if name}
        return list(reported)

    def _fault(self, location: Place, message: str) -> None:
        self.faults.append(located(self.source, location, message))


class _Values:
    """Possible values of a parameter: those in the guide's example, and the names of declared columns."""

    def __init__(self, registered: Registered, documents: Sequence[PolicyDocument]) -> None:
        self._registered, self._documents = registered, documents

    def __call__(self) -> Sequence[Any]:
        try:
            entries = parse_yaml(str(self._registered.guide.example)).data
        except PolicySourceError:
            entries = []
        given = [one.get(self._registered.name) for one in entries if isinstance(one, Mapping)]
        shown = [value for one in given if isinstance(one, Mapping) for value in one.values()]
        names = typical_names(self._documents[0].attributes) if self._documents else []
        return [*names, *([one] for one in names), *shown]


def _of_tables(faults: Iterable[PolicyFault], source: PolicySource) -> list[PolicyFault]:
    """The faults of a document without those of its list of attributes where this was made of `tables`.

    Each table has the same faults at its place. Where no table has an attribute, the list has a fault.
    """
    data = source.data
    if not isinstance(data, Mapping) or TABLES not in data:
        return list(faults)
    joined_ones = {name for section, name in source.stand_ins if section == "attributes"}
    remaining = [one for one in faults if one.location != "attributes" and not _is_of(one, joined_ones)]
    if not (joined_ones or remaining or data.get("attributes")):
        sentence = "no table declares an attribute; declare a role for each column that is not what links tables"
        remaining.append(located(source, [TABLES], sentence))
    return remaining


def _is_of(fault: PolicyFault, attributes: Collection[str | int]) -> bool:
    return any(f"{fault.location}.".startswith(f"attributes.{name}.") for name in attributes)


def _has_figures_of(data: Mapping[Any, Any], document: PolicyDocument) -> bool:
    """Whether a document still has the tables of figures and the models of the text that it was mended from."""
    return all(bool(data.get(key)) == bool(getattr(document, key)) for key in FIGURES)


def _unsound_figures(error: ValidationError) -> bool:
    """Whether tables of figures, models or their records are faulty in their form, so that nothing can be judged."""
    details = error.errors(include_url=False, include_input=False, include_context=False)
    places = (one["loc"][:1] for one in details if one["type"] != "extra_forbidden")
    return any(place and place[0] in (*FIGURES, "microdata") for place in places)


def _use(place: Place) -> dict[str, Any]:
    """A sound entry of a list of `utility`, in place of one that is not."""
    return {"by": [ANY_TEXT]} if place[1:2] == ("counts",) else {"of": ANY_TEXT, "by": [ANY_TEXT]}


def _asked(
    section: Section[T], registered: T, ways: Sequence[Way[BaseModel]], documents: Sequence[PolicyDocument]
) -> Iterator[list[tuple[str, str]]]:
    """What is wrong with each way to mend the parameters under each document that may have been intended."""
    for way, document in islice(product(ways, documents), JUDGED):
        try:
            yield list(section.faults(registered, way.sound, document))
        except Exception:  # noqa: BLE001, S112 - no person wrote these parameters: what they break is no news
            continue


def _example(registered: Registered) -> str:
    """A line of a policy that names a check or a remedy: the first of its guide's."""
    lines = str(registered.guide.example).strip().splitlines()
    return lines[0] if len(lines) == 1 else f"- {registered.name}: {{parameter: value}}"
