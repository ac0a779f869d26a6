"""The items that a policy has: known, named and placed before anything is audited.

An item and its outcomes find each other by a key. Both are numbered in the policy's order, so that two expectations of
one check on one attribute are distinguished.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tcdp_audit.api import COLUMN_DEMANDS, SCHEMA, STRUCTURE, SUITE, Policy, PolicySource, parse_nodes
from tcdp_audit.plugin.sentences import visible

COLUMNS, EXPECT, VERDICT = "columns", "expect", "verdict"
PARTS = {
    STRUCTURE: COLUMNS,
    SCHEMA: "schema",
    SUITE: "suite",
}  # by the source of an outcome; all others are of expectations
WHOLE = frozenset(PARTS.values()) - {COLUMNS}  # parts that are one item, whatever the number of their outcomes


class Key(NamedTuple):
    """Identity of an item.

    Args:
        part: the columns, the expectations, a schema, a suite, or the verdict on everything.
        check: the check, or the demand on columns.
        attribute: what it is asked of.
        number: which of those that have all this in common, from 1.
    """

    part: str
    check: str = ""
    attribute: str | None = None
    number: int = 1


@dataclass(frozen=True)
class Planned:
    """One item.

    Args:
        name: what pytest calls it; unique in its policy.
        key: what it is about.
        line: where the policy asks for it, from 1.
        labels: what its marker says.
    """

    name: str
    key: Key
    line: int
    labels: Mapping[str, str | None] = field(default_factory=dict)


def plan(policy: Policy) -> Iterator[Planned]:
    """Every item of a policy that was read from a file, the verdict last. Cost: that of parsing its text again."""
    places = PolicySource(None, parse_nodes(policy.text))
    line = places.position(["attributes"])[0]
    for name in COLUMN_DEMANDS:
        yield Planned(name, Key(COLUMNS, name), line, {"check": name})
    yield from _of_expectations(policy)
    for part, named in {"schema": policy.document.schema_, "suite": policy.document.suite}.items():
        if named is not None:
            yield Planned(part, Key(part), places.position([part])[0], {"check": part})
    yield Planned(VERDICT, Key(VERDICT), 1, {"check": VERDICT})


def _of_expectations(policy: Policy) -> Iterator[Planned]:
    """One item for each expectation and each attribute that it runs on."""
    numbers: Counter[tuple[str, str | None]] = Counter()
    for expectation in policy.expectations:
        check, parameters = expectation.check, expectation.parameters
        for target in check.targets(parameters, policy.document):
            numbers[check.name, target.name] += 1
            key = Key(EXPECT, check.name, target.name, numbers[check.name, target.name])
            labels = {"check": key.check, "attribute": key.attribute, "severity": parameters.severity.value}
            yield Planned(_name(key), key, expectation.line or 1, labels)


def _name(key: Key) -> str:
    """`k_anonymity`, `t_closeness[cost]`, and for a second one `k_anonymity[#2]`, `t_closeness[cost#2]`."""
    number = "" if key.number == 1 else f"#{key.number}"
    inner = f"{visible(key.attribute or '')}{number}"
    return f"{key.check}[{inner}]" if inner else key.check


def by_key(outcomes: Iterable[Mapping[str, Any]]) -> Mapping[Key, list[Mapping[str, Any]]]:
    """The outcomes of an audit in JSON, each at the key of its item."""
    numbers: Counter[tuple[str, str, str | None]] = Counter()
    keyed: dict[Key, list[Mapping[str, Any]]] = defaultdict(list)
    for outcome in outcomes:
        part = PARTS.get(outcome["source"], EXPECT)
        what = (part, outcome["check"], outcome["attribute"])
        numbers[what] += 1
        keyed[Key(part) if part in WHOLE else Key(*what, numbers[what])].append(outcome)
    return dict(keyed)
