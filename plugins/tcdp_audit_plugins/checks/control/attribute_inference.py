"""Attribute inference: the secret of the nearest released record, taken for that of a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Check, Floats
from tcdp_audit.plugin.check import (
    CheckError,
    CodedTable,
    Comparison,
    DisclosureType,
    Guide,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit.plugin.sentences import Outcome, an_intruder, column_of, columns_of
from tcdp_audit_plugins.checks._shared.control_comparison import CONTROL, Attack
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of
from tcdp_audit_plugins.checks.control.risk import (
    ControlParameters,
    compare_with_control,
    judged_beside_control,
    mean_credit,
    measurable,
)
from tcdp_audit_plugins.checks.control.sentences import (
    ABOUT_CONTROL,
    CHOOSING,
    CUT,
    GIOMI,
    OPINION,
    READING,
    added,
    chances,
    on_both,
)
from tcdp_audit_plugins.checks.control.tables import (
    Gower,
    Places,
    Points,
    Tables,
    numbers_of,
    scale_of,
)
from tcdp_audit_plugins.formulas import formula

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SLACK = 1e-9  # of a tolerance: differences of decimals as floats are off by less


class InferenceParameters(ControlParameters):
    """Parameters of `attribute_inference`."""

    secret: Annotated[Text, Field(description="The attribute that the intruder guesses.")]
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
class Applicability:
    """Which values of the secret are right guesses of each: those from a first code to a last.

    Args:
        first: the first code that is right for each code. Shape (size,).
        last: the last.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]


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
    secret = parameters.secret
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


def right_guesses(tables: Tables, secret: str, scale: Scale, parameters: InferenceParameters) -> Applicability:
    """Which values are near enough: the same one, or a number within the tolerance.

    The width of the domain is declared, or that of original and hold-out; what the release holds does not change it.
    """
    domain = tables.released.domains[secret]
    code = np.arange(domain.size)
    if scale is not Scale.NUMERIC or domain.covers is not None or not domain.size:
        return Applicability(code, code)  # ranges are equal or not
    numbers = numbers_of(domain, scale)
    seen = np.unique(np.concatenate([table.codes[secret] for table in tables.targets]))
    own = numbers[seen[seen < domain.size]]
    width = float(parameters.width) if parameters.width is not None else float(np.ptp(own)) if len(own) else 0.0
    off = float(parameters.tolerance) * width
    slack = SLACK * (off + np.abs(numbers))
    first = np.searchsorted(numbers, numbers - off - np.minimum(slack, off))
    return Applicability(first, np.searchsorted(numbers, numbers + off + np.minimum(slack, off), side="right") - 1)


def _secrets_of_points(released: Points, table: CodedTable, secret: str) -> csr_matrix:
    """How many released records on each point have each secret; shape (points, values + 1)."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - takes a tenth of a second to import

    shape = len(released), table.domains[secret].size + 1
    each = table.rows.each.astype(np.float64)
    return csr_matrix((each, (released.point, table.codes[secret].astype(np.int64))), shape=shape)


def _attack(
    places: Places, seekers: Points, guesses: csr_matrix, table: CodedTable, secret: str, reach: Applicability
) -> Attack:
    """The secrets of all records that have one, guessed from the nearest released ones.

    Raises:
        CheckError: none has one.
    """
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
    """Of each row's nearest records the share whose secret lies from a first code to a last."""
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
    secret = parameters.secret
    yield from judged_beside_control(parameters, document)
    if secret not in document.attributes:
        yield "secret", f"the policy declares no attribute {secret!r}"
        return
    if secret in (parameters.attributes or ()):
        yield "attributes", f"{secret!r} is what the intruder guesses; leave it out of what is known"
        return
    if document.attributes[secret].scale is Scale.ORDINAL and document.attributes[secret].order is None:
        yield "", f"{secret!r} is ordinal; declare its `order: [low, middle, high]`"
    own = quasi_identifiers_of(document)
    yield from measurable(known_attributes(parameters.attributes, own, secret), document)


def _sentence(outcome: Outcome) -> str:
    guess = f"takes the {column_of(outcome, outcome.parameters['secret'])} of the nearest released record"
    known = [name for name in outcome.known if name != outcome.parameters["secret"]]
    who = f"An intruder who knows {columns_of(outcome, known)} and {guess}"
    return f"{who} is right for {on_both(outcome)}: {added(outcome)}."


def _person(outcome: Outcome) -> str:
    secret = outcome.parameters["secret"]
    known = columns_of(outcome, [name for name in outcome.known if name != secret])
    guess = f"guesses their {column_of(outcome, secret)} from the nearest released record"
    return f"Whoever knows {an_intruder(outcome)}'s {known} and {guess} {chances(outcome)}."


CHECKS: list[Check] = [
    TableCheck(
        name="attribute_inference",
        title="Attribute inference beside a control",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=InferenceParameters,
        measure=attribute_inference,
        comparison=Comparison.AT_MOST,
        label="upper end of the risk of inference that the release adds",
        requires=frozenset({CONTROL}),
        validate=_faults,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="Does the most similar released record tell a person's secret, more often than by chance?",
            risk="Somebody who knows a little of a person may learn a secret from the most similar record.",
            definition=(
                "The intruder knows some attributes of a person, looks for the nearest released records by Gower's "
                "distance, and guesses the secret that they have. Among t records that tie for nearest, r of them with "
                "the right secret, the guess is right with probability r/t. The same is done for the people of a "
                "hold-out, whose secrets the release can only tell as it tells those of anybody: what is learned of "
                "the whole population is no disclosure. The risk is what is right beyond that."
            ),
            **formula(
                r"\frac{a_T - a_H}{1 - a_H} \text{ (upper end) } \le \text{at\_most}",
                r"a = \frac{1}{n} \sum_i \frac{r_i}{t_i}",
                r"t_i \text{ nearest released records}",
                r"r_i \text{ of them with the right secret}",
            ),
            reading=(
                f"{READING} `without_secret` counts records of original and hold-out without a value of the secret, "
                "which are left out. A secret that is a number is guessed right within `tolerance` times the width of "
                "its domain, which is `width` or that of original and hold-out."
            ),
            choosing=CHOOSING,
            limits=(
                f"{ABOUT_CONTROL} A learner may infer more than the nearest record tells. Generalised values of a "
                "nominal attribute differ from every value that they stand for. All pairs are compared: original, "
                f"hold-out and release of 100,000 records each take minutes. {CUT}"
            ),
            source=f"{OPINION}: inference; {GIOMI}",
            example="- attribute_inference: {secret: salary, at_most: 0.1, attributes: [age, sex]}",
        ),
    ),
]
