"""t-closeness: how far the sensitive attribute in a class is from what is known about everyone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import partial
from math import inf
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, ConfigDict, Field

from tcdp_audit.plugin.check import AttributeParameters, ClassCheck, ClassEvidence, DisclosureType, Measured, Threshold
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks._shared import distances
from tcdp_audit_plugins.checks._shared.sensitive_values import (
    LEAST_MEMBERS,
    SHARED_PARTS,
    may_be_shared,
    on_shared_value,
    over_represented_value,
)
from tcdp_audit_plugins.guides import built_in_guide

EARTH_MOVERS = ("emd", "earth mover", "earth movers", "earth mover's distance", "wasserstein")


class Distance(StrEnum):
    """The distance between two distributions."""

    EQUAL = "equal"
    ORDERED = "ordered"
    NUMERIC = "numeric"
    HIERARCHICAL = "hierarchical"
    MULTIPLICATIVE = "multiplicative"
    KULLBACK_LEIBLER = "kullback_leibler"
    JENSEN_SHANNON = "jensen_shannon"


def _no_family(value: Any) -> Any:
    """The distance that was named. The earth mover's is a family of them, one for each scale."""
    if str(value).lower().replace("_", " ").strip() in EARTH_MOVERS:
        raise ValueError(
            "the earth mover's distance depends on the scale: `ordered` (by rank), `numeric` (by difference), "
            "`hierarchical` (by a hierarchy) or `equal`; name one"
        )
    return value


def _range_of_t(schema: dict[str, Any]) -> None:
    """Say in the JSON Schema, too, which t each distance takes; the default distance is `equal`."""
    ranges: dict[str, Any] = {
        "multiplicative": {"minimum": 1},
        "kullback_leibler": {"type": "null"},
        "jensen_shannon": {"type": "null"},
    }
    otherwise: dict[str, Any] = {"properties": {"t": {"maximum": 1}}}
    for distance, allowed in ranges.items():
        chosen = {"required": ["distance"], "properties": {"distance": {"const": distance}}}
        otherwise = {"if": chosen, "then": {"properties": {"t": allowed}}, "else": otherwise}
    schema.update(otherwise)


class ClosenessParameters(AttributeParameters):
    """Parameters of `t_closeness`."""

    model_config = ConfigDict(json_schema_extra=_range_of_t)

    t: Annotated[
        Exact | None,
        Field(
            ge=0,
            description="The largest distance from the table's distribution: at least 1 for multiplicative, at most 1 "
            "for the others; none for the two divergences.",
        ),
    ] = None
    distance: Annotated[
        Distance,
        Field(
            strict=False,
            description="equal: all values are equally far apart; ordered: by rank; numeric: by difference; "
            "hierarchical: by the lowest common ancestor; multiplicative: by ratio; kullback_leibler, jensen_shannon: "
            "divergences in nats, measured only.",
        ),
        BeforeValidator(_no_family),
    ] = Distance.EQUAL


@dataclass(frozen=True)
class Kind:
    """The needs of a distance, and the t that there can be: a range, or none where it is only measured."""

    measure: Callable[[ClassEvidence], Measured | NDArray[Any]]
    name: str
    scales: frozenset[Scale] | None = None
    hierarchy: bool = False
    range: tuple[int, float] | None = (0, 1)


def _numeric(evidence: ClassEvidence) -> Measured:
    if evidence.values is None:
        raise CheckError("the numeric distance needs numbers; the attribute is not numeric, or holds ranges")
    return distances.numeric_distance(*evidence.sensitive, evidence.values)


def _hierarchical(evidence: ClassEvidence) -> Measured:
    if evidence.tree is None:
        raise CheckError("the hierarchical distance needs an attribute with a hierarchy")
    return distances.hierarchical_distance(*evidence.sensitive, evidence.tree)


KINDS: Mapping[Distance, Kind] = {
    Distance.EQUAL: Kind(lambda one: distances.equal_distance(*one.sensitive), "equal distance"),
    Distance.ORDERED: Kind(
        lambda one: distances.ordered_distance(*one.sensitive),
        "ordered distance",
        scales=frozenset({Scale.ORDINAL, Scale.NUMERIC}),
    ),
    Distance.NUMERIC: Kind(_numeric, "numeric distance", scales=frozenset({Scale.NUMERIC})),
    Distance.HIERARCHICAL: Kind(_hierarchical, "hierarchical distance", hierarchy=True),
    Distance.MULTIPLICATIVE: Kind(
        lambda one: distances.multiplicative_distance(*one.sensitive),
        "multiplicative distance",
        range=(1, float("inf")),
    ),
    Distance.KULLBACK_LEIBLER: Kind(
        lambda one: distances.kullback_leibler(*one.sensitive), "Kullback-Leibler divergence", range=None
    ),
    Distance.JENSEN_SHANNON: Kind(
        lambda one: distances.jensen_shannon(*one.sensitive), "Jensen-Shannon divergence", range=None
    ),
}


def closeness(evidence: ClassEvidence, parameters: ClosenessParameters) -> Measured | NDArray[Any]:
    """Distance between the class's and the reference's distribution, for every class.

    Returns:
        Shape (classes,). Exact fractions from 0 to 1 for the earth mover's distances, from 1 to infinity for
        `multiplicative`; float64 in nats for the divergences.

    Cost: that of the distance: linear in the pairs of class and value, times a logarithm for `ordered` and `numeric`,
    times the height for `hierarchical`.

    Source: Li, Li, Venkatasubramanian (2007), definition 1 and sections 4.1-4.2; Domingo-Ferrer, Soria-Comas (2015),
    definition 4 for `multiplicative`.
    """
    return KINDS[parameters.distance].measure(evidence)


MOST_VALUES = 30  # of an attribute whose moves are listed


LEAST_VALUES = 8  # of an attribute whose quarters say little about a single value
ONE_WAY = 0.5  # the part of a distance from which on its direction is given


def _worst_details(evidence: ClassEvidence, parameters: ClosenessParameters) -> dict[str, Any]:
    """The number of values, and how the worst class differs from the reference.

    The flow is that of the two distances that Li et al. define, of a class with `LEAST_MEMBERS` at least. Values
    have the ranks of the domain, from 1; fractions are texts, so that a reader can add them up.
    """
    details: dict[str, Any] = {"domain_size": evidence.sensitive[1].size}
    if parameters.distance is Distance.EQUAL:
        details |= over_represented_value(evidence)
    if parameters.distance in (Distance.ORDERED, Distance.NUMERIC):
        details |= _shift(evidence)
    if evidence.sensitive[0].members[0] < LEAST_MEMBERS:  # the moves of a few would show their values
        return details
    if parameters.distance is Distance.ORDERED:
        return {**details, "flow": _listed(evidence, distances.ordered_flow)}
    if parameters.distance is Distance.HIERARCHICAL and evidence.tree is not None:
        return {**details, "flow": _listed(evidence, partial(distances.hierarchical_flow, tree=evidence.tree))}
    return details


def _listed(evidence: ClassEvidence, flow: Callable[..., Any]) -> list[dict[str, Any]]:
    moves = flow(*evidence.sensitive) if evidence.sensitive[1].size <= MOST_VALUES else []
    return [{"from": one.start + 1, "to": one.end + 1, "share": str(one.share), "cost": str(one.cost)} for one in moves]


def _shift(evidence: ClassEvidence) -> dict[str, Any]:
    """The detail `shift`: whether the values of the worst class are higher or lower, and by how much.

    Returns:
        `way` is 1 where they are higher on average, -1 where they are lower, 0 where they are both. `by` is the mean
        distance in the attribute's own unit, to two significant digits, and absent for classes below `LEAST_MEMBERS`:
        their mean would be close to a cell. `quarter` is where the mean rank lies among the reference, 1 the lowest,
        absent where the attribute has few values; `shared_value` is there then. Empty where members have several
        values.

    Cost: O(domain).
    """
    histogram, marginal = evidence.sensitive
    if marginal.units is not None:
        return {}
    p, q = np.zeros(marginal.size), marginal.weights / marginal.total
    p[histogram.values] = histogram.counts / histogram.total[0]
    beyond = np.cumsum(q - p)[:-1]  # the part of the class that lies beyond each value, less that of the reference
    higher, distance = float(beyond.sum()), float(np.abs(beyond).sum())
    way = 0 if abs(higher) < ONE_WAY * distance or not distance else 1 if higher > 0 else -1
    shift: dict[str, Any] = {"way": way}
    numbers = _numbers(evidence)
    if numbers is not None and histogram.total[0] >= LEAST_MEMBERS:
        by = np.diff(numbers) * (beyond if way else np.abs(beyond))
        shift["by"] = float(f"{abs(float(by.sum())):.2g}")
    if np.count_nonzero(marginal.weights) < LEAST_VALUES:
        return {"shift": shift, **over_represented_value(evidence)}
    rank = float((p * (np.cumsum(q) - q / 2)).sum())
    return {"shift": {**shift, "quarter": min(int(4 * rank), 3) + 1}}


def _numbers(evidence: ClassEvidence) -> NDArray[np.float64] | None:
    """The domain as numbers, be its scale numeric or its order one of numbers; None where it has others."""
    if evidence.values is not None:
        return evidence.values.astype(np.float64)
    try:
        return np.array([float(Fraction(one)) for one in evidence.labels])
    except ValueError:
        return None


def _threshold_faults(parameters: ClosenessParameters, _: PolicyDocument) -> Iterator[tuple[str, str]]:
    kind, t = KINDS[parameters.distance], parameters.t
    if t is None:
        return
    if kind.range is None:
        yield "t", f"the {kind.name} is a measure without a threshold; leave out t, or choose another distance"
    elif t < kind.range[0]:
        yield (
            "t",
            f"must be at least 1 for the {kind.name}, which is 1 where a class is like the table and grows from there",
        )
    elif t > kind.range[1]:
        yield "t", f"must be at most 1 for the {kind.name}, which never exceeds it; only `multiplicative` takes more"


REFERENCES = {"release": "the whole table", "original": "the original table", "declared": "the declared distribution"}
EVERYONE = {
    "release": "everyone's",
    "original": "everyone's in the original",
    "declared": "what the policy declares",
}


def _values(outcome: Outcome) -> dict[str, Any]:
    """The distance and the reference by name, and in which way the worst class differs from it."""
    reference = outcome.conventions.get("reference", "release")
    distances = ((distance, classes) for distance, classes, _ in outcome.details["distribution"])
    return {
        "distance_name": KINDS[Distance(outcome.parameters["distance"])].name,
        "reference": REFERENCES[reference],
        "other_reference": reference != "release",
        "infinitely_far": sum(int(classes) for distance, classes in distances if distance == inf),
        "everyone": EVERYONE[reference],
        "is_single": "shift" in outcome.details and not may_be_shared(outcome),
        "amount": _amount(outcome),
        **on_shared_value(outcome),
    }


def _amount(outcome: Outcome) -> str:
    """The distance in the attribute's own unit: `3 days`; empty where there is none, or nothing to say it in."""
    unit = outcome.naming.measured_in.get(outcome.attribute or "")
    by = outcome.details.get("shift", {}).get("by")
    if not unit or not by or may_be_shared(outcome):
        return ""
    return f"{'1.0' if by == 1 else f'{by:,.12g}'} {unit}"


T_CLOSENESS = ClassCheck(
    name="t_closeness",
    title="t-closeness",
    disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
    parameters=ClosenessParameters,
    thresholds=(Threshold("t", Comparison.AT_MOST, closeness, "distance from the table"),),
    on_attribute=True,
    worst_details=_worst_details,
    scales=lambda parameters: KINDS[parameters.distance].scales,
    needs_hierarchy=lambda parameters: KINDS[parameters.distance].hierarchy,
    monotone=lambda _: True,  # every distance is convex, or a maximum of ratios of convex and concave figures
    variant=lambda parameters: KINDS[parameters.distance].name,
    validate=_threshold_faults,
    sentences=Sentences(
        passed=(
            "Every {record} is in a group whose mix of {attribute} differs from {reference} by at most {threshold} "
            "({distance_name}); [{classes=1?}the only group|the furthest of {classes:group}] differs "
            "{far}.{why_infinite}"
        ),
        failed=(
            "{victims} whose mix of {attribute} differs from {reference} by more than {threshold} "
            "({distance_name}); the furthest differs {far}.{why_infinite}"
        ),
        measured=(
            "The mix of {attribute} in [{classes=1?}the only group|the furthest of {classes:group}], of "
            "{worst_people}, differs from {reference} {far} ({distance_name})[{threshold?}|; the policy sets no "
            "threshold].{why_infinite}"
        ),
        impact=("{in_worst_group} [{infinite?}{beyond}|{deviation}]."),
        no_impact="{in_worst_group} {attribute} is as mixed as in {whole}.",
        parts={
            "far": "[{infinite?}without bound|by {observed}]",
            "worst_group": "the group furthest from {whole}",
            "why_infinite": "[{infinitely_far>0?} {infinitely_far:group} {lacking}.]",
            "lacking": {
                "by": "distance",
                "multiplicative": (
                    "{infinitely_far:lacks|lack} a value that {reference} has[{other_reference?} (or "
                    "{infinitely_far:has|have} one that it lacks)]; merge rare values into buckets (bucketisation), "
                    "so that every group can have each of them"
                ),
                "kullback_leibler": "{infinitely_far:has|have} a value that {reference} lacks",
                "": (
                    "{infinitely_far:lacks|lack} every value of the attribute, so there is no distribution to compare"
                ),
            },
            **SHARED_PARTS,
            "beyond": {
                "by": "distance",
                "multiplicative": (
                    "a value of {attribute} is ruled out, or possible only there, compared with {reference}"
                ),
                "kullback_leibler": "a value of {attribute} is possible only there, compared with {reference}",
                "": "none has a value of {attribute}",
            },
            "to_change": "the mix of {attribute} differs from {reference} by {observed:%}",
            "shifted": (
                "[{shift.way=0?}{shift.quarter?}the values of {attribute} lie closer together or further apart than "
                "{everyone}|{amount?}{attribute} is on average {amount} {above} {everyone}"
                "|{shift.quarter?}{attribute} is on average in the {quarter} quarter of {whole}|{same_value}]"
            ),
            "above": {"by": "shift.way", "1": "above", "-1": "below", "": "away from"},
            "quarter": {
                "by": "shift.quarter",
                "1": "lowest",
                "2": "second lowest",
                "3": "second highest",
                "4": "highest",
            },
            "deviation": {
                "by": "distance",
                "equal": "[{is_counted?}{same_value}|{to_change}]",
                "ordered": "[{is_single?}{shifted}|{to_change}]",
                "numeric": "[{is_single?}{shifted}|{to_change}]",
                "hierarchical": (
                    "{attribute} lies {observed:%} of the hierarchy's height away from {reference}, on average"
                ),
                "multiplicative": (
                    "a value of {attribute} is up to {observed} times as likely, or as unlikely, compared with "
                    "{reference}"
                ),
                "": "the values of {attribute} differ from {reference} by {observed} nats",
            },
        },
        values=_values,
    ),
    guide=built_in_guide(__file__, "t_closeness.md"),
)
CHECKS = [T_CLOSENESS]
