"""Rebucketize: fewer, wider buckets of one attribute, until the policy is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import fold
from tcdp_audit.plugin.detector import PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.engine import Tree
from tcdp_audit.plugin.remedy import (
    Attribute,
    MergedDemands,
    NewColumn,
    Remedy,
    RemedyError,
    RemedyGuide,
    RemedyParameters,
    RemedyView,
    Treatment,
)
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.buckets import Buckets, consecutive, least_runs, pack
from tcdp_audit_plugins.remedies._shared.recoding import is_ranged
from tcdp_audit_plugins.remedies._shared.scope import only_on_classes
from tcdp_audit_plugins.remedies._shared.search import largest

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST = 256  # different values that are kept; more are joined into so many of near-equal mass first


@dataclass(frozen=True)
class Classes:
    """The equivalence classes of a release, to be merged by joining values of one quasi-identifier."""

    demands: MergedDemands  # what unions of them must keep
    value: Integers  # the code of that quasi-identifier in each class, shape (classes,)
    others: Integers  # one number for all other quasi-identifiers in each class, shape (classes,)

    @classmethod
    def of(cls, view: RemedyView, attribute: Attribute) -> Classes:
        """The classes of a release as it is. Cost: a sort of the records."""
        others = [one for one in view.quasi_identifiers if one.name != attribute.name]
        rest, count = view.classes(others)
        pairs = fold([rest, attribute.codes], [count, attribute.domain.size + 1])
        distinct, classes = np.unique(pairs.values, return_inverse=True)
        number, value = pairs.decode(distinct)
        return cls(MergedDemands(view.demands, classes, len(distinct)), value, number)

    def keep(self, of_value: Integers) -> bool:
        """Say whether all classes keep the demands once values are joined.

        A value with bucket -1 is suppressed, and agrees with anything as a missing one does.

        Cost: a sort of the classes and their sensitive values.
        """
        apart = int(of_value.max(initial=0)) + 1
        bucket = np.append(np.where(of_value < 0, apart, of_value), apart)[self.value]
        merged = np.unique(self.others * (apart + 1) + bucket, return_inverse=True)[1]
        return bool(self.demands.satisfied_by(merged, int(merged.max(initial=-1)) + 1).all())


def concerns(view: RemedyView, outcome: Outcome, attribute: Attribute) -> bool:
    """Say whether buckets of an attribute can matter to an outcome: of a sensitive one only where it is measured."""
    if attribute.declaration.role is Role.QUASI_IDENTIFIER:
        return True
    return attribute.name in _attributes_behind(view).get(outcome.attribute, (outcome.attribute,))


def _attributes_behind(view: RemedyView) -> Mapping[str | None, tuple[str, ...]]:
    """The attributes behind the name that an outcome gives to one or to several read together."""
    return {
        target.name: target.attributes
        for one in view.policy.expectations
        for target in one.check.targets(one.parameters, view.policy.document)
    }


class RebucketizeParameters(RemedyParameters):
    """Parameters of `rebucketize`."""

    attribute: Annotated[Text, Field(description="The attribute whose buckets are joined.")]
    buckets: Annotated[
        int | None, Field(ge=1, description="How many buckets to leave at most; by default as many as pass.")
    ] = None


def faults(parameters: RebucketizeParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    name = parameters.attribute
    declared = document.attributes.get(name)
    if declared is None:
        yield "attribute", f"the policy declares no attribute {name!r}"
    elif declared.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        yield "attribute", f"{name!r} is neither sensitive nor a quasi-identifier: its role is {declared.role.value}"
    elif declared.scale is Scale.ORDINAL and declared.order is None:
        yield (
            "attribute",
            f"neighbours of {name!r} need its order; declare it, for example `order: [low, middle, high]`",
        )


def why_not_applicable(view: RemedyView, parameters: RebucketizeParameters | None, outcome: Outcome) -> str:
    """Say why joining buckets cannot help a failing demand, or nothing."""
    if other := only_on_classes(view, outcome):
        return other
    if parameters is not None:
        attribute = view.attribute(parameters.attribute)
        return "" if concerns(view, outcome, attribute) else f"joins values of {attribute.name!r} only"
    known = (*view.quasi_identifiers, *view.sensitive)
    unasked = any(concerns(view, outcome, one) and _is_in_buckets(one) for one in known)
    return "" if unasked else "no attribute that fails is in buckets"


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Each generalised attribute that something on classes that fails concerns."""
    failing = view.failing_on_classes(outcomes)
    for attribute in (*view.quasi_identifiers, *view.sensitive):
        if any(concerns(view, one, attribute) for one in failing) and _is_in_buckets(attribute):
            yield {"attribute": attribute.name}


def _is_in_buckets(attribute: Attribute) -> bool:
    """Say whether several of its values each cover more than one number, rank or leaf."""
    domain, hierarchy = attribute.domain, attribute.hierarchy
    records = np.bincount(attribute.codes, minlength=domain.size + 1)
    present = np.flatnonzero((records > 0) & ~domain.is_uninformative).tolist()
    if domain.covers is not None:
        wide = [domain.covers[code].low < domain.covers[code].high for code in present]
    elif hierarchy is not None:
        wide = [hierarchy.lineage.get(domain.labels[code], (0,))[0] > 0 for code in present]
    else:
        wide = [domain.labels[code].startswith("{") and ", " in domain.labels[code] for code in present]
    return len(present) > 1 and any(wide)


@dataclass(frozen=True)
class Coarsening:
    """Ways to join the values of an attribute."""

    values: int  # how many values the attribute has now
    numbers: Sequence[int]  # how many buckets there can be instead, ascending, fewer than now
    # the bucket of each value of the domain under one of these numbers; -1 for one that no record has, and for a
    # suppressed one
    into: Callable[[int], Integers]


def coarsening(attribute: Attribute) -> Coarsening:
    """The ways to join the values of an attribute.

    Neighbours on its scale at the least sum over records of the width that they are released with; else the nodes at
    a level of its hierarchy; else any values, to buckets of near-equal mass.

    Raises:
        RemedyError: its generalised values overlap.

    Cost: O(v^2 log v) for v values on a scale, of which at most 256 are kept apart.
    """
    domain = attribute.domain
    masses = np.where(domain.is_uninformative, 0, np.bincount(attribute.codes, minlength=domain.size + 1))[:-1]
    present = np.flatnonzero(masses)
    if len(present) < 2:
        return Coarsening(len(present), (), lambda _: np.full(len(masses), -1))
    if is_ranged(attribute):
        _require_order(attribute)
        return _on_a_scale(attribute, masses, present)
    if attribute.tree is not None:
        return _by_level(attribute.tree, len(masses), present)
    fewer = range(1, len(present))
    return Coarsening(
        len(present), fewer, lambda number: _among_all(pack(masses[present], number), present, len(masses))
    )


def _among_all(buckets: Integers, present: Integers, size: int) -> Integers:
    """The buckets of some values among all of a domain."""
    of_value = np.full(size, -1)
    of_value[present] = buckets
    return of_value


def _require_order(attribute: Attribute) -> None:
    domain = attribute.domain
    if domain.covers is None:
        return
    known = tuple(cover for code, cover in enumerate(domain.covers) if code not in domain.suppressed)
    if not replace(domain, covers=known).is_ordered:
        raise RemedyError(
            f"generalised values of {attribute.name!r} overlap, so that they have no neighbours; begin with values "
            "that do not"
        )


def _on_a_scale(attribute: Attribute, masses: Integers, present: Integers) -> Coarsening:
    joined = consecutive(masses[present], min(MOST, len(present)))
    starts = np.append(np.flatnonzero(np.diff(joined, prepend=-1)), len(present))
    ends = np.concatenate([[0], np.cumsum(masses[present])])[starts]
    low, high = (end[present] for end in _finite(attribute))
    low, high = low[starts[:-1]], high[starts[1:] - 1]
    if attribute.is_numeric:
        high[:-1] = low[1:]  # numbers are released up to where the next bucket begins
    most = len(starts) - 2
    runs = least_runs(most + 1, most, lambda a, b: (ends[b] - ends[a]) * (high[b - 1] - low[a]))
    fewer = range(1, most + 1)
    return Coarsening(len(present), fewer, lambda number: _among_all(runs.into(number)[joined], present, len(masses)))


def _finite(attribute: Attribute) -> list[Floats]:
    """The lower and upper ends of what the values cover; an infinite one is the last finite one."""
    ends = np.concatenate(attribute.bounds)
    known = ends[np.isfinite(ends)]
    return [end.clip(known.min(), known.max()) if len(known) else np.zeros_like(end) for end in attribute.bounds]


def _by_level(tree: Tree, size: int, present: Integers) -> Coarsening:
    nodes = [np.unique(ancestors[present], return_inverse=True)[1] for ancestors in tree.ancestors]
    lowest = {int(node.max()) + 1: node for node in reversed(nodes)}
    numbers = [number for number in sorted(lowest) if number < len(present)]
    return Coarsening(len(present), numbers, lambda number: _among_all(lowest[number], present, size))


def apply(view: RemedyView, parameters: RebucketizeParameters) -> Treatment:
    """Join neighbouring buckets of an attribute, as few of them as the policy demands.

    Raises:
        RemedyError: there is nothing to join, or even the fewest buckets do not pass.

    Cost: O(log v) trials for v buckets: each a sort of the classes for a quasi-identifier, an audit otherwise.
    """
    attribute = view.attribute(parameters.attribute)
    ways = coarsening(attribute)
    if not ways.numbers:
        number_of = "only one" if ways.values else "no"
        raise RemedyError(f"{attribute.name!r} has {number_of} value that could be joined")
    if parameters.buckets is not None:
        number, trials = _within(attribute, ways, parameters.buckets), 0
    else:
        number, trials = _passing(view, attribute, ways)
    notes = {"values": ways.values, "buckets": number, "trials": trials}
    return Treatment(columns={attribute.name: _column(attribute, ways.into(number))}, notes=notes)


def _within(attribute: Attribute, ways: Coarsening, limit: int) -> int:
    within = [number for number in ways.numbers if number <= limit]
    if not within or limit >= ways.values:
        raise RemedyError(
            f"{attribute.name!r} has {ways.values} different values already; joining them leaves fewer, not {limit}"
        )
    return within[-1]


def _passing(view: RemedyView, attribute: Attribute, ways: Coarsening) -> tuple[int, int]:
    """The largest number of buckets that passes, and how many numbers were tried."""
    least = 2 if attribute.declaration.role is Role.SENSITIVE else 1  # a single bucket is uninformative
    numbers = [number for number in ways.numbers if number >= least]
    passes, tried = _judge(view, attribute), list[int]()

    def attained(position: int) -> bool:
        tried.append(position)
        return passes(ways.into(numbers[position]))

    position = largest(attained, 0, len(numbers) - 1)
    if position is None:
        fewest = f"even {numbers[0]} of them do not pass" if numbers else f"{least} is the least there can be"
        raise RemedyError(f"joining the {ways.values} values of {attribute.name!r} does not help: {fewest}")
    return numbers[position], len(tried)


def _judge(view: RemedyView, attribute: Attribute) -> Callable[[Integers], bool]:
    """The rule that says whether buckets suffice.

    The demands on classes, where those of a quasi-identifier fail them; else an audit, because the buckets of a
    sensitive attribute change the distributions that closeness is measured against.
    """
    if attribute.declaration.role is Role.QUASI_IDENTIFIER and view.demands:
        classes = Classes.of(view, attribute)
        if not classes.keep(np.arange(attribute.domain.size)):
            return classes.keep
    if not any(one.blocks and concerns(view, one, attribute) for one in view.outcomes):
        raise RemedyError(f"nothing that fails concerns {attribute.name!r}; name `buckets` to join its values anyway")

    def audited(of_value: Integers) -> bool:
        outcomes = view.audited(Treatment(columns={attribute.name: _column(attribute, of_value)}))
        return not any(one.blocks and concerns(view, one, attribute) for one in outcomes)

    return audited


def _column(attribute: Attribute, of_value: Integers) -> NewColumn:
    """The attribute in buckets; a suppressed cell stays, and so does a missing one."""
    labels = Buckets(attribute, of_value).labels()
    suppressed = sorted(attribute.domain.suppressed)
    cells = [*labels.cells, *(attribute.domain.labels[code] for code in suppressed)]
    position = np.full(attribute.domain.size + 1, -1)
    position[suppressed] = np.arange(len(labels.cells), len(cells))
    position[attribute.domain.size] = len(cells)
    own = position[attribute.codes]
    return NewColumn.of_texts(cells, np.where(own < 0, labels.codes, own))


REBUCKETIZE = Remedy(
    name="rebucketize",
    title="Rebucketize",
    summary="Joins neighbouring values or buckets of one attribute into fewer, wider ones until the policy is kept.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("rebucketize.md")),
    parameters=RebucketizeParameters,
    apply=apply,
    validate=faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
)
