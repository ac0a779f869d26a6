"""Needs of a check, of a policy and its tables, and the sentences about those that are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from enum import StrEnum
from typing import TYPE_CHECKING

from tcdp_audit.core.policy.model import PolicyDocument, Role

if TYPE_CHECKING:
    from tcdp_audit.core.check.threshold import Parameters

Faults = Iterator[tuple[str, str]]


class Need(StrEnum):
    """A need of a check.

    The first five are tables next to the release; an audit without one of them is an error of that check. The others
    are faults of the policy. Whether rows are those of different units, only an audit knows; the last two may come
    with the command, so that a policy without them is no fault, but a warning of `lint`.
    """

    ORIGINAL = "original"
    POPULATION = "population"
    REGISTRY = "registry"
    PREVIOUS = "previous"  # one earlier release at least, named in the policy
    HOLDOUT = "holdout"  # read where there is one

    HOLDOUT_FOR_DEMANDS = "a hold-out where anything is demanded"
    ROWS = "one row for each unit of privacy"  # which the data decide
    UNIT = "a unit of privacy"
    UNLINKED_TABLES = "several tables that nothing links"
    PARTITION = "classes that do not overlap"
    SENSITIVE = "a sensitive attribute"
    KEY = "a key"
    DECLARED = "attributes that the policy declares"
    DISTINCT = "attributes that are named once"
    KNOWABLE = "attributes that an intruder may know"
    WHOLE_RECORDS = "a quasi-identifier in every released column"

    POPULATION_ITSELF = "a population, and not only its size"
    POPULATION_SIZE = "the size of the population"


TABLES = frozenset({Need.ORIGINAL, Need.POPULATION, Need.REGISTRY, Need.PREVIOUS, Need.HOLDOUT})


def further_tables(needs: AbstractSet[Need]) -> frozenset[str]:
    """The tables next to the release that a check with these needs reads, by their key in a policy."""
    holdout = {Need.HOLDOUT} if Need.HOLDOUT_FOR_DEMANDS in needs else frozenset[Need]()
    return frozenset(one.value for one in TABLES & {*needs, *holdout})


def missing(need: Need, parameters: Parameters, document: PolicyDocument, *, demands: bool) -> Faults:
    """The faults of a policy that does not meet a need: (parameter or "", sentence). `demands`: whether it demands."""
    if need is Need.HOLDOUT_FOR_DEMANDS:
        if demands and document.holdout is None:
            yield "at_most", NO_HOLDOUT
    elif need in _MISSING:
        yield from _MISSING[need](parameters, document)
    elif need in _UNMET and _UNMET[need][0](document):
        yield "", _UNMET[need][1].replace("{unit}", repr(document.unit))


NO_HOLDOUT = (
    "how much the release adds cannot be judged without records that had no part in it; name some in the policy as "
    "`holdout:`, or leave the demand out to measure the attack alone"
)
NO_EARLIER_RELEASE = (
    "no earlier release is named; add `previous:` with the table that was released before, or a list of such tables"
)
NO_KEY = "people are followed through the releases by a key; add `key:` with the attribute that all releases share"
ROWS_OF_TABLES = "it counts the rows of one table, and the policy has several; give that table a separate policy"
PAIRS_OF_TABLES = (
    "it compares the rows of one table with those of another one, and the policy has several; give that table a "
    "separate policy"
)
PAIRS_BY_UNIT = (
    "rows of the table of units are paired with those of the original by the unit, which `fix` draws anew; say "
    "`keep_links: true` where both have the same pseudonyms"
)
PAIRS_OF_UNITS = "only the rows of the table of units are paired with those of an original; name columns of that table"
OF_SINGLE_ROWS = frozenset(
    {Need.ORIGINAL, Need.REGISTRY, Need.PREVIOUS, Need.HOLDOUT, Need.HOLDOUT_FOR_DEMANDS}
)  # tables that a check compares with single rows
CLASSES_OF_TABLES = (
    "the policy names no `unit:` that links its tables, so that only demands which compare two of them can be judged; "
    "give each table a separate policy for this one"
)
NO_RECORDS = "it judges records, and the policy has no table of them, which has `attributes:`; leave it out"
SEVERAL_TABLES = "several tables are judged as whole histories; to judge the rows of one, give it a separate policy"
KNOWN_SECRETS = (
    "over several tables no secret is taken to be known, and none are read together; use `multiple_sensitive: "
    "per_attribute`"
)
UNDEFINED = (
    "it is not defined for whole histories; demand `known_events`, whose details say how little identifies someone"
)
NO_UNIT = (
    "it asks what is known of several rows of a person, and the policy does not say which rows are a person's; add "
    "`unit:` with the column that joins them"
)
NO_UNLINKED_TABLES = (
    "it compares tables that nothing links; name them under `tables:` of a policy without `unit:`. Of linked tables "
    "whole histories are judged, which show more"
)
OWN_CATEGORY = (
    "its classes must not overlap, and under `missing_quasi_identifier: wildcard` they do: a record with a missing "
    "value is in several of them; use `own_category`, under which a missing value is a value of its own"
)


_UNMET: Mapping[Need, tuple[Callable[[PolicyDocument], bool], str]] = {  # when, and why; `unit` is the policy's
    Need.PREVIOUS: (lambda document: document.previous is None, NO_EARLIER_RELEASE),
    Need.ROWS: (lambda document: document.tables is not None, ROWS_OF_TABLES),
    Need.UNIT: (lambda document: document.unit is None and document.household is None, NO_UNIT),
    Need.UNLINKED_TABLES: (lambda document: not document.is_unlinked, NO_UNLINKED_TABLES),
    Need.PARTITION: (lambda document: document.conventions.missing_quasi_identifier == "wildcard", OWN_CATEGORY),
    Need.KEY: (lambda document: document.key is None and document.tables is None, NO_KEY),
}


def missing_tables(needs: AbstractSet[Need], document: PolicyDocument) -> Iterator[str]:
    """The sentences on tables that a check cannot do without, and that the policy leaves to the command."""
    required = {need.value: need for need in (Need.ORIGINAL, Need.REGISTRY) if need in needs}
    required |= {"population": Need.POPULATION_ITSELF} if Need.POPULATION_ITSELF in needs else {}
    for name in required:
        if getattr(document, name) is None:
            yield f"it needs the {name}, which the policy does not name; add `{name}:`, or give it to the audit"
    sizes = (document.population, document.sampling_fraction, document.weight)
    if Need.POPULATION_SIZE in needs and all(one is None for one in sizes):
        yield (
            "nothing in the policy says how large the population is; add `sampling_fraction:`, `weight:` or "
            "`population:`, or give the population to the audit"
        )


def _sensitive(parameters: Parameters, document: PolicyDocument) -> Faults:
    """A sensitive attribute, and the one that the parameters name."""
    sensitive = {name for name, one in document.attributes.items() if one.role is Role.SENSITIVE}
    if not sensitive:
        yield "", "no attribute has the role sensitive"
        return
    for field in ("sensitive", "attribute"):
        named = getattr(parameters, field, None)
        if named is not None and named not in sensitive:
            yield field, f"the policy declares no sensitive attribute {named!r}"


def _declared(parameters: Parameters, document: PolicyDocument) -> Faults:
    for name in _named(parameters):
        if name not in document.attributes and name != document.unit:
            yield "attributes", f"the policy declares no attribute {name!r}"


def _distinct(parameters: Parameters, _: PolicyDocument) -> Faults:
    if len({*_named(parameters)}) < len(_named(parameters)):
        yield "attributes", "an attribute is named twice; name each once"


def _knowable(parameters: Parameters, document: PolicyDocument) -> Faults:
    """Faults of the attributes that are named, else of the quasi-identifiers."""
    own = [name for name, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER]
    for name in sorted({*(_named(parameters) or own)}):
        if name not in document.attributes:
            yield "attributes", f"the policy declares no attribute {name!r}"
        elif name == document.key:
            yield "attributes", f"{name!r} is the key, which an intruder does not have; leave it out"


def _whole_records(_: Parameters, document: PolicyDocument) -> Faults:
    released = (Role.SENSITIVE, Role.INSENSITIVE)
    others = sorted(name for name, one in document.attributes.items() if one.role in released)
    if others:
        yield (
            "",
            (f"{others[0]!r} is no quasi-identifier; the guarantee is of whole records, so every column must be one"),
        )


def _named(parameters: Parameters) -> Sequence[str]:
    return getattr(parameters, "attributes", None) or ()


_MISSING: Mapping[Need, Callable[[Parameters, PolicyDocument], Faults]] = {
    Need.SENSITIVE: _sensitive,
    Need.DECLARED: _declared,
    Need.DISTINCT: _distinct,
    Need.KNOWABLE: _knowable,
    Need.WHOLE_RECORDS: _whole_records,
}
