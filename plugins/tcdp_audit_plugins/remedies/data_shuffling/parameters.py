"""The parameters of data shuffling, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit_plugins.remedies._shared.masking import (
    NO_ORDER,
    Fault,
    Masking,
    MaskingParameters,
    Names,
    masked_faults,
)


class DataShufflingParameters(MaskingParameters):
    """Parameters of `data_shuffling`."""

    proximity: Annotated[
        Annotated[Exact, Field(ge=0, lt=1)] | None,
        Field(
            description="The correlation of what is left of a record's scores, given the attributes that stay, before "
            "and after; 0 is data shuffling as published. By default the largest that does."
        ),
    ] = None
    attributes: Annotated[
        Names | None,
        Field(description="The attributes to shuffle, together; by default the numeric and ordinal quasi-identifiers."),
    ] = None
    given: Annotated[
        Names | None,
        Field(
            description="The attributes that stay, with which relations are kept; by default every other numeric or "
            "ordinal quasi-identifier and sensitive attribute."
        ),
    ] = None

    @property
    def names(self) -> list[str] | None:
        """The attributes to shuffle; None for the quasi-identifiers."""
        return self.attributes

    @property
    def chooses_strength(self) -> bool:
        """Whether there is no proximity."""
        return self.proximity is None

    def further_faults(self, document: PolicyDocument) -> Iterator[Fault]:
        """Yield the faults of the attributes that stay."""
        yield from (("given", sentence) for sentence in masked_faults(self.given, document, ordered=True))
        for name in sorted(set(self.attributes or ()) & set(self.given or ())):
            yield "given", f"{name!r} is shuffled, so that it cannot stay"


MASKING = Masking(DataShufflingParameters, unfit=NO_ORDER)
