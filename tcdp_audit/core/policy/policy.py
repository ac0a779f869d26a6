"""A policy that has been read and found sound, and the profiles that it names."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from tcdp_audit.core.base.files import resolve_location
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.outcome import DisplayNames, Severity
from tcdp_audit.core.base.words import count, visible, with_article
from tcdp_audit.core.policy.faults import MOST, located, nearest
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, PolicyDocument, Role
from tcdp_audit.core.policy.source import Location, PolicyFault, PolicySource, parse_yaml

FOLDER = Path(__file__).with_name("profiles")
CAVEAT = "This does not determine legality."


@dataclass(frozen=True)
class ProfileSource:
    """A document that a profile is from."""

    title: str  # what it is called, with its authors
    date: str  # of the document, as far as it is known
    read: str  # what of it was read: its text, or what others say of it


@dataclass(frozen=True)
class ProfileDemand:
    """One demand of a profile."""

    check: str  # the check that a policy would name
    parameters: Mapping[str, Any]  # with these parameters
    says: str  # what the document says, and how the threshold follows from it; outcomes repeat it


@dataclass(frozen=True)
class ProfileQuestion:
    """A question of a profile that no check of it answers: a person has to."""

    key: str  # what `answers:` of a policy calls it; two profiles that ask the same call it the same
    question: str  # the question, and what to do
    fit: str = "yes"  # the answer with which a release is fit, yes or no
    unless: str = ""  # the check that answers it where a policy itself demands it; nothing where none does
    # the laxest thresholds of it that do, and what its other parameters are then
    demanding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """A named, dated set of demands.

    Args:
        name: what it is called in every version.
        version: the date of its document, or what else distinguishes its versions.
        title: what a person calls it.
        sources: where its figures are from.
        demands: what it adds to a policy.
        questions: what it leaves to a person.
    """

    name: str
    version: str
    title: str
    sources: tuple[ProfileSource, ...]
    demands: tuple[ProfileDemand, ...]
    questions: tuple[ProfileQuestion, ...]

    @property
    def key(self) -> str:
        """What a policy calls this version of it."""
        return f"{self.name}@{self.version}"


@lru_cache(maxsize=1)
def profiles() -> Mapping[str, Profile]:
    """Every profile, by what a policy calls it."""
    read = (_read(path) for path in sorted(FOLDER.glob("*.yaml")))
    return FrozenDict({one.key: one for one in read})


def _read(path: Path) -> Profile:
    data = parse_yaml(path.read_text(encoding="utf-8")).data
    return Profile(
        name=path.stem,
        version=str(data["version"]),
        title=data["title"],
        sources=tuple(ProfileSource(one["title"], str(one["date"]), one["read"]) for one in data["sources"]),
        demands=tuple(ProfileDemand(one["check"], one["parameters"], one["says"]) for one in data["demands"]),
        questions=tuple(
            ProfileQuestion(
                one["key"], one["question"], one.get("fit", "yes"), one.get("unless", ""), one.get("demanding", {})
            )
            for one in data["questions"]
        ),
    )


@dataclass(frozen=True)
class Profiled:
    """The text of a policy with the demands of its profiles."""

    source: PolicySource  # the policy, its list of expectations longer by these demands
    profiles: tuple[Profile, ...] = ()  # those that it names, in its order
    own: int = 0  # how many expectations it writes itself
    faults: tuple[PolicyFault, ...] = ()  # names that are no profile's

    @classmethod
    def of(cls, source: PolicySource) -> Profiled:
        """A policy as it was read. What is no name, or no list, is left to those who judge the document."""
        named = source.data.get("profile") if isinstance(source.data, Mapping) else None
        expected = source.data.get("expect", []) if named is not None else []
        if named is None or not isinstance(expected, list):
            return cls(source)
        names = [str(one) for one in named] if isinstance(named, list) else [str(named)]
        known = tuple(profiles()[name] for name in dict.fromkeys(names) if name in profiles())
        faults = tuple(islice((_unknown(source, name) for name in names if name not in profiles()), MOST + 1))
        return cls(_with_demands(source, expected, known), known, len(expected), faults)

    def origin(self, index: int) -> tuple[str, str]:
        """The profile that asks for an expectation, and what it says of it; nothing for the policy's own."""
        asked = [(profile.key, demand.says) for profile in self.profiles for demand in profile.demands]
        return asked[index - self.own] if asked and index >= self.own else ("", "")


def _with_demands(source: PolicySource, expected: Sequence[Any], known: Sequence[Profile]) -> PolicySource:
    asked = [{one.check: dict(one.parameters)} for profile in known for one in profile.demands]
    if not asked and "expect" not in source.data and known:
        return replace(source, data={**source.data, "expect": []})
    first = len(expected)
    places: dict[tuple[str | int, ...], Location] = {("expect", first + n): ("profile",) for n in range(len(asked))}
    return replace(
        source, data={**source.data, "expect": [*expected, *asked]}, stand_ins={**source.stand_ins, **places}
    )


def _unknown(source: PolicySource, name: str) -> PolicyFault:
    """The fault of an unknown name of a profile; where only the version is missing, it names the version."""
    versions = [key for key in profiles() if key.partition("@")[0] == name.partition("@")[0]]
    advice = f"; write {versions[0]}" if versions else nearest(name, profiles())
    advice = advice or "; `tcdp-audit profiles` lists them"
    return located(source, ["profile"], f"unknown profile {name!r}{advice}")


@dataclass(frozen=True)
class Expectation:
    """A check with its parameters, one of which may be a threshold, and its place in the policy.

    `plugin` is the external plugin that the check comes from, or nothing. `profile` is the profile that asks for it,
    and `says` what that says of it; nothing where the policy itself asks. What a check is, the policy does not know;
    see `tcdp_audit.core.check`.
    """

    check: Any
    parameters: Any
    line: int | None = None
    plugin: str = ""
    column: int | None = None
    profile: str = ""
    says: str = ""


@dataclass(frozen=True)
class PlannedRemedy:
    """A remedy with its parameters, its line in the policy, and its external plugin or nothing.

    What a remedy is, the policy does not know; see `tcdp_audit.core.remedy`.
    """

    remedy: Any
    parameters: Any
    line: int | None = None
    plugin: str = ""


@dataclass(frozen=True, repr=False)
class Policy:
    """A policy: the demands that a release must satisfy.

    Args:
        document: the policy as written.
        expectations: its expectations, each bound to a registered check.
        text: the text of the file, or its canonical JSON where the policy was given as a mapping.
        path: the file it was read from, if any.
        remedies: what repairs a release that fails, in the order they run; none where the policy names none.
        content: the bytes of the file that it was read from, if any.
        profiles: the profiles that it names, whose demands are among its expectations.
        profile_line: the line that names them.
        trusts_code: whether code that it names runs though it is not installed: a schema in a module next to it.
    """

    document: PolicyDocument
    expectations: tuple[Expectation, ...]
    text: str
    path: Path | None = None
    remedies: tuple[PlannedRemedy, ...] = ()
    content: bytes | None = None
    profiles: tuple[Profile, ...] = ()
    profile_line: int | None = None
    trusts_code: bool = False

    def __repr__(self) -> str:
        """Its name and its size: the text of a policy may name values."""
        attributes, expectations = len(self.attributes), len(self.expectations)
        return f"<Policy {visible(self.name)}: {count(attributes, 'attribute')}, {count(expectations, 'expectation')}>"

    @property
    def name(self) -> str:
        """The file's name; `policy` for a policy without a file."""
        return "policy" if self.path is None else self.path.name

    @property
    def attributes(self) -> Mapping[str, AttributeDeclaration]:
        """Every declared column."""
        return self.document.attributes

    @property
    def conventions(self) -> Conventions:
        """The meaning of its verdicts."""
        return self.document.conventions

    @property
    def naming(self) -> DisplayNames:
        """The names of people and columns in sentences."""
        labels = {name: one.label for name, one in self.attributes.items() if one.label is not None}
        units = {name: one.measured_in for name, one in self.attributes.items() if one.measured_in is not None}
        return DisplayNames(
            self.document.unit_name or "",
            labels,
            intruder_name=self._intruder,
            columns=tuple(self.attributes),
            measured_in=units,
            attempt=self.document.attempt,
            is_blind=self.document.scenario is not None and self.document.scenario.in_release == "unknown",
        )

    @property
    def _intruder(self) -> str:
        """The intruder of the only scenario: as it says, or its name with an article; empty without any."""
        one, name = self.document.scenario, self.document.scenario_name
        if one is None or name not in (self.document.scenarios or {}):
            return ""
        return one.says or ("" if " " in name else with_article(name.replace("_", " ")))

    @property
    def sha256(self) -> str:
        """Digest of the bytes of the policy's file, or of its JSON where it was given as a mapping."""
        return hashlib.sha256(self.text.encode() if self.content is None else self.content).hexdigest()

    @property
    def directory(self) -> Path:
        """The folder in which relative paths of the policy start."""
        return Path() if self.path is None else self.path.parent

    @property
    def questions(self) -> list[tuple[Profile, ProfileQuestion]]:
        """The questions of its profiles that none of its demands answers, whether a person answers them or not."""
        asked = [(profile, one) for profile in self.profiles for one in profile.questions]
        return [(profile, one) for profile, one in asked if not any(map(partial(_answers, one), self.expectations))]

    def with_role(self, role: Role) -> list[str]:
        """The attributes of a role, in the order of their names so that no answer depends on the file's order."""
        return self.document.with_role(role)

    def resolve(self, location: str) -> str:
        """A path in the policy, relative to the policy's own folder; a URL or another address unchanged."""
        return resolve_location(location, self.directory)

    def places_of(self, locations: Sequence[Location]) -> list[str]:
        """Places in the policy for messages: `policy.yaml:7: population.columns.age`; without a file, without a line.

        Cost: the policy's text is read again.
        """
        source = parse_yaml(self.text)
        faults = [located(source, location, "") for location in locations]
        lines = [f":{one.line}" if one.line and self.path is not None else "" for one in faults]
        return [f"{visible(self.name)}{line}: {visible(one.location)}" for line, one in zip(lines, faults, strict=True)]

    @property
    def tables_of_records(self) -> list[str]:
        """The names of its tables of records under `tables:`, also of one alone, which is read as the release.

        Cost: the policy's text is read again.
        """
        data = parse_yaml(self.text).data if self.text else None
        tables = data.get("tables") if isinstance(data, Mapping) else None
        return [str(name) for name in tables or () if name not in (self.document.aggregates or {})]

    @property
    def out_of_order(self) -> Policy:
        """The same policy of a release whose records are shuffled, so that they are not aligned with the original's."""
        return replace(self, document=self.document.model_copy(update={"rows_aligned": False}))

    @property
    def pairs_by_order(self) -> bool:
        """Whether records are paired with the original's by their places, and by no key."""
        return self.document.rows_aligned and self.document.key is None

    def only(self, checks: Collection[str]) -> Policy:
        """The same policy without the expectations on other checks than these, by name."""
        return replace(self, expectations=tuple(one for one in self.expectations if one.check.name in checks))

    @cached_property
    def targets(self) -> tuple[tuple[Expectation, Any], ...]:
        """Each expectation with each of its targets, in its order: one outcome each. See `check.threshold.Target`."""
        return tuple(
            (one, target) for one in self.expectations for target in one.check.targets(one.parameters, self.document)
        )

    @cached_property
    def parts(self) -> Mapping[str, Policy]:
        """The policies under which it judges its demands: that of each scenario, and of each unit that demands name.

        They are by name, each with its demands. What is judged in no scenario, and by the policy's own unit, has the
        empty name. Without scenarios and other units this is the policy itself.
        """
        documents: dict[str, PolicyDocument] = {}
        asked: dict[str, list[Expectation]] = {}
        for one in self.expectations:
            for name, document in (one.check.parts(one.parameters, self.document) or {"": self.document}).items():
                documents.setdefault(name, document)
                own = replace(one, parameters=one.parameters.in_scenario(document)) if name else one
                asked.setdefault(name, []).append(own)
        if asked.keys() <= {""}:
            return FrozenDict({"": self})
        declared = [name for name in self.document.scenarios or {} if name in asked]
        order = dict.fromkeys(["", *declared, *asked])
        documents[""] = self.document.model_copy(update={"scenarios": None})
        policies = {n: replace(self, document=documents[n], expectations=tuple(asked.get(n, ()))) for n in order}
        return FrozenDict(policies)

    def without_knowledge_of(self, names: Collection[str]) -> Policy:
        """The same policy of an intruder who does not know some quasi-identifiers, which are insensitive then."""
        attributes = {
            name: one.model_copy(update={"role": Role.INSENSITIVE}) if name in names else one
            for name, one in self.attributes.items()
        }
        return replace(self, document=self.document.model_copy(update={"attributes": FrozenDict(attributes)}))

    @property
    def unopposed(self) -> list[str]:
        """The declared intruders against whom nothing is demanded, in a policy that demands something."""
        demanding = [one for one in self.expectations if one.check.demands(one.parameters)]
        judged = {target.scenario for one, target in self.targets if one in demanding}
        return [name for name in self.document.scenarios or {} if demanding and name not in judged]

    @property
    def of_own_unit(self) -> Policy:
        """The same policy without the demands that name another unit than that of the policy."""
        own = tuple(one for one in self.expectations if one.parameters.unit in (None, self.document.root))
        return self if len(own) == len(self.expectations) else replace(self, expectations=own)

    @cached_property
    def intruders(self) -> tuple[str, ...]:
        """The parts of the policy's own unit that have demands, each of which is judged by what an intruder knows."""
        return tuple(
            name for name, one in self.parts.items() if one.expectations and one.document.root == self.document.root
        )

    @property
    def of_one_intruder(self) -> Policy:
        """The policy of a single intruder who knows what any scenario takes to be known; without scenarios, itself.

        See `of_intruders`. A column that is known in one scenario and at stake in another stays at stake.
        """
        return self.of_intruders(self.intruders)

    def of_intruders(self, names: Sequence[str], *, known_first: bool = False) -> Policy:
        """The policy of a single intruder who knows what some scenarios take to be known; without scenarios, itself.

        The classes of each scenario are unions of those of this intruder, so that a demand which unions of classes keep
        holds in each of them. Demands that name another unit are left out.

        Args:
            names: the scenarios, some of `intruders`.
            known_first: whether a column that is known in one scenario and at stake in another is known; otherwise it
                stays at stake. Demands on such a column as a secret are left out, since these classes do not judge it.
        """
        if not {*self.intruders} - {""}:
            return self.of_own_unit
        judging = [self.parts[name] for name in names]
        at_stake = {name for one in judging for name in one.with_role(Role.SENSITIVE)}
        known = {name for one in judging for name in one.with_role(Role.QUASI_IDENTIFIER)}
        disputed = known & at_stake
        known, at_stake = (known, at_stake - disputed) if known_first else (known - disputed, at_stake)
        roles = dict.fromkeys(known, Role.QUASI_IDENTIFIER) | dict.fromkeys(at_stake, Role.SENSITIVE)
        attributes = {
            name: one.model_copy(update={"role": roles[name]}) if name in roles else one.of_no_one
            for name, one in self.attributes.items()
        }
        attempt = max(one.document.attempt for one in judging)
        document = self.document.with_attributes(attributes, attempt=attempt if known else Fraction(1))
        asked = {id(one) for one, target in self.targets if target.part in names}
        expectations = tuple(
            replace(one, parameters=one.parameters.in_scenario(document))
            for one in self.expectations
            if id(one) in asked and not (known_first and disputed.intersection(_secrets_of(one)))
        )
        return replace(self, document=document, expectations=expectations)

    def with_conventions(self, **changes: Any) -> Policy:
        """The same policy under other conventions."""
        conventions = self.conventions.model_copy(update=changes)
        return replace(self, document=self.document.model_copy(update={"conventions": conventions}))


def _secrets_of(expectation: Expectation) -> Collection[str]:
    """The sensitive columns that a demand names."""
    one, several = (getattr(expectation.parameters, name, None) for name in ("attribute", "attributes"))
    return [*([one] if one is not None else []), *(several or ())] if expectation.check.on_attribute else ()


def _answers(question: ProfileQuestion, expectation: Expectation) -> bool:
    """Whether a demand that counts is at least as strict as a question wants it."""
    if question.unless != expectation.check.name or expectation.parameters.severity is not Severity.ERROR:
        return False
    demands = expectation.check.demands(expectation.parameters)
    comparisons = {one.parameter: one.comparison for one in expectation.check.limits}
    wanted = {name: Fraction(value) for name, value in question.demanding.items()}
    given = {name: getattr(expectation.parameters, name) for name in wanted.keys() - comparisons.keys()}
    return all(given[name] == wanted[name] for name in given) and all(
        name in demands and comparisons[name].holds((demands[name] > value) - (demands[name] < value))
        for name, value in wanted.items()
        if name in comparisons
    )
