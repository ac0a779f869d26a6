"""The parameters of rank swapping, and when it is proposed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.detector import Exact
from tcdp_audit_plugins.remedies._shared.masking import NO_ORDER, Masking, MaskingParameters, Names


class Variant(StrEnum):
    """A way to draw who swaps with whom."""

    PLAIN = "plain"
    P_DISTRIBUTION = "p_distribution"


class RankSwappingParameters(MaskingParameters):
    """Parameters of `rank_swapping`."""

    percent: Annotated[
        Exact | None,
        Field(
            gt=0,
            le=100,
            description="plain: how many ranks two values that are swapped may be apart, in percent of the records "
            "with a value; p_distribution: twice the mean of that distance. By default the least that does.",
        ),
    ] = None
    variant: Annotated[
        Variant,
        Field(
            strict=False,
            description="plain: partners at most `percent` apart; p_distribution: partners at distances from a normal "
            "distribution, which has no bound.",
        ),
    ] = Variant.PLAIN
    attributes: Annotated[
        Names | None,
        Field(
            description="The attributes to swap, each by itself; by default the numeric and ordinal quasi-identifiers."
        ),
    ] = None

    @property
    def names(self) -> list[str] | None:
        """The attributes to swap; None for the quasi-identifiers."""
        return self.attributes

    @property
    def chooses_strength(self) -> bool:
        """Whether there is no percentage."""
        return self.percent is None


MASKING = Masking(RankSwappingParameters, unfit=NO_ORDER, suggested=[{"variant": variant.value} for variant in Variant])
