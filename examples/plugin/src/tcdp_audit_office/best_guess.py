"""A check on equivalence classes: one figure a class, and every class must keep the demand."""

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


class BestGuessParameters(AttributeParameters):
    """Parameters of `best_guess`."""

    at_most: Annotated[Exact | None, Field(gt=0, le=1, description="The largest share of the commonest value.")] = None


def best_guess(evidence: ClassEvidence, _: BestGuessParameters) -> Ratios:
    """The share of the commonest value in every class, max_i c_i / n, as an exact fraction."""
    histogram, _marginal = evidence.sensitive
    return Ratios(histogram.max(histogram.counts), histogram.total)


BEST_GUESS = ClassCheck(
    name="best_guess",
    title="Best guess",
    disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
    parameters=BestGuessParameters,
    thresholds=(Threshold("at_most", Comparison.AT_MOST, best_guess, "share of the commonest value"),),
    monotone=lambda _: True,  # a share in a union lies between the shares in its parts
    on_attribute=True,
    guide=Guide(
        definition="No sensitive value takes more than a given share of an equivalence class.",
        formula="max over E of max_i p_i <= at_most",
        reading="How often an intruder who finds the class and guesses its commonest value is right.",
        choosing="At most one half, so that no guess is more often right than wrong.",
        source="Wong et al. (2006), definition 2",
        example="- best_guess: {at_most: 1/2, attribute: disease}",
    ),
)
