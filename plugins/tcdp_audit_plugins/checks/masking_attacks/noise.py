"""Parameters of the attack on added noise, and the covariance matrix that they declare or the pairs show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Pairs, TableView
from tcdp_audit.plugin.detector import AttributeDeclaration, Exact, PolicyDocument, Scale, Text
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, without_key
from tcdp_audit_plugins.checks.masking_attacks.parameters import LikelihoodParameters, read_matrix, unknown_attributes

Scores = Literal["values", "ranks", "normal"]
Percent = Annotated[Exact, Field(ge=0)]
SYMMETRY = 1e-9  # of the largest number: what printed decimals may differ by
INCOMPLETE = (
    "cells are missing in the compared columns, and noise covariances are estimated from whole records; give `sd`, "
    "use `estimate: variances`, or leave the columns with missing cells out of `attributes`"
)
NAME = "the covariance matrix of the noise"
ABSENT = NAME + " has no line and column for column {name!r}; add them"


class NoiseParameters(LikelihoodParameters):
    """Parameters of `noise_attack`."""

    attributes: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            description="The numeric attributes that the intruder knows; without it, all numeric quasi-identifiers, or "
            "where ranks are compared all that have an order.",
        ),
    ] = None
    sd: Annotated[
        Percent | dict[Text, Percent] | None,
        Field(
            description="The standard deviation of the noise, in percent of the original attribute's: one for every "
            "attribute, or one for each."
        ),
    ] = None
    shape: Annotated[
        Literal["independent", "correlated"],
        Field(
            description="With `sd`: noise of different attributes is independent, or has the correlations of the "
            "original's attributes."
        ),
    ] = "independent"
    rescaled: Annotated[
        bool,
        Field(
            description="With `sd`: numbers were drawn back to their mean after the noise, so that variances stay on "
            "average; an intruder who knows that stretches them again."
        ),
    ] = False
    covariance: Annotated[
        str | dict[Text, Annotated[dict[Text, Exact], Field(min_length=1)]] | None,
        Field(
            description="The covariance matrix of the noise, in units of the attributes: a CSV file with their names "
            "in the first line, then for each a line with its name and its covariances; or the numbers themselves, "
            "`{age: {age: 4, wage: 10}, wage: {wage: 2500}}`, each pair once or twice."
        ),
    ] = None
    scores: Annotated[
        Scores,
        Field(
            description="What the noise was added to: the numbers, their ranks, or the normal scores of their ranks. "
            "The latter two are for values that were moved about, of ordinal attributes too."
        ),
    ] = "values"
    estimate: Annotated[
        Literal["covariance", "variances"],
        Field(description="What is estimated from the pairs where neither is declared."),
    ] = "covariance"

    def files(self) -> Iterator[tuple[str, str | None, str]]:
        """The file of the covariance matrix."""
        if isinstance(self.covariance, str):
            yield "covariance", None, self.covariance

    @property
    def is_estimated(self) -> bool:
        """Whether nothing is declared of the noise."""
        return self.sd is None and self.covariance is None


def numeric_attributes(parameters: NoiseParameters, document: PolicyDocument) -> list[str]:
    """The attributes that are named, else all numeric quasi-identifiers, or for ranks all with an order; sorted."""
    own = (name for name in without_key(document) if not _why_unsuited(parameters, document.attributes[name]))
    return known_attributes(parameters.attributes, own)


def _why_unsuited(parameters: NoiseParameters, declaration: AttributeDeclaration) -> str:
    """The reason why noise cannot have been added to an attribute; empty where it can."""
    if declaration.scale is Scale.NUMERIC:
        return ""
    if parameters.scores == "values":
        return "is not numeric, and noise is added to numbers"
    ranked = declaration.scale is Scale.ORDINAL and declaration.order is not None
    return "" if ranked else "has no order, so its values have no ranks"


def faults(parameters: NoiseParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The reasons why an expectation cannot hold for a policy: (parameter, sentence)."""
    if parameters.attributes:
        yield from unknown_attributes(parameters, document)
    names = numeric_attributes(parameters, document)
    if not names:
        yield "", "no quasi-identifier is numeric, and noise is added to numbers; declare `scale: numeric`"
    for name in names:
        declaration = document.attributes.get(name)
        if declaration is not None and (why := _why_unsuited(parameters, declaration)):
            example = f"`{name}: {{role: {declaration.role.value}, scale: numeric}}`"
            yield "attributes", f"{name!r} {why}; declare it, as in {example}"
    yield from _misdeclared(parameters, names)


def _misdeclared(parameters: NoiseParameters, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is declared of the noise twice, not at all, or of no attribute: (parameter, sentence)."""
    if parameters.sd is not None and parameters.covariance is not None:
        yield "covariance", "the noise is declared twice; leave `sd` or `covariance`"
    for name in ("shape", "rescaled"):
        if name in parameters.model_fields_set and parameters.sd is None:
            yield name, "it says more of noise whose `sd` is declared; declare that, or leave it"
    if isinstance(parameters.sd, Mapping):
        for name in sorted(set(parameters.sd) - set(names)):
            yield "sd", f"{name!r} has a standard deviation and is not among the attributes that the intruder knows"
        for name in sorted(set(names) - set(parameters.sd)):
            yield "sd", f"{name!r} has no standard deviation; declare it, 0 where nothing was added"


@dataclass(frozen=True)
class Noise:
    """Noise of mean 0."""

    names: Sequence[str]  # of the attributes that it was added to
    covariance: Floats  # in units of the attributes. float64, shape (attributes, attributes).
    spread: Floats  # the standard deviation of each attribute in the original, with n - 1. float64.
    stretch: Floats  # by how much released numbers were drawn back to the mean of the original after it. float64.
    mean: Floats  # of the original. float64.

    @property
    def is_independent(self) -> bool:
        """Whether no two attributes have a covariance."""
        return bool((self.covariance == np.diag(np.diag(self.covariance))).all())


def noise_of(view: TableView, pairs: Pairs, names: Sequence[str], parameters: NoiseParameters) -> Noise:
    """What the parameters declare of the noise, or what the pairs show.

    Raises:
        CheckError: a declared matrix cannot be read or is none, or declares no noise where values differ; or an
            attribute has no pair of cells.
    """
    mean, spread = np.array([_mean_and_spread(pairs.original, name) for name in names]).T
    share = np.zeros(len(names))
    if parameters.covariance is not None:
        covariance = _sound(_declared(view, parameters.covariance, names))
    elif parameters.sd is not None:
        share = np.array([_percent(parameters, name) / 100 for name in names])
        correlated = parameters.shape == "correlated"
        own = _covariance(pairs.original, names) if correlated else np.diag(spread**2)
        covariance = np.outer(share, share) * own
    else:
        covariance = _estimated(pairs, names, variances=parameters.estimate == "variances")
    if not parameters.is_estimated:
        _require_still(pairs, [name for name, one in zip(names, np.diag(covariance), strict=True) if one == 0])
    stretch = np.sqrt(1 + share**2) if parameters.rescaled else np.ones(len(names))
    return Noise(names, covariance, spread, stretch, mean)


def _percent(parameters: NoiseParameters, name: str) -> float:
    sd = parameters.sd
    return float(sd[name] if isinstance(sd, Mapping) else sd or 0)


def _mean_and_spread(table: CodedTable, name: str) -> tuple[float, float]:
    """Mean and standard deviation of an attribute, added up value by value so that no order of rows matters."""
    values = table.domains[name].values.astype(np.float64)
    counts = np.bincount(table.codes[name], minlength=len(values) + 1)[:-1]
    records = max(int(counts.sum()), 1)
    mean = float((values * counts).sum()) / records
    return mean, float(np.sqrt(((values - mean) ** 2 * counts).sum() / max(records - 1, 1)))


def _covariance(table: CodedTable, names: Sequence[str]) -> Floats:
    """The covariance matrix of some attributes, added up in the order of their contents."""
    order = np.lexsort([table.codes[name] for name in names])
    numbers = np.column_stack([table.numbers(name) for name in names])[order]
    if np.isnan(numbers).any():
        raise CheckError(INCOMPLETE)
    centred = numbers - numbers.mean(axis=0)
    return np.asarray(centred.T @ centred / max(len(numbers) - 1, 1))


def _declared(view: TableView, given: str | Mapping[str, Mapping[str, Fraction]], names: Sequence[str]) -> Floats:
    """The numbers of a declared matrix, in the order of the attributes."""
    if isinstance(given, str):
        return _of_file(Path(view.policy.resolve(given)), names)
    place = {name: number for number, name in enumerate(names)}
    numbers = np.zeros((len(names), len(names)))
    for one, row in given.items():
        for other, value in row.items():
            if one in place and other in place:
                numbers[place[one], place[other]] = float(value)
                if given.get(other, {}).get(one) is None:
                    numbers[place[other], place[one]] = float(value)
    absent = [name for name in names if name not in given]
    if absent:
        raise CheckError(ABSENT.format(name=absent[0]))
    return numbers


def _of_file(path: Path, names: Sequence[str]) -> Floats:
    matrix = read_matrix(path, NAME)
    absent = [name for name in names if name not in matrix.rows or name not in matrix.columns]
    if absent:
        raise CheckError(ABSENT.format(name=absent[0]))
    rows, columns = ([labels.index(name) for name in names] for labels in (matrix.rows, matrix.columns))
    return matrix.numbers[np.ix_(rows, columns)]


def _sound(numbers: Floats) -> Floats:
    """A covariance matrix, symmetric to the last digit."""
    scale = np.sqrt(np.outer(np.diag(numbers), np.diag(numbers))) if (np.diag(numbers) >= 0).all() else None
    if scale is None or (np.abs(numbers - numbers.T) > SYMMETRY * np.abs(numbers).max(initial=0)).any():
        raise CheckError(f"{NAME} is none: it must be symmetric, with no negative number on its diagonal")
    numbers = (numbers + numbers.T) / 2
    correlation = np.divide(numbers, scale, out=np.zeros_like(numbers), where=scale > 0)
    if ((scale == 0) & (numbers != 0)).any() or np.linalg.eigvalsh(correlation).min() < -SYMMETRY:
        raise CheckError(f"{NAME} is none: some combination of attributes would have a negative variance")
    return numbers


def _estimated(pairs: Pairs, names: Sequence[str], *, variances: bool) -> Floats:
    """The mean product of differences, added up in the order of their contents."""
    columns = [pairs.released.codes[name][pairs.matched] for name in names]
    columns += [pairs.original.codes[name][pairs.partner[pairs.matched]] for name in names]
    order = np.lexsort(columns)
    released, original = (np.column_stack(side)[order] for side in zip(*map(pairs.numbers, names), strict=True))
    added = released - original
    known = ~np.isnan(added)
    for name, one in zip(names, known.T, strict=True):
        if not one.any():
            raise CheckError(f"column {name!r} has no pair of cells that both have a number; leave it out")
    if variances:
        return np.diag(np.nan_to_num(added**2).sum(axis=0) / known.sum(axis=0))
    if not known.all():
        raise CheckError(INCOMPLETE)
    return np.asarray(added.T @ added / len(added))


def _require_still(pairs: Pairs, names: Sequence[str]) -> None:
    """Insist that nothing changed where no noise is declared."""
    for name in names:
        released, original = pairs.numbers(name)
        changed = int((np.abs(released - original) > 0).sum())
        if changed:
            raise CheckError(
                f"no noise is declared for column {name!r}, or it does not vary, and its value changed in "
                f"{count(changed, 'record')}; declare the noise that was added, or leave it to be estimated"
            )
