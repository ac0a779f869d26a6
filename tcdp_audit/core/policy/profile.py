"""Profiles: named, dated sets of thresholds with the sources that they are from, in files of YAML beside this one.

A profile adds demands to a policy, and questions that no figure answers. It is no verdict on law: it says what a
document asks for, as far as that can be counted, and who says that the document does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.policy.faults import MOST, located, nearest
from tcdp_audit.core.policy.source import Location, PolicyFault, PolicySource, parse_yaml

FOLDER = Path(__file__).with_name("profiles")
CAVEAT = "This does not determine legality."


@dataclass(frozen=True)
class ProfileSource:
    """A document that a profile is from.

    Args:
        title: what it is called, with its authors.
        date: of the document, as far as it is known.
        read: what of it was read: its text, or what others say of it.
    """

    title: str
    date: str
    read: str


@dataclass(frozen=True)
class ProfileDemand:
    """One demand of a profile.

    Args:
        check: the check that a policy would name.
        parameters: with these parameters.
        says: what the document says, and how the threshold follows from it; outcomes repeat it.
    """

    check: str
    parameters: Mapping[str, Any]
    says: str


@dataclass(frozen=True)
class ProfileQuestion:
    """What a profile asks that no check of it answers: a person has to.

    Args:
        key: what `answers:` of a policy calls it; two profiles that ask the same call it the same.
        question: the question, and what to do.
        fit: the answer with which a release is fit, yes or no.
        unless: the check that answers it where a policy itself demands it; nothing where none does.
        demanding: the laxest thresholds of it that do, and what its other parameters are then.
    """

    key: str
    question: str
    fit: str = "yes"
    unless: str = ""
    demanding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """A named, dated set of demands.

    Args:
        name: what it is called in every version.
        version: the date of its document, or what else tells its versions apart.
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
    """The text of a policy with the demands of its profiles.

    Args:
        source: the policy, its list of expectations longer by these demands.
        profiles: those that it names, in its order.
        own: how many expectations it writes itself.
        faults: names that are no profile's.
    """

    source: PolicySource
    profiles: tuple[Profile, ...] = ()
    own: int = 0
    faults: tuple[PolicyFault, ...] = ()

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
    return replace(source, data={**source.data, "expect": [*expected, *asked]}, stand_ins=places)


def _unknown(source: PolicySource, name: str) -> PolicyFault:
    """A name that is no profile's; one without its version is told the version."""
    versions = [key for key in profiles() if key.partition("@")[0] == name.partition("@")[0]]
    nearest_name = f"; write {versions[0]}" if versions else nearest(name, profiles())
    return located(
        source, ["profile"], f"unknown profile {name!r}{nearest_name or '; `tcdp-audit explain profile` lists them'}"
    )
