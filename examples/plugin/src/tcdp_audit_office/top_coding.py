"""A remedy: numbers from a limit on become one value."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.detector import Exact, Text
from tcdp_audit.plugin.remedy import (
    NewColumn,
    Remedy,
    RemedyError,
    RemedyGuide,
    RemedyParameters,
    RemedyView,
    Treatment,
    number_text,
)


class TopCodingParameters(RemedyParameters):
    """Parameters of `top_coding`."""

    attribute: Annotated[Text, Field(description="The column whose large numbers become one value.")]
    limit: Annotated[Exact, Field(description="The least number that is not released as it is.")]


def top_coded(view: RemedyView, parameters: TopCodingParameters) -> Treatment:
    """Every number from the limit on becomes `>=limit`; all others stay as they are written."""
    attribute = view.attribute(parameters.attribute)
    if not attribute.is_numeric:
        raise RemedyError(f"column {attribute.name!r} has values that are no single numbers; top coding needs numbers")
    high = attribute.numbers >= float(parameters.limit)
    if not high.any():
        raise RemedyError(f"no value of column {attribute.name!r} reaches the limit; nothing would change")
    cells = [label for label, top in zip(attribute.domain.labels, high, strict=True) if not top]
    position = np.append(np.where(high, len(cells), np.cumsum(~high) - 1), len(cells) + 1)  # the last: no value
    top = f">={number_text(float(parameters.limit))}"
    values = int(high.sum())
    return Treatment(
        {attribute.name: NewColumn.of_texts([*cells, top], position[attribute.codes])}, notes={"values": values}
    )


TOP_CODING = Remedy(
    name="top_coding",
    title="Top coding",
    summary="Turns large numbers of a column into one value.",
    guide=RemedyGuide(
        method="Every number of the column from the limit on is released as `>=limit`.",
        choosing="Where few people have very large numbers, such as great ages or incomes.",
        guarantees="No number from the limit on can be distinguished from another.",
        source="Hundepool et al. (2012), section 3.3: top and bottom coding",
        example="- top_coding: {attribute: age, limit: 65}",
        notes={"values": "How many different numbers became one value."},
    ),
    parameters=TopCodingParameters,
    apply=top_coded,
)
