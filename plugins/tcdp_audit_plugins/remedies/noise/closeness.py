"""Stochastic t-closeness by noise: classes of k records, and as much noise on confidential values as a t needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from math import expm1, floor, inf, log1p
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin._internal import count_pairs, fold
from tcdp_audit.plugin.check import ReferenceDistribution
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role
from tcdp_audit.plugin.remedy import (
    Attribute,
    NewColumn,
    Remedy,
    RemedyError,
    RemedyGuide,
    RemedyParameters,
    RemedyView,
    Treatment,
)
from tcdp_audit.plugin.sentences import Outcome, count as count_of
from tcdp_audit_plugins.checks.differential_privacy.extremes import response_distance, sign_of_exponential
from tcdp_audit_plugins.checks.differential_privacy.laplace import laplace_distance
from tcdp_audit_plugins.remedies._shared.masking import Names
from tcdp_audit_plugins.remedies._shared.scope import only_by_size
from tcdp_audit_plugins.remedies.noise.apply import added_noise, noisy_numbers, randomised_response
from tcdp_audit_plugins.remedies.noise.parameters import (
    FittedMechanism,
    Mechanism,
    NoiseParameters,
    at_least,
    faults as faults_of_noise,
    masked_column,
    records_with_value,
)

DIGITS = 10**9  # an epsilon that is solved has so many places
Classes = NDArray[np.int64]


class Partition(StrEnum):
    """A way to classes of at least k records."""

    MONDRIAN = "mondrian"
    MICROAGGREGATION = "microaggregation"
    NONE = "none"


class MaskedValues(RemedyParameters):
    """The mechanism of one confidential attribute."""

    mechanism: Annotated[Mechanism, Field(strict=False, description="laplace, geometric or randomised_response.")]
    bounds: Annotated[
        list[Exact] | None,
        Field(
            min_length=2,
            max_length=2,
            description="laplace and geometric: [low, high], to which values are clamped; not read off the data.",
        ),
    ] = None


class ClosenessParameters(RemedyParameters):
    """Parameters of `t_by_noise`."""

    attributes: Annotated[
        dict[str, MaskedValues],
        Field(min_length=1, description="The confidential attributes, each with its mechanism and bounds."),
    ]
    t: Annotated[Exact | None, Field(gt=1, description="The factor that holds between every class and the table.")] = (
        None
    )
    epsilon: Annotated[
        Exact | None,
        Field(gt=0, description="In place of t, with `microaggregated`: the epsilon of each person's values."),
    ] = None
    k: Annotated[
        int | None, Field(ge=2, description="The least number of records in a class; by default that of the policy.")
    ] = None
    partition: Annotated[
        Partition,
        Field(
            strict=False,
            description="How classes are made: mondrian, microaggregation, or none where they are those of the table.",
        ),
    ] = Partition.MONDRIAN
    microaggregated: Annotated[
        bool, Field(description="Whether the values of a class are replaced by their mean, which gets the noise, once.")
    ] = False
    aggregated: Annotated[
        Names | None, Field(description="With `partition: microaggregation`: the quasi-identifiers to aggregate.")
    ] = None

    @model_validator(mode="after")
    def _belong_together(self) -> ClosenessParameters:
        if (self.t is None) == (self.epsilon is None):
            raise ValueError("give either `t`, from which epsilon is solved, or `epsilon`")
        if self.epsilon is not None and not self.microaggregated:
            raise ValueError("`epsilon` goes with `microaggregated: true`; without it, use the remedy `noise`")
        if self.aggregated is not None and self.partition is not Partition.MICROAGGREGATION:
            raise ValueError("`aggregated` goes with `partition: microaggregation`")
        kinds = {one.mechanism for one in self.attributes.values()}
        if self.microaggregated and kinds != {Mechanism.LAPLACE}:
            raise ValueError("means are real numbers: with `microaggregated` every mechanism is laplace")
        for name in self.attributes:
            self.masked(name, Fraction(1))
        return self

    def masked(self, name: str, epsilon: Fraction) -> NoiseParameters:
        """The parameters of the remedy `noise` for one attribute."""
        one = self.attributes[name]
        return NoiseParameters(attribute=name, mechanism=one.mechanism, bounds=one.bounds, epsilon=epsilon)


def solved_epsilon(t: Fraction, share: Fraction) -> Fraction:
    """The largest epsilon of nine places with a + (1 - a) e^epsilon <= t, for the smallest class's share a.

    Source: Domingo-Ferrer, Soria-Comas (2015), proposition 1 as derived.

    Raises:
        RemedyError: no epsilon of nine places is small enough, or one class is the whole table.

    Example:
        >>> solved_epsilon(Fraction(2), Fraction(1, 3))
        Fraction(916290731, 1000000000)
    """
    if share == 1:
        raise RemedyError("one class is the whole table, which is t-close to itself without noise; ask for a smaller k")
    limit = (t - share) / (1 - share)
    places = floor(log1p(float(limit - 1)) * DIGITS) + 2
    while places > 0 and sign_of_exponential(Fraction(places, DIGITS), limit) > 0:
        places -= 1
    if places <= 0:
        raise RemedyError(
            "t is so close to 1 that no epsilon of nine places is small enough; larger classes would help"
        )
    return Fraction(places, DIGITS)


def mask_classes(view: RemedyView, parameters: ClosenessParameters) -> Treatment:
    """Make classes of at least k records, and mask the confidential values as t and the smallest class ask for.

    With a = min n_E / N, epsilon = ln((t - a) / (1 - a)) is shared equally among the attributes.

    Raises:
        RemedyError: OpenDP is not installed, there are no such classes, or an attribute does not fit its mechanism.

    Cost: that of the partition, and 1 to 25 µs for each value that gets noise.

    Source: Domingo-Ferrer, Soria-Comas (2015), proposition 1; Soria-Comas, Domingo-Ferrer, Sánchez, Martínez (2014).
    """
    k = int(parameters.k or view.demanded_k or 0)
    if k < 2:
        raise RemedyError("the policy demands no k of its classes; give the remedy a `k`")
    partition = _partition(view, parameters, k)
    classes, count = _classes(view, partition)
    sizes = np.bincount(classes, minlength=count)
    if sizes.min() < k:
        raise RemedyError(
            f"the smallest class has {count_of(int(sizes.min()), 'record')}, and k is {k:,}; let the remedy partition"
        )
    share = Fraction(int(sizes.min()), len(classes))
    names = sorted(parameters.attributes)
    attributes = view.attributes(names)
    valued = [_valued(one, classes, count) for one in attributes]
    least = min(int(one[one > 0].min()) for one in valued)  # records that a mean is of
    whole = solved_epsilon(parameters.t, share) if parameters.t is not None else (parameters.epsilon or 0) * least
    each = Fraction(whole) / len(names)
    columns, largest = dict(partition.columns), 1.0
    lines: list[str] = []
    attacks: list[Mapping[str, Mapping[str, Any]]] = []
    for attribute in attributes:
        given = parameters.masked(attribute.name, each)
        if parameters.microaggregated:
            columns[attribute.name], factor = _noisy_means(attribute, given, classes, count)
        else:
            fitted = _fitted(attribute, given)
            columns[attribute.name] = fitted.draw()
            factor = _factor(attribute, given, fitted, classes, count)
            lines += fitted.lines(attribute.name)
            attacks += fitted.attacks(attribute.name)
        largest = max(largest, factor)
    bound = float(share) + float(1 - share) * (expm1(min(float(whole), 700.0)) + 1)
    person = whole / least if parameters.microaggregated else whole
    demand = {"epsilon": float(whole), **({"at_most": float(parameters.t)} if parameters.t is not None else {})}
    return replace(
        partition,
        columns=columns,
        notes={
            "k": k,
            "classes": count,
            "smallest": int(sizes.min()),
            "epsilon": float(whole),
            "epsilon_of_person": float(person),
            "t": float(parameters.t) if parameters.t is not None else (bound if whole <= 700 else inf),
            "stochastic_t": largest,
            "microaggregated": parameters.microaggregated,
            "partition": dict(partition.notes),
        },
        lines=(*_line("k_anonymity", {"k": k}), *_line("t_from_epsilon", demand), *dict.fromkeys(lines)),
        attacks=(*partition.attacks, *attacks),
    )


def _line(check: str, given: Mapping[str, Any]) -> list[str]:
    return [f"- {check}: {yaml.safe_dump(dict(given), default_flow_style=True, sort_keys=False).strip()}"]


def _partition(view: RemedyView, parameters: ClosenessParameters, k: int) -> Treatment:
    """The quasi-identifiers of classes of at least k records."""
    if parameters.partition is Partition.NONE:
        return Treatment({})
    if parameters.partition is Partition.MONDRIAN:
        from tcdp_audit_plugins.remedies.mondrian import MondrianParameters, cut  # noqa: PLC0415 - one of two

        return cut(view, MondrianParameters(k=k))
    from tcdp_audit_plugins.remedies.microaggregation import (  # noqa: PLC0415 - one of two
        MicroaggregationParameters,
        microaggregate,
    )

    given = {"k": k, "closeness": "none", "attributes": parameters.aggregated}
    return microaggregate(view, MicroaggregationParameters.model_validate(given))


def _classes(view: RemedyView, partition: Treatment) -> tuple[Classes, int]:
    """The class of each record after the partition."""
    if partition.retained is not None:
        raise RemedyError("the partition drops records, whose classes are then unknown; suppress them first")
    columns, sizes = [np.zeros(view.records, dtype=np.int64)], [1]
    for one in view.quasi_identifiers:
        new = partition.columns.get(one.name)
        columns.append(one.released_codes(view.suppressed_token) if new is None else new.codes.astype(np.int64))
        sizes.append(one.domain.size + 1 if new is None else len(new.cells) + 1)
    _, classes = np.unique(fold(columns, sizes).values, return_inverse=True)
    return classes.astype(np.int64), int(classes.max()) + 1


def _valued(attribute: Attribute, classes: Classes, count: int) -> NDArray[np.int64]:
    """The records of each class that have a value. Shape (classes,)."""
    return np.bincount(classes[records_with_value(attribute)], minlength=count)


def _fitted(attribute: Attribute, given: NoiseParameters) -> FittedMechanism:
    answers = given.mechanism is Mechanism.RANDOMISED_RESPONSE
    return (randomised_response if answers else added_noise)(attribute, given)


def _noisy_means(attribute: Attribute, given: NoiseParameters, classes: Classes, count: int) -> tuple[NewColumn, float]:
    """Each class's mean of the clamped values with Laplace noise, drawn once; and the factor that this gives."""
    has_value = records_with_value(attribute)
    if not attribute.is_numeric:
        raise RemedyError(f"column {attribute.name!r} holds no numbers, and means are of those")
    low, high = given.range
    values = np.clip(attribute.domain.values.astype(np.float64), float(low), float(high))
    own = classes[has_value]
    sums = np.bincount(own, values[attribute.codes[has_value]], minlength=count)
    number = np.bincount(own, minlength=count)
    means = np.clip(sums / np.maximum(number, 1), float(low), float(high))
    noisy = noisy_numbers(means, given)
    cells, codes = np.unique(noisy, return_inverse=True)
    at, places = np.unique(means[number > 0], return_inverse=True)
    filled = np.flatnonzero(number > 0)
    histogram = count_pairs(fold([np.arange(len(filled))], [len(filled)]), places, len(at), number[filled])
    table = ReferenceDistribution(np.bincount(places, number[filled], minlength=len(at)).astype(np.int64))
    factor = laplace_distance(histogram, table, at, Fraction(at_least(given.scale))).values.max()
    return masked_column(cells, codes[own], has_value), float(factor)


def _factor(
    attribute: Attribute, given: NoiseParameters, fitted: FittedMechanism, classes: Classes, count: int
) -> float:
    """The largest factor between a class's outputs and the table's, of this attribute by itself."""
    has_value, values = records_with_value(attribute), np.zeros(0)
    codes, own = attribute.codes[has_value].astype(np.int64), classes[has_value]
    if given.mechanism is not Mechanism.RANDOMISED_RESPONSE:
        low, high = given.range
        values, places = np.unique(np.clip(attribute.domain.values, float(low), float(high)), return_inverse=True)
        codes, size = places[codes].astype(np.int64), len(values)
    else:
        size = attribute.domain.size
    histogram = count_pairs(fold([own], [count]), codes, size)
    table = ReferenceDistribution(np.bincount(codes, minlength=size))
    if given.mechanism is Mechanism.RANDOMISED_RESPONSE:
        retention = Fraction(fitted.notes["retention"]).limit_denominator(DIGITS)
        return float(response_distance(histogram, table, retention).values.max())
    return float(laplace_distance(histogram, table, values, Fraction(fitted.notes["scale"])).values.max())


def faults(parameters: ClosenessParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Yield the faults that only the policy as a whole shows: (parameter, sentence)."""
    for name in sorted(parameters.attributes):
        declared = document.attributes.get(name)
        if declared is None or declared.role is not Role.SENSITIVE:
            yield "attributes", f"{name!r} is no sensitive attribute of the policy"
            continue
        yield from (
            ("attributes", f"{name!r}: {why}")
            for _, why in faults_of_noise(parameters.masked(name, Fraction(1)), document)
        )
    others = {name for name, one in document.attributes.items() if one.role is Role.SENSITIVE} - {
        *parameters.attributes
    }
    for name in sorted(others):
        yield "attributes", f"{name!r} is sensitive and would stay as it is, so that no t holds for it; mask it, too"


def why_not_applicable(view: RemedyView, parameters: ClosenessParameters | None, outcome: Outcome) -> str:
    """Say why it cannot help a failing demand; it is never proposed."""
    return "needs mechanisms and bounds that only you can choose" if parameters is None else only_by_size(view, outcome)


T_BY_NOISE = Remedy(
    name="t_by_noise",
    title="t-closeness by noise",
    summary="Makes classes of at least k records and masks confidential values with the noise that a given t needs.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("t_by_noise.md")),
    parameters=ClosenessParameters,
    apply=mask_classes,
    validate=faults,
    why_not_applicable=why_not_applicable,
    random=True,
)
