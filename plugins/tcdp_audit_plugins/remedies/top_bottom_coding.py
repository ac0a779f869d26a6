"""Top and bottom coding: the largest and the least numbers are released as "so much or more", "so much or less"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin._internal import fold, numbered
from tcdp_audit.plugin.detector import Exact, Scale, Text
from tcdp_audit.plugin.remedy import (
    Attribute,
    NewColumn,
    Remedy,
    RemedyError,
    RemedyGuide,
    RemedyView,
    Treatment,
    number_text,
)
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.masking import (
    MASKED,
    NO_NUMBERS,
    Masking,
    MaskingParameters,
    changed,
    is_orderable,
    recoded,
)
from tcdp_audit_plugins.remedies._shared.scope import weakest
from tcdp_audit_plugins.remedies._shared.search import smallest

Mask = NDArray[np.bool_]
FINE = 10_000  # parts of the share that a refusal proposes
AGE_CAP = "age_cap"
FEW = Fraction(1, 10)  # of the records at either end, that a plan proposes to code at most
SHARES = tuple(Fraction(one, 1000) for one in (5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500))  # weak to strong


class ReleasedAs(StrEnum):
    """The cell in place of a number beyond a threshold."""

    RANGE = "range"
    BOUND = "bound"


class TopBottomCodingParameters(MaskingParameters):
    """Parameters of `top_bottom_coding`."""

    naming = "attribute"
    strengths = ("top", "bottom", "share")
    attribute: Annotated[Text, Field(description="The numeric attribute that is coded.")]
    top: Annotated[Exact | None, Field(description="Numbers of at least this are coded.")] = None
    bottom: Annotated[Exact | None, Field(description="Numbers of at most this are coded.")] = None
    share: Annotated[
        Annotated[Exact, Field(gt=0, le=Fraction(1, 2))] | None,
        Field(
            description="In place of thresholds: as many records as are at most this share at either end. By default "
            "the least share that suffices."
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

    @property
    def names(self) -> list[str]:
        """The attribute that is coded."""
        return [self.attribute]


MASKING = Masking(
    TopBottomCodingParameters,
    alike=True,
    refused={Scale.ORDINAL: "is ordinal, and numbers are coded; use global_recoding"},
)


def why_not_applicable(view: RemedyView, parameters: TopBottomCodingParameters | None, outcome: Outcome) -> str:
    """Say why coding extremes cannot help a failing demand, or nothing."""
    if parameters is not None:
        return MASKING.why_not_applicable(view, parameters, outcome)
    if outcome.check == AGE_CAP:
        declared = view.policy.attributes.get(str(outcome.parameters.get("column")))
        masked = declared is not None and declared.role in MASKED
        return "" if masked else "only for quasi-identifiers and sensitive attributes"
    if view.judges_histories(outcome):
        return "only with thresholds that you give, where all rows of a unit are judged together"
    if not view.failing_on_classes([outcome]):
        return "only for a cap of ages, and for classes with rare extremes, unless its thresholds are given"
    return "" if any(map(_is_number, view.quasi_identifiers)) else NO_NUMBERS


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """The threshold of a cap that is not kept; and the least small share of an attribute after which classes pass."""
    helped = [one for one in outcomes if not why_not_applicable(view, None, one)]
    for one in helped:
        if one.check == AGE_CAP:
            yield {"attribute": one.parameters["column"], "top": one.parameters["at"] + 1}
    if view.failing_on_classes(helped):
        for attribute in filter(_is_number, view.quasi_identifiers):
            share = _share_for_classes(view, attribute)
            if share is not None:
                yield {"attribute": attribute.name, "share": share}


def _is_number(attribute: Attribute) -> bool:
    return attribute.scale is Scale.NUMERIC and is_orderable(attribute)


def _share_for_classes(view: RemedyView, attribute: Attribute) -> Fraction | None:
    """The least of the small shares of an attribute after which every class keeps the policy; None where none does.

    Cost: a sort of the records and a judgement for each of at most six shares.
    """
    rest, count = view.classes([one for one in view.quasi_identifiers if one.name != attribute.name])
    own, size = attribute.released_codes(view.suppressed_token), attribute.domain.size

    def passes(place: int) -> bool:
        at_bottom, at_top = _beyond(attribute, *_thresholds(attribute, SHARES[place]))
        coded = np.append(np.select([at_bottom, at_top], [size + 1, size + 2], np.arange(size)), size)
        keys = fold([rest, coded[own]], [count, size + 3])
        distinct, classes = numbered(keys.values, keys.span)
        return bool(view.demands.satisfied_by(classes.astype(np.int64), len(distinct)).all())

    few = sum(one <= FEW for one in SHARES)
    place = smallest(passes, 0, few - 1) if passes(few - 1) else None
    return None if place is None else SHARES[place]


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
    informative = np.flatnonzero(~attribute.domain.is_uninformative[:-1])
    records = np.bincount(attribute.codes, minlength=len(low) + 1)[informative]
    most = int(share * int(records.sum()))
    below = np.flatnonzero(np.cumsum(records) <= most)
    above = np.flatnonzero(np.cumsum(records[::-1])[::-1] <= most)
    bottom = float(high[informative[below[-1]]]) if len(below) else None
    return bottom, float(low[informative[above[0]]]) if len(above) else None


def _least_share(attribute: Attribute) -> str:
    """The least share that has a record at one end, rounded up."""
    records = np.bincount(attribute.codes, minlength=attribute.domain.size + 1)[:-1]
    present = records[(records > 0) & ~attribute.domain.is_uninformative[:-1]]
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
    """The values at most the bottom and those at least the top; a RemedyError where a range reaches over one."""
    ends = attribute.ranges
    low, high = ends.low, ends.high
    least = -np.inf if bottom is None else bottom
    most = np.inf if top is None else top
    at_bottom, at_top = high <= least, low >= most
    reaching = (low <= least) & ~(ends.low_open & (low == least)) & ~at_bottom
    reaching |= (high >= most) & ~(ends.high_open & (high == most)) & ~at_top
    informative = ~attribute.domain.is_uninformative[:-1]
    if (reaching & informative).any():
        raise RemedyError(f"a range of {attribute.name!r} reaches over a threshold; code before generalising")
    return at_bottom & informative & (bottom is not None), at_top & informative & (top is not None)


TOP_BOTTOM_CODING = Remedy(
    name="top_bottom_coding",
    title="Top and bottom coding",
    summary='Releases the largest and the least numbers of an attribute as "so much or more" and "so much or less".',
    guide=RemedyGuide.from_file(Path(__file__).with_name("top_bottom_coding.md")),
    parameters=TopBottomCodingParameters,
    apply=code_extremes,
    validate=MASKING.faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
    acts_on_histories=True,
)
