"""Top and bottom coding: the largest and the least numbers are released as "so much or more", "so much or less"."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction
from math import ceil
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin import (
    Attribute,
    Exact,
    NewColumn,
    PolicyDocument,
    Remedy,
    RemedyError,
    RemedyGuide,
    RemedyParameters,
    RemedyView,
    Scale,
    Text,
    Treatment,
    number_text,
)
from tcdp_audit_plugins.remedies._shared.masked_attributes import masked_faults
from tcdp_audit_plugins.remedies._shared.pair_demands import weakest
from tcdp_audit_plugins.remedies._shared.recoded import changed, recoded

Mask = NDArray[np.bool_]
FINE = 10_000  # parts of the share that a refusal proposes
SHARES = tuple(Fraction(one, 1000) for one in (5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500))  # weak to strong


class ReleasedAs(StrEnum):
    """The cell in place of a number beyond a threshold."""

    RANGE = "range"
    BOUND = "bound"


class TopBottomCodingParameters(RemedyParameters):
    """Parameters of `top_bottom_coding`."""

    attribute: Annotated[Text, Field(description="The numeric attribute that is coded.")]
    top: Annotated[Exact | None, Field(description="Numbers of at least this are coded.")] = None
    bottom: Annotated[Exact | None, Field(description="Numbers of at most this are coded.")] = None
    share: Annotated[
        Annotated[Exact, Field(gt=0, le=Fraction(1, 2))] | None,
        Field(
            description="In place of thresholds: as many records as are at most this share at either end. By default "
            "the least share that does."
        ),
    ] = None
    released_as: Annotated[
        ReleasedAs,
        Field(strict=False, description="range: `>=90`, `<=18`; bound: the threshold itself, so that numbers stay."),
    ] = ReleasedAs.RANGE

    @model_validator(mode="after")
    def _belong_together(self) -> TopBottomCodingParameters:
        if self.share is not None and (self.top is not None or self.bottom is not None):
            raise ValueError("give thresholds, or a share of the records, not both")
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            raise ValueError("the bottom must be less than the top")
        return self


def faults(parameters: TopBottomCodingParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    yield from (
        ("attribute", sentence) for _, sentence in masked_faults([parameters.attribute], document, ordered=True)
    )
    declared = document.attributes.get(parameters.attribute)
    if declared is not None and declared.scale is Scale.ORDINAL:
        yield "attribute", f"{parameters.attribute!r} is ordinal, and numbers are coded; use global_recoding"


def code_extremes(view: RemedyView, parameters: TopBottomCodingParameters) -> Treatment:
    """Release ranges, or thresholds, in place of extreme numbers.

    Raises:
        RemedyError: a generalised value reaches over a threshold, a share has no record, or, where nothing is given,
            nothing says how much has to be coded or no share is enough.

    Cost: O(values); the same and an audit for each of at most eight shares where nothing is given.
    """
    attribute = view.attribute(parameters.attribute)

    def at(share: Fraction) -> Treatment:
        return _coded(attribute, *_thresholds(attribute, share), parameters.released_as)

    if parameters.top is not None or parameters.bottom is not None:
        return _coded(attribute, _number(parameters.bottom), _number(parameters.top), parameters.released_as)
    return at(parameters.share or weakest(view, at, SHARES))


def _number(exact: Fraction | None) -> float | None:
    return None if exact is None else float(exact)


def _thresholds(attribute: Attribute, share: Fraction) -> tuple[float | None, float | None]:
    """The largest bottom and the least top beyond which at most a share of the records with a number lies."""
    low, high = attribute.bounds
    tells = np.flatnonzero(~attribute.domain.tells_nothing[:-1])
    records = np.bincount(attribute.codes, minlength=len(low) + 1)[tells]
    most = int(share * int(records.sum()))
    below = np.flatnonzero(np.cumsum(records) <= most)
    above = np.flatnonzero(np.cumsum(records[::-1])[::-1] <= most)
    bottom = float(high[tells[below[-1]]]) if len(below) else None
    return bottom, float(low[tells[above[0]]]) if len(above) else None


def _least_share(attribute: Attribute) -> str:
    """The least share that has a record at one end, rounded up."""
    records = np.bincount(attribute.codes, minlength=attribute.domain.size + 1)[:-1]
    present = records[(records > 0) & ~attribute.domain.tells_nothing[:-1]]
    share = ceil(Fraction(int(min(present[[0, -1]])) * FINE, int(present.sum()))) if len(present) else FINE
    return f"`share: {share / FINE:g}` would do" if 2 * share <= FINE else "no share would do"


def _coded(attribute: Attribute, bottom: float | None, top: float | None, form: ReleasedAs) -> Treatment:
    if bottom is None and top is None:
        raise RemedyError(
            f"the least and the largest value of {attribute.name!r} each have more records than the share; "
            f"{_least_share(attribute)}, or give thresholds"
        )
    at_bottom, at_top = _beyond(attribute, bottom, top)
    labels = list(attribute.domain.labels)
    for places, sign, threshold in ((at_bottom, "<=", bottom), (at_top, ">=", top)):
        for code in np.flatnonzero(places).tolist():
            labels[code] = ("" if form is ReleasedAs.BOUND else sign) + number_text(float(threshold or 0))
    records = np.bincount(attribute.codes, minlength=len(labels) + 1)[:-1]
    notes = {
        "top": int(records[at_top].sum()),
        "bottom": int(records[at_bottom].sum()),
        "records": changed(attribute, labels),
    }
    column = recoded(attribute, labels)
    if attribute.is_numeric and form is ReleasedAs.BOUND:
        column = NewColumn(np.array([float(one) for one in column.cells]), column.codes)
    return Treatment({attribute.name: column}, notes=notes)


def _beyond(attribute: Attribute, bottom: float | None, top: float | None) -> tuple[Mask, Mask]:
    """The values at most the bottom, and those at least the top.

    Raises:
        RemedyError: a generalised value reaches over one of them.
    """
    ends = attribute.ranges
    low, high = ends.low, ends.high
    least = -np.inf if bottom is None else bottom
    most = np.inf if top is None else top
    at_bottom, at_top = high <= least, low >= most
    reaching = (low <= least) & ~(ends.low_open & (low == least)) & ~at_bottom
    reaching |= (high >= most) & ~(ends.high_open & (high == most)) & ~at_top
    tells = ~attribute.domain.tells_nothing[:-1]
    if (reaching & tells).any():
        raise RemedyError(f"a range of {attribute.name!r} reaches over a threshold; code before generalising")
    return at_bottom & tells & (bottom is not None), at_top & tells & (top is not None)


GUIDE = RemedyGuide(
    method=(
        "Numbers of at least `top` become `>=top`, those of at most `bottom` become `<=bottom`, or the threshold "
        "itself (`released_as: bound`). With `share` the thresholds are the farthest ones from the ends beyond which "
        "at most that share of the records with a number lies. Missing and suppressed cells stay. Without thresholds "
        "and share the release is audited at shares from 0.5 to 50 %, and the least is taken after which every demand "
        "that compares the release with its original holds."
    ),
    choosing=(
        "For long tails: ages over 89 (45 CFR 164.514(b)(2)(i)(C), see `age_cap`), incomes, household sizes. What is "
        "rare at the ends is what identifies, and it costs little to hide it; the middle of the table stays at risk, "
        "so that seldom does this remedy suffice by itself. `bound` keeps a column of numbers and moves its mean, "
        "`range` says what happened and makes it a column of text."
    ),
    guarantees=(
        "Only numbers beyond a threshold change, equal ones alike; no record is dropped, and nothing is drawn. A "
        "release that was coded is not changed by coding it again. Whether any demand holds is known only by the "
        "re-audit."
    ),
    source="Hundepool et al., Statistical Disclosure Control, Wiley, 2012, chapter 3 (top and bottom coding)",
    example="- top_bottom_coding: {attribute: age, top: 90}",
    notes={
        "top": "Records with a number of at least the top.",
        "bottom": "Records with a number of at most the bottom.",
        "records": "Cells that became another one.",
    },
)
TOP_BOTTOM_CODING = Remedy(
    name="top_bottom_coding",
    title="Top and bottom coding",
    summary='Releases the largest and the least numbers of an attribute as "so much or more" and "so much or less".',
    guide=GUIDE,
    parameters=TopBottomCodingParameters,
    apply=code_extremes,
    validate=faults,
)
