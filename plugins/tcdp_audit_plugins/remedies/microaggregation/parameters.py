"""The parameters of microaggregation, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.plugin.detector import PolicyDocument, Role, Text
from tcdp_audit.plugin.remedy import RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.pair_demands import failing_pairs
from tcdp_audit_plugins.remedies.microaggregation.points import has_numbers

MANY = 10_000  # records, beyond which clustering them again and again takes too long to be tried unasked


class Method(StrEnum):
    """A way to cluster records."""

    REFINED = "refined"
    MDAV = "mdav"


class Closeness(StrEnum):
    """A way to keep the policy's demands on classes beyond k."""

    MERGE = "merge"
    FIRST = "first"
    NONE = "none"


class MicroaggregationParameters(RemedyParameters):
    """Parameters of `microaggregation`."""

    k: Annotated[
        int | None,
        Field(
            ge=2,
            description="The least number of records in a cluster; by default the largest k of the policy, and where a "
            "demand that compares the release with its original fails the least that does.",
        ),
    ] = None
    method: Annotated[
        Method,
        Field(
            strict=False,
            description="refined: an optimal cut of a path and local search, for a single attribute the optimum; mdav: "
            "clusters of k around extreme records.",
        ),
    ] = Method.REFINED
    closeness: Annotated[
        Closeness,
        Field(
            strict=False,
            description="merge: clusters that fail a demand on classes are merged; first: clusters take one record of "
            "every quantile of a confidential attribute, what still fails is merged; none: only k is kept.",
        ),
    ] = Closeness.MERGE
    attribute: Annotated[
        Text | None,
        Field(description="The confidential attribute of `closeness: first`; by default the only sensitive one."),
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The quasi-identifiers to aggregate, together; by default all of them."),
    ] = None
    blocks: Annotated[
        list[Annotated[list[Text], Field(min_length=1)]] | None,
        Field(
            min_length=1,
            description="In place of `attributes`: blocks of quasi-identifiers, each clustered by itself. Then classes "
            "have fewer than k records, and only demands beside the original are helped.",
        ),
    ] = None
    rounded: Annotated[
        bool, Field(description="Means of whole numbers are rounded to whole numbers; others never are.")
    ] = True


def faults(parameters: MicroaggregationParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    paired = document.key is not None or document.rows_aligned
    if parameters.k is None and not paired and not any(_names_k(one) for one in document.expect):
        yield "k", "the policy demands no k of its classes; say how many records a cluster has at least"
    in_blocks = [name for block in parameters.blocks or () for name in block]
    for field, names in (("attributes", parameters.attributes or ()), ("blocks", in_blocks)):
        for name in names:
            if name not in document.attributes or document.attributes[name].role is not Role.QUASI_IDENTIFIER:
                yield field, f"{name!r} is no quasi-identifier of the policy"
    if len(set(in_blocks)) < len(in_blocks):
        yield "blocks", "an attribute is in two blocks"
    if in_blocks and parameters.attributes is not None:
        yield "blocks", "give blocks, or attributes that are aggregated together, not both"
    if in_blocks and parameters.closeness is not Closeness.NONE and "closeness" in parameters.model_fields_set:
        yield "blocks", "clusters of a block are no classes, so that they keep no demand on classes; leave `closeness`"
    yield from _confidential_faults(parameters, document)


def _names_k(expectation: dict[str, Any]) -> bool:
    return any(isinstance(given, dict) and given.get("k") is not None for given in expectation.values())


def _confidential_faults(parameters: MicroaggregationParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    sensitive = [name for name, one in document.attributes.items() if one.role is Role.SENSITIVE]
    if parameters.closeness is not Closeness.FIRST:
        if parameters.attribute is not None:
            yield "attribute", "only `closeness: first` starts from a confidential attribute"
    elif parameters.attribute is not None and parameters.attribute not in sensitive:
        yield "attribute", f"{parameters.attribute!r} is no sensitive attribute of the policy"
    elif parameters.attribute is None and len(sensitive) != 1:
        yield "attribute", f"the policy has {len(sensitive)} sensitive attributes; name the one to start from"


def why_not_applicable(view: RemedyView, parameters: MicroaggregationParameters | None, outcome: Outcome) -> str:
    """Why clusters cannot help a failing demand, or why they are not tried unasked; or nothing."""
    on_classes = bool(view.failing_on_classes([outcome]))
    if not on_classes and not failing_pairs(view, [outcome]):
        return "only for demands on equivalence classes, or that compare the release with its original"
    if parameters is not None:
        blocks = on_classes and parameters.blocks is not None
        return "clusters of blocks of attributes are no classes" if blocks else ""
    known = view.quasi_identifiers
    if not known or not all(has_numbers(one) for one in known):
        return "only where all quasi-identifiers are numeric or ordinal"
    return "" if on_classes or view.records <= MANY else f"takes minutes beyond {MANY:,} records"


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where all quasi-identifiers are numeric or ordinal and a demand on classes or pairs fails.

    Args:
        view: the release.
        outcomes: what stands against it.
    """
    if all(why_not_applicable(view, None, one) for one in outcomes):
        return
    failing = view.failing_on_classes(outcomes)
    if not failing:
        yield {}
        return
    k = max(view.demanded_k or 2, 2)
    yield {"k": k}
    sensitive = {one.name for one in view.sensitive}
    for name in sorted({one.attribute for one in failing if one.attribute is not None} & sensitive):
        yield {"k": k, "closeness": Closeness.FIRST.value, "attribute": name}
