"""A policy that names profiles, as if it had written their demands itself, at the line that names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from tcdp_audit.core.policy.faults import MOST, located, nearest
from tcdp_audit.core.policy.profile import Profile, profiles
from tcdp_audit.core.policy.source import Fault, Location, Source


@dataclass(frozen=True)
class Profiled:
    """The text of a policy with the demands of its profiles.

    Args:
        source: the policy, its list of expectations longer by these demands.
        profiles: those that it names, in its order.
        own: how many expectations it writes itself.
        faults: names that are no profile's.
    """

    source: Source
    profiles: tuple[Profile, ...] = ()
    own: int = 0
    faults: tuple[Fault, ...] = ()

    @classmethod
    def of(cls, source: Source) -> Profiled:
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


def _with_demands(source: Source, expected: Sequence[Any], known: Sequence[Profile]) -> Source:
    asked = [{one.check: dict(one.parameters)} for profile in known for one in profile.demands]
    if not asked and "expect" not in source.data and known:
        return replace(source, data={**source.data, "expect": []})
    first = len(expected)
    places: dict[tuple[str | int, ...], Location] = {("expect", first + n): ("profile",) for n in range(len(asked))}
    return replace(source, data={**source.data, "expect": [*expected, *asked]}, stand_ins=places)


def _unknown(source: Source, name: str) -> Fault:
    """A name that is no profile's; one without its version is told the version."""
    versions = [key for key in profiles() if key.partition("@")[0] == name.partition("@")[0]]
    meant = f"; write {versions[0]}" if versions else nearest(name, profiles())
    return located(
        source, ["profile"], f"unknown profile {name!r}{meant or '; `tcdp-audit explain profile` lists them'}"
    )
