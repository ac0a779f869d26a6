"""A remedy: drop the records that too few others resemble."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.remedy import Remedy, RemedyError, RemedyGuide, RemedyParameters, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome


class RareClassesParameters(RemedyParameters):
    """Parameters of `example_rare_classes`."""

    k: Annotated[int, Field(ge=1, description="The least number of records in a class that stays.")]


def without_rare_classes(view: RemedyView, parameters: RareClassesParameters) -> Treatment:
    """Keep the records of equivalence classes that have at least k.

    Raises:
        RemedyError: no class has so many.

    Cost: O(n) for n records whose classes are known.
    """
    class_of, _ = view.classes()
    records = np.bincount(class_of)
    if records.max() < parameters.k:
        raise RemedyError(f"no equivalence class has {parameters.k:,} records; the largest has {records.max():,}")
    return Treatment(retained=records[class_of] >= parameters.k, notes={"classes": int((records < parameters.k).sum())})


def _suggested(_: RemedyView, failing: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    demanded = [int(one.threshold) for one in failing if one.check == "k_anonymity" and one.threshold is not None]
    if demanded:
        yield {"k": max(demanded)}


RARE_CLASSES = Remedy(
    name="example_rare_classes",
    title="Without rare classes",
    summary="Drops the records of equivalence classes that are too small.",
    guide=RemedyGuide(
        method="Groups the records by their quasi-identifiers and drops those of classes with fewer than k records.",
        choosing="Where few records are rare; each of them is lost. k is that of the policy.",
        guarantees="Every class that stays has at least k records.",
        source="Samarati, IEEE TKDE 13(6), 2001, section 4: suppression",
        example="- example_rare_classes: {k: 5}",
        notes={"classes": "How many equivalence classes were dropped."},
    ),
    parameters=RareClassesParameters,
    apply=without_rare_classes,
    suggest_parameters=_suggested,
)
