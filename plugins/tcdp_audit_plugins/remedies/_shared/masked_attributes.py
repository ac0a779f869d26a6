"""The attributes that are masked: those that a policy names, or every quasi-identifier that can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.plugin.detector import PolicyDocument, Role, Scale
from tcdp_audit.plugin.remedy import Attribute, RemedyError, RemedyView

MASKED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


def masked_faults(names: Sequence[str] | None, document: PolicyDocument, *, ordered: bool) -> Iterator[tuple[str, str]]:
    """Faults of named attributes that the policy shows: (parameter, sentence).

    Args:
        names: the attributes; None for the quasi-identifiers.
        document: the policy.
        ordered: whether values need an order.
    """
    if len(set(names or ())) < len(names or ()):
        yield "attributes", "an attribute is named twice"
    for name in names or ():
        declared = document.attributes.get(name)
        if declared is None or declared.role not in MASKED:
            yield "attributes", f"{name!r} is neither a quasi-identifier nor a sensitive attribute of the policy"
        elif ordered and not declared.is_ordered:
            yield (
                "attributes",
                f"the values of {name!r} have no order; declare `scale: numeric`, or `scale: ordinal` with its `order`",
            )


def is_orderable(attribute: Attribute) -> bool:
    """Whether its values are numbers or ranks, and no generalised ones but suppressed cells overlap."""
    if not attribute.declaration.is_ordered:
        return False
    tells = ~attribute.domain.is_uninformative[:-1]
    low, high = (ends[tells] for ends in attribute.bounds)
    return bool((high[:-1] <= low[1:]).all())


def masked_attributes(view: RemedyView, names: Sequence[str] | None, *, ordered: bool) -> list[Attribute]:
    """The attributes to mask, in the order of their names; values of ordered ones can be put in order.

    Raises:
        RemedyError: there is none, or generalised values of a named one overlap.
    """
    if names is None:
        chosen = [one for one in view.quasi_identifiers if is_orderable(one) or not ordered]
    else:
        chosen = view.attributes(sorted(names))
    unordered = [one.name for one in chosen if ordered and not is_orderable(one)]
    if unordered:
        raise RemedyError(
            f"generalised values of {unordered[0]!r} overlap, so that they have no order; mask before generalising"
        )
    if not chosen:
        kind = " that is numeric or ordinal with non-overlapping values" if ordered else ""
        raise RemedyError(f"the release has no quasi-identifier{kind}; name the `attributes` to mask")
    return chosen


def masked_numbers(view: RemedyView, names: Sequence[str] | None, masking: str) -> list[Attribute]:
    """The numeric attributes to mask, in the order of their names; none of their values is a range.

    Args:
        view: the release.
        names: the attributes; None for the numeric quasi-identifiers.
        masking: what is done to them, such as `numbers are rounded; round`.

    Raises:
        RemedyError: there is none, or one has ranges.
    """
    if names is None:
        chosen = [one for one in view.quasi_identifiers if one.scale is Scale.NUMERIC]
    else:
        chosen = view.attributes(sorted(names))
    if not chosen:
        raise RemedyError("the release has no numeric quasi-identifier; name the `attributes` to mask")
    for one in chosen:
        if (one.ranges.low < one.ranges.high)[~one.domain.is_uninformative[:-1]].any():
            raise RemedyError(f"column {one.name!r} has ranges, and {masking} before generalising")
    return chosen
