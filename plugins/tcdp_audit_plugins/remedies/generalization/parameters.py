"""The parameters of generalization, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.remedy import RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.class_size import ClassSize
from tcdp_audit_plugins.remedies._shared.scope import only_by_size
from tcdp_audit_plugins.remedies.generalization.losses import Measure

Widths = Annotated[list[Annotated[Exact, Field(gt=0)]], Field(min_length=1)]


class GeneralizationParameters(RemedyParameters):
    """Parameters of `generalization`."""

    loss: Annotated[
        Measure,
        Field(
            strict=False,
            description="What is made least: ncp, the normalised certainty penalty; discernibility, the sum of squared "
            "class sizes; average_class_size, records over classes.",
        ),
    ] = Measure.NCP
    suppression: Annotated[
        Exact, Field(ge=0, lt=1, description="The largest share of records that may be suppressed instead.")
    ] = Fraction(0)
    levels: Annotated[
        dict[Text, Annotated[int, Field(ge=0)]] | None,
        Field(min_length=1, description="Levels that are fixed, by attribute; 0 leaves its values as they are."),
    ] = None
    bins: Annotated[
        dict[Text, Widths] | None,
        Field(
            min_length=1,
            description="Widths of bins for numeric attributes, in place of a hierarchy: {age: [5, 10, 20]}; each a "
            "multiple of the one before.",
        ),
    ] = None
    local_recoding: Annotated[
        bool,
        Field(
            description="Whether classes get finer labels afterwards, each by itself, as far as every demand is kept, "
            "suppressed records among them."
        ),
    ] = False
    k: ClassSize = None


def faults(parameters: GeneralizationParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    for field in ("levels", "bins"):
        for name in getattr(parameters, field) or ():
            declared = document.attributes.get(name)
            if declared is None or declared.role is not Role.QUASI_IDENTIFIER:
                yield field, f"{name!r} is no quasi-identifier of the policy"
            elif field == "bins" and declared.scale is not Scale.NUMERIC:
                yield field, f"bins need {name!r} to be numeric; declare `scale: numeric`, or give it a hierarchy"
    for name, widths in (parameters.bins or {}).items():
        if any(wider <= width or wider % width for width, wider in pairwise(widths)):
            yield "bins", f"each width of {name!r} must be a multiple of the one before, so that bins join into bins"


def why_not_applicable(view: RemedyView, parameters: GeneralizationParameters | None, outcome: Outcome) -> str:
    """Why climbing hierarchies cannot help a failing demand, or nothing."""
    if other := only_by_size(view, outcome, sized=parameters is None or parameters.k is not None):
        return other
    unasked = parameters is None and all(one.hierarchy is None for one in view.quasi_identifiers)
    return "no quasi-identifier has a hierarchy" if unasked else ""
