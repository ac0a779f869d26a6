"""SUDA: records that few attributes single out are the first that an intruder finds."""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.check import DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.sentences import (
    Outcome,
    Sentences,
)
from tcdp_audit_plugins.checks._shared.minimal_uniques import MinimalUniques, dis_suda, minimal_uniques
from tcdp_audit_plugins.checks._shared.pitman import data_intrusion_simulation
from tcdp_audit_plugins.checks._shared.sampling import fraction_of
from tcdp_audit_plugins.guides import built_in_guide


class SudaParameters(Parameters):
    """Parameters of `suda`."""

    at_most: Annotated[
        Exact | None,
        Field(
            ge=0,
            le=1,
            description="The largest share of records that at most `max_size` attributes single out.",
        ),
    ] = None
    max_size: Annotated[
        int,
        Field(ge=1, description="How many attributes an intruder needs at the most for a record to count."),
    ] = 3
    dis_fraction: Annotated[
        Exact | None,
        Field(
            gt=0,
            le=1,
            description="The sampling fraction of the DIS scores; by default what the policy says it is.",
        ),
    ] = None


def suda(view: TableView, parameters: SudaParameters) -> TableFigure:
    """The share of records with a minimal sample unique of at most `max_size` quasi-identifiers, and their scores.

    Cost: that of `minimal_uniques`: one key of all records for every set of at most `max_size` quasi-identifiers.
    """
    names = view.quasi_identifiers
    (table,) = view.coded(names)
    uniques = minimal_uniques(
        [table.codes[name] for name in names],
        [table.domains[name].size + 1 for name in names],
        parameters.max_size,
    )
    scores = uniques.scores
    special = int(np.count_nonzero(scores))
    details: dict[str, Any] = {
        "records_singled_out": special,
        "minimal_sample_uniques": _by_size(uniques),
        "highest_score": int(scores.max()),
        "sum_of_scores": int(scores.sum()),
        "contributions": _contributions(uniques, names),
    }
    given = parameters.dis_fraction
    fraction = fraction_of(view) if given is None else float(given)
    if fraction is not None and special:
        details |= _dis_scores(view, uniques, fraction)
    return TableFigure(Fraction(special, view.records), view.records, special, details=details)


def _by_size(uniques: MinimalUniques) -> dict[str, int]:
    return {str(size): int(counts.sum()) for size, counts in enumerate(uniques.by_size, 1)}


def _contributions(uniques: MinimalUniques, names: list[str]) -> dict[str, Fraction]:
    """The share of the sum of scores that comes from sets with each attribute."""
    total = int(uniques.scores.sum())
    shares = (Fraction(int(one), total) if total else Fraction(0) for one in uniques.by_attribute)
    return dict(zip(names, shares, strict=True))


def _dis_scores(view: TableView, uniques: MinimalUniques, fraction: float) -> dict[str, float]:
    size = view.classes.records
    dis = data_intrusion_simulation(size, fraction)
    scores = dis_suda(uniques.scores, dis, int((size == 1).sum()), uniques.attributes)
    return {
        "dis_fraction": fraction,
        "dis": dis,
        "highest_dis_score": float(scores.max()),
        "sum_of_dis_scores": fsum(scores.tolist()),
    }


def _values(outcome: Outcome) -> dict[str, str]:
    """The attribute that takes part most often."""
    contributions = outcome.details["contributions"]
    return {"first": max(sorted(contributions), key=lambda name: contributions[name], default="")}


CHECKS = [
    TableCheck(
        name="suda",
        title="Special uniques (SUDA)",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=SudaParameters,
        measure=suda,
        label="share of records that few attributes single out",
        class_size=lambda _: 2,
        needs={Need.ROWS, Need.PARTITION},
        sentences=Sentences(
            passed="{singled_out}.",
            failed="{singled_out}, where {allowed}; {first:column} takes part most often.",
            impact=(
                "[{records_singled_out>0?}An intruder who knows only {few} of {person} can be sure of anyone who is "
                "singled out; {first:column} helps most often|No one is alone in {few} of {known}: an intruder who "
                "knows no more cannot be sure of anyone]."
            ),
            parts={
                "few": "[{max_size=1?}a single column|{max_size} columns or fewer]",
                "singled_out": (
                    "{failing/records:{record}} {failing/records:is|are} singled out by {few} out of {known}"
                ),
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "suda.md"),
    ),
]
