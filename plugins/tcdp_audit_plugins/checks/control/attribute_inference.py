"""Attribute inference: the secret of the nearest released record, taken for that of a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Check, DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.control_comparison import Attack
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of
from tcdp_audit_plugins.checks.control.risk import ControlParameters, compare_with_control, mean_credit, measurable
from tcdp_audit_plugins.checks.control.tables import CONTROL_PARTS, Gower, Places, Points, Tables, numbers_of, scale_of
from tcdp_audit_plugins.guides import built_in_guide

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SLACK = 1e-9  # of a tolerance: differences of decimals as floats are off by less


class InferenceParameters(ControlParameters):
    """Parameters of `attribute_inference`."""

    target: Annotated[Text, Field(description="The attribute that the intruder guesses.")]
    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest risk that the release may add.")] = None
    tolerance: Annotated[
        Exact,
        Field(ge=0, lt=1, description="How far a guess of a number may be off, as a share of the domain's width."),
    ] = Fraction(5, 100)
    width: Annotated[
        Exact | None,
        Field(
            gt=0, description="The largest minus the smallest possible number; without it, of original and hold-out."
        ),
    ] = None


@dataclass(frozen=True)
class RightGuesses:
    """The values of the secret that are right guesses of each: those from a first code to a last."""

    first: NDArray[np.int64]  # the first code that is right for each code. Shape (size,).
    last: NDArray[np.int64]  # the last


def attribute_inference(view: TableView, parameters: InferenceParameters) -> TableFigure:
    """The risk that the nearest released records reveal a person's secret.

    An original record whose nearest released records by the known attributes, all ties of them, are t, r of them with
    the right secret, earns r/t.

    Returns:
        The upper end of the interval of (a_T - a_H) / (1 - a_H); without a hold-out a_T.

    Raises:
        CheckError: no record has a secret, or nothing can be compared.

    Cost: O(records x released records x attributes) in blocks, for original and hold-out.

    Source: Giomi et al. (2023), with all ties and a tolerance that no guess can widen.
    """
    secret = parameters.target
    names = known_attributes(parameters.attributes, view.quasi_identifiers, secret)
    tables = Tables.of(view, [*names, secret])
    places = Places.of(view, tables, names)
    reach = right_guesses(tables, secret, scale_of(view, secret), parameters)
    guesses = _secrets_of_points(places.released, tables.released, secret)
    attacks = [
        _attack(places, points, guesses, table, secret, reach)
        for points, table in zip(places.targets, tables.targets, strict=True)
    ]
    without = sum(
        int(table.rows.each[table.codes[secret] == table.domains[secret].size].sum()) for table in tables.targets
    )
    return compare_with_control(view, parameters, attacks, {"without_secret": without})


def right_guesses(tables: Tables, secret: str, scale: Scale, parameters: InferenceParameters) -> RightGuesses:
    """The values that are near enough: the same one, or a number within the tolerance.

    The width of the domain is declared, or that of original and hold-out; what the release holds does not change it.
    """
    domain = tables.released.domains[secret]
    code = np.arange(domain.size)
    if scale is not Scale.NUMERIC or domain.covers is not None or not domain.size:
        return RightGuesses(code, code)  # ranges are equal or not
    numbers = numbers_of(domain, scale)
    seen = np.unique(np.concatenate([table.codes[secret] for table in tables.targets]))
    own = numbers[seen[seen < domain.size]]
    width = float(parameters.width) if parameters.width is not None else float(np.ptp(own)) if len(own) else 0.0
    off = float(parameters.tolerance) * width
    slack = SLACK * (off + np.abs(numbers))
    first = np.searchsorted(numbers, numbers - off - np.minimum(slack, off))
    return RightGuesses(first, np.searchsorted(numbers, numbers + off + np.minimum(slack, off), side="right") - 1)


def _secrets_of_points(released: Points, table: CodedTable, secret: str) -> csr_matrix:
    """The number of released records with each secret on each point; shape (points, values + 1)."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - takes a tenth of a second to import

    shape = len(released), table.domains[secret].size + 1
    each = table.rows.each.astype(np.float64)
    return csr_matrix((each, (released.point, table.codes[secret].astype(np.int64))), shape=shape)


def _attack(
    places: Places, seekers: Points, guesses: csr_matrix, table: CodedTable, secret: str, reach: RightGuesses
) -> Attack:
    """The secrets of all records that have one, guessed from the nearest released ones."""
    codes, known = table.codes[secret].astype(np.int64), table.domains[secret].size
    point, code, times = _pairs(seekers.point[codes < known], codes[codes < known], table.rows.each[codes < known])
    if not len(point):
        raise CheckError(f"no record of {table.name} has a value of {secret!r}, so there is no secret to guess")
    bounds = np.searchsorted(point, np.arange(len(seekers) + 1))

    def credit(some: NDArray[np.intp], distances: Floats) -> Floats:
        own = slice(bounds[some[0]], bounds[some[-1] + 1])
        return _shares(
            places.gower, guesses, distances, point[own] - some[0], reach.first[code[own]], reach.last[code[own]]
        )

    earned = np.concatenate(places.gower.each_block(seekers, places.released, credit))
    return mean_credit(earned, times)


def _pairs(
    point: NDArray[np.intp], code: NDArray[np.int64], each: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct points with a secret, in order, and how many records there are of each."""
    values = int(code.max(initial=0)) + 1
    distinct, which = np.unique(point.astype(np.int64) * values + code, return_inverse=True)
    return distinct // values, distinct % values, np.bincount(which, each, len(distinct)).astype(np.int64)


def _shares(
    gower: Gower,
    guesses: csr_matrix,
    distances: Floats,
    row: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> Floats:
    """The share of each row's nearest records whose secret lies from a first code to a last."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - loaded already

    counts = (csr_matrix(gower.nearest(distances), dtype=np.float64) @ guesses).tocsr()
    counts.sort_indices()
    values = counts.shape[1]
    keys = np.repeat(np.arange(counts.shape[0], dtype=np.int64), np.diff(counts.indptr)) * values + counts.indices
    so_far = np.append(0.0, np.cumsum(counts.data))

    def below(key: NDArray[np.int64]) -> Floats:
        return np.asarray(so_far[np.searchsorted(keys, key)])

    right = below(row * values + last + 1) - below(row * values + first)
    return np.asarray(right / (below((row + 1) * values) - below(row * values)))


def _faults(parameters: InferenceParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    secret = parameters.target
    if secret not in document.attributes:
        yield "target", f"the policy declares no attribute {secret!r}"
        return
    if secret in (parameters.attributes or ()):
        yield "attributes", f"{secret!r} is what the intruder guesses; leave it out of what is known"
        return
    if document.attributes[secret].scale is Scale.ORDINAL and document.attributes[secret].order is None:
        yield "", f"{secret!r} is ordinal; declare its `order: [low, middle, high]`"
    own = quasi_identifiers_of(document)
    yield from measurable(known_attributes(parameters.attributes, own, secret), document)


CHECKS: list[Check] = [
    TableCheck(
        name="attribute_inference",
        title="Attribute inference compared with a control",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=InferenceParameters,
        measure=attribute_inference,
        comparison=Comparison.AT_MOST,
        label="upper end of the risk of inference that the release adds",
        validate=_faults,
        needs={Need.HOLDOUT_FOR_DEMANDS},
        sentences=Sentences(
            passed=(
                "An intruder who knows {others} and takes the {target:column} of the nearest released record is "
                "right for {on_both}: {added}."
            ),
            impact=(
                "An intruder who knows {person}'s {others} and guesses their {target:column} from the nearest "
                "released record {chances}."
            ),
            parts=CONTROL_PARTS,
            values=lambda outcome: {"others": [name for name in outcome.known if name != outcome.parameters["target"]]},
        ),
        guide=built_in_guide(__file__, "attribute_inference.md"),
    )
]
