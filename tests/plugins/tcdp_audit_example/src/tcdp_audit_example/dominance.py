"""A check: the share of a class that its commonest sensitive value takes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import (
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Guide,
    Ratios,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.sentences import Comparison


class DominanceParameters(AttributeParameters):
    """Parameters of `example_dominance`."""

    at_most: Annotated[Exact | None, Field(gt=0, le=1, description="The largest share of one value.")] = None


def dominance(evidence: ClassEvidence, _: DominanceParameters) -> Ratios:
    """Share of the commonest value, max_i c_i / n, for every class; an exact fraction."""
    histogram, _marginal = evidence.sensitive
    return Ratios(histogram.max(histogram.counts), histogram.total)


DOMINANCE = ClassCheck(
    name="example_dominance",
    title="Dominance",
    disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
    parameters=DominanceParameters,
    thresholds=(Threshold("at_most", Comparison.AT_MOST, dominance, "share of the commonest value"),),
    monotone=lambda _: True,  # a share in a union lies between the shares in its parts
    on_attribute=True,
    guide=Guide(
        definition="No sensitive value takes more than a given share of an equivalence class.",
        formula="max_E max_i p_i ≤ share",
        reading="The probability with which an intruder who finds the class guesses the value right.",
        choosing="Below one half, so that no guess is more often right than wrong.",
        source="Wong et al., (alpha, k)-anonymity, KDD 2006, definition 2",
        example="- example_dominance: {at_most: 0.5, attribute: disease}",
    ),
)
