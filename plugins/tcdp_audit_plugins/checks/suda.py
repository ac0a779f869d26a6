"""SUDA: records that few attributes single out are the first that an intruder finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, factorial, fsum
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Codes, Counts, Floats, boundaries, fold, run_lengths
from tcdp_audit.plugin.check import DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, Sentences
from tcdp_audit_plugins.checks._shared.pitman import data_intrusion_simulation
from tcdp_audit_plugins.checks._shared.sampling import fraction_of
from tcdp_audit_plugins.guides import built_in_guide

Flags = NDArray[np.bool_]
MOST_SETS = 100_000
COUNTING_SPAN = 4  # keys that span at most so many times the records are counted instead of sorted


@dataclass(frozen=True)
class MinimalUniques:
    """The minimal sample uniques (MSUs) of a table, up to a size."""

    attributes: int  # how many attributes the table has, m
    by_size: Counts  # MSUs of each size, from 1: how many each record has. Shape (sizes, records).
    by_attribute: Counts  # sum of (m - size)! over the MSUs that contain the attribute. Shape (attributes,).

    @property
    def scores(self) -> Counts:
        """The SUDA score of each record: sum of (m - size)! over its MSUs. int64, or Python integers for m > 18."""
        weights = [factorial(self.attributes - size) for size in range(1, len(self.by_size) + 1)]
        if self.attributes > 18:  # a factorial may leave 64 bits
            return np.asarray(np.array(weights, dtype=object) @ self.by_size.astype(object))
        return np.asarray(np.array(weights, dtype=np.int64) @ self.by_size)


def minimal_uniques(columns: Sequence[Codes], radices: Sequence[int], max_size: int) -> MinimalUniques:
    """Find every minimal sample unique of at most `max_size` attributes.

    A set of attributes is an MSU of a record if no other record agrees with it in all of them, and none of its proper
    subsets does that. As a superset of a unique set is unique, the subsets with one attribute less decide.

    Args:
        columns: the codes of each attribute. Shape (attributes, records).
        radices: for each attribute a number above its largest code.
        max_size: at least 1; more than the number of attributes is that number.

    Returns:
        How many MSUs of each size each record has, and what each attribute contributes.

    Raises:
        CheckError: that takes more than 100,000 sets of attributes.

    Cost: O(records x sets of at most max_size attributes), one key each: 1,159 sets for 19 attributes and
    size 3. Memory for one flag per set of a size and record that is unique at all.

    Source: Elliot, Manning, Ford (2002), A computational algorithm for handling the special uniques problem.

    Example:
        >>> found = minimal_uniques([np.array([0, 0, 1]), np.array([0, 1, 1])], [2, 2], 2)
        >>> found.by_size.tolist(), found.scores.tolist()
        ([[1, 0, 1], [0, 1, 0]], [1, 1, 1])
    """
    records, attributes = len(columns[0]), len(columns)
    sizes = min(max_size, attributes)
    sets = sum(comb(attributes, size) for size in range(1, sizes + 1))
    if sets > MOST_SETS:
        raise CheckError(
            f"{sets:,} sets of at most {sizes} of {attributes} quasi-identifiers are too many to look at; lower "
            f"`max_size` until there are at most {MOST_SETS:,}"
        )
    lone = np.flatnonzero(_unique(columns, radices, range(attributes)))
    by_size = np.zeros((sizes, records), dtype=np.int64)
    by_attribute = [0] * attributes
    smaller: Mapping[tuple[int, ...], Flags] = {(): np.zeros(len(lone), dtype=bool)}
    for size in range(1, sizes + 1):
        unique: dict[tuple[int, ...], Flags] = {}
        for chosen in combinations(range(attributes), size):
            unique[chosen] = _unique(columns, radices, chosen)[lone]
            minimal = unique[chosen] & ~_any_subset(smaller, chosen)
            by_size[size - 1, lone] += minimal
            for attribute in chosen:
                by_attribute[attribute] += int(minimal.sum()) * factorial(attributes - size)
        smaller = unique
    return MinimalUniques(attributes, by_size, np.array(by_attribute, dtype=object))


def _any_subset(smaller: Mapping[tuple[int, ...], Flags], chosen: tuple[int, ...]) -> Flags:
    """The records that a subset with one attribute less singles out already."""
    return np.asarray(np.logical_or.reduce([smaller[chosen[:gap] + chosen[gap + 1 :]] for gap in range(len(chosen))]))


def _unique(columns: Sequence[Codes], radices: Sequence[int], chosen: Sequence[int]) -> Flags:
    """The records that agree with no other in all of some attributes."""
    keys = fold([columns[one] for one in chosen], [radices[one] for one in chosen])
    if keys.span <= COUNTING_SPAN * len(keys.values):
        return np.asarray((np.bincount(keys.values, minlength=keys.span) == 1)[keys.values])
    order = np.argsort(keys.values)
    starts = boundaries(keys.values[order])
    flags = np.zeros(len(order), dtype=bool)
    flags[order[starts[run_lengths(starts, len(order)) == 1]]] = True
    return flags


def dis_suda(scores: Counts, dis: float, uniques: int, attributes: int) -> Floats:
    """DIS-SUDA: the probability of a correct match spread over records in proportion to their scores.

    With Q = 1 + (8 - m)/20 and A = sum of score^-Q, a record has 1 / (1 + (U/D - U) / (score^Q A)); 0 without a score.

    Args:
        scores: SUDA score of each record, at least 0. Shape (records,).
        dis: D, the data-intrusion-simulation probability of the table, above 0.
        uniques: U, the records that are unique in all attributes.
        attributes: m.

    Returns:
        Probabilities, float64, shape (records,).

    Cost: O(records).

    Source: Elliot (2000), Integrating file and record level disclosure risk assessment; Elamir, Skinner (2006), Record
    level measures of disclosure risk for survey microdata, J. Official Statistics 22(3).

    Example:
        >>> dis_suda(np.array([0, 4, 4]), 0.25, 2, 8).round(6).tolist()
        [0.0, 0.25, 0.25]
    """
    scored = np.flatnonzero(scores)
    scaled = np.zeros(len(scores))
    powers = scores[scored].astype(np.float64) ** (1 + (8 - attributes) / 20)
    total = fsum(np.sort(1 / powers).tolist())
    scaled[scored] = 1 / (1 + (uniques / dis - uniques) / (powers * total))
    return scaled


class SudaParameters(Parameters):
    """Parameters of `suda`."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest share of records that at most `max_size` attributes single out."),
    ] = None
    max_size: Annotated[
        int, Field(ge=1, description="How many attributes an intruder needs at the most for a record to count.")
    ] = 3
    dis_fraction: Annotated[
        Exact | None,
        Field(
            gt=0, le=1, description="The sampling fraction of the DIS scores; by default what the policy says it is."
        ),
    ] = None


def suda(view: TableView, parameters: SudaParameters) -> TableFigure:
    """The share of records with a minimal sample unique of at most `max_size` quasi-identifiers, and their scores.

    Cost: that of `minimal_uniques`: one key of all records for every set of at most `max_size` quasi-identifiers.
    """
    names = view.quasi_identifiers
    (table,) = view.coded(names)
    uniques = minimal_uniques(
        [table.codes[name] for name in names], [table.domains[name].size + 1 for name in names], parameters.max_size
    )
    scores = uniques.scores
    special = int(np.count_nonzero(scores))
    details: dict[str, Any] = {
        "records_singled_out": special,
        "minimal_sample_uniques": {str(size): int(counts.sum()) for size, counts in enumerate(uniques.by_size, 1)},
        "highest_score": int(scores.max()),
        "sum_of_scores": int(scores.sum()),
        "contributions": _contributions(uniques, names),
    }
    given = parameters.dis_fraction
    fraction = fraction_of(view) if given is None else float(given)
    if fraction is not None and special:
        details |= _dis_scores(view, uniques, fraction)
    return TableFigure(Fraction(special, view.records), view.records, special, details=details)


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
        sufficient_class_size=lambda _, __: 2,  # records that agree in all columns agree in any
        needs={Need.ROWS, Need.PARTITION},
        sentences=Sentences(
            passed="{singled_out}.",
            failed="{singled_out}, where {allowed}; {first:column} takes part most often.",
            impact=(
                "[{records_singled_out>0?}An intruder who knows {few} about one of them can be sure to have found "
                "their row; {first:column} helps most often|No one is alone in {few} of {known}: an intruder who "
                "knows no more cannot be sure of anyone]."
            ),
            parts={
                "few": "[{max_size=1?}a single fact|{max_size} facts or fewer]",
                "singled_out": (
                    "{failing/records:{record}} {failing/records:is|are} singled out by {few} out of {known}"
                ),
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "suda.md"),
    )
]
