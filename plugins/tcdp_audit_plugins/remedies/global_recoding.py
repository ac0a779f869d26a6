"""Global recoding by declared breaks: every value becomes the range between two breaks that it lies in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit.plugin.remedy import (
    Attribute,
    NewColumn,
    Remedy,
    RemedyError,
    RemedyGuide,
    RemedyView,
    Treatment,
    interval_label,
    number_text,
)
from tcdp_audit_plugins.remedies._shared.masking import (
    MASKED,
    Fault,
    Masking,
    MaskingParameters,
    changed,
    masked_faults,
    recoded,
)

Breaks = Annotated[list[Exact | Text], Field(min_length=1)]


class GlobalRecodingParameters(MaskingParameters):
    """Parameters of `global_recoding`."""

    naming = "breaks"
    breaks: Annotated[
        dict[Text, Breaks],
        Field(
            min_length=1,
            description="For each attribute where ranges begin, in ascending order: numbers, `{age: [18, 30, 65]}`, or "
            "values of an ordinal one. What is less than the first break is a range, too.",
        ),
    ]

    @property
    def names(self) -> list[str]:
        """The attributes that have breaks."""
        return sorted(self.breaks)

    def further_faults(self, document: PolicyDocument) -> Iterator[Fault]:
        """Yield the faults of breaks whose attributes can be recoded."""
        if any(masked_faults(self.names, document, ordered=True)):
            return
        yield from ((self.naming, sentence) for sentence in _left_finer(self.names, document))
        for name, breaks in self.breaks.items():
            declared = document.attributes[name]
            order = None if declared.scale is Scale.NUMERIC else list(declared.order or ())
            if any(not _is_break(one, order) for one in breaks):
                yield "breaks", f"a break of {name!r} is no {'number' if order is None else 'value of its order'}"
                continue
            places = _places(breaks, order)
            if any(one >= following for one, following in pairwise(places)):
                yield "breaks", f"the breaks of {name!r} must ascend, none of them twice"
            elif order is not None and places[0] == 0:
                yield "breaks", f"the first break of {name!r} is the least value, so that no value is less; leave it"


MASKING = Masking(GlobalRecodingParameters, alike=True, never_suggested="needs breaks that only you can choose")


def tables(parameters: GlobalRecodingParameters | None, document: PolicyDocument) -> list[str]:
    """The linked tables whose columns have breaks."""
    named = document.attributes if parameters is None else parameters.names
    declared = document.tables or {}
    return [table for table in declared if any(name.startswith(f"{table}.") for name in named)]


def _left_finer(names: Sequence[str], document: PolicyDocument) -> Iterator[str]:
    """Yield a sentence for each column that another linked table has, too, and in which it would stay as it is."""
    for name in names:
        table, _, column = name.partition(".")
        for other, declared in (document.tables or {}).items():
            same = f"{other}.{column}"
            attribute = declared.attributes.get(column)
            if other == table or same in names or attribute is None or attribute.role not in MASKED:
                continue
            if (attribute.scale, attribute.order) == (
                document.attributes[name].scale,
                document.attributes[name].order,
            ):
                yield (
                    f"{column!r} is a column of {other!r} as well, which would stay finer; give its breaks without a "
                    f"table for both, or give those of {same!r}, too"
                )


def _is_break(value: object, order: Sequence[str] | None) -> bool:
    return not isinstance(value, str) if order is None else str(value) in order


def _places(breaks: Sequence[object], order: Sequence[str] | None) -> list[float]:
    if order is not None:
        return [float(list(order).index(str(one))) for one in breaks]
    return [float(one) for one in breaks]  # type: ignore[arg-type]  # the policy was validated


def recode(view: RemedyView, parameters: GlobalRecodingParameters) -> Treatment:
    """Release the range between two breaks in place of each value. Cost: O(values log breaks) for each attribute.

    Raises:
        RemedyError: a generalised value reaches over a break.
    """
    columns: dict[str, NewColumn] = {}
    notes = {"ranges": 0, "records": 0}
    own = [name for name in sorted(parameters.breaks) if name in view.policy.attributes]  # of one of several tables
    for attribute in view.attributes(own):
        order = attribute.declaration.order
        places = np.array(_places(parameters.breaks[attribute.name], order))
        labels = _labels(attribute, places, _range_labels(places, order))
        columns[attribute.name] = recoded(attribute, labels)
        notes["ranges"] += len(places) + 1
        notes["records"] += changed(attribute, labels)
    return Treatment(columns, notes=notes)


def _range_labels(places: Floats, order: Sequence[str] | None) -> list[str]:
    """Every range as it is released, the least first.

    Example:
        >>> _range_labels(np.array([18.0, 65.0]), None), _range_labels(np.array([1.0]), ["low", "middle", "high"])
        (['<18', '[18, 65)', '>=65'], ['low', '[middle, high]'])
    """
    if order is not None:
        ends = [0, *(int(one) for one in places), len(order)]
        return [interval_label(order[first], order[beyond - 1]) for first, beyond in pairwise(ends)]
    inner = [interval_label(low, high, open_end=True) for low, high in pairwise(places.tolist())]
    return [f"<{number_text(float(places[0]))}", *inner, f">={number_text(float(places[-1]))}"]


def _labels(attribute: Attribute, places: Floats, ranges: Sequence[str]) -> list[str]:
    """The label that is released for each value; a suppressed cell stays."""
    low, high = attribute.bounds
    nothing = attribute.domain.is_uninformative[:-1]
    first = np.searchsorted(places, low, side="right")
    last = np.where(
        attribute.ranges.high_open, np.searchsorted(places, high), np.searchsorted(places, high, side="right")
    )
    if ((first != last) & ~nothing).any():
        raise RemedyError(f"a generalised value of {attribute.name!r} reaches over a break; recode before generalising")
    own = attribute.domain.labels
    return [own[code] if nothing[code] else ranges[int(place)] for code, place in enumerate(first)]


GLOBAL_RECODING = Remedy(
    name="global_recoding",
    title="Global recoding",
    summary="Releases ranges between declared breaks in place of numbers or ranks.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("global_recoding.md")),
    parameters=GlobalRecodingParameters,
    apply=recode,
    validate=MASKING.faults,
    why_not_applicable=MASKING.why_not_applicable,
    acts_on_histories=True,
    tables=tables,
    several_tables=True,
)
