"""PRAM, the post-randomisation method: categories are released as others, with known probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.remedies._shared.masking import (
    Fault,
    Masking,
    MaskingParameters,
    Names,
    by_content,
    masked_attributes,
)
from tcdp_audit_plugins.remedies._shared.scope import weakest

Share = Annotated[Exact, Field(ge=0, le=1)]
Line = Annotated[dict[Text, Share], Field(min_length=1)]
Declared = Mapping[str, Mapping[str, Fraction]]
HUNDREDTHS = (99, 98, 97, 95, 93, 90, 85, 80, 75, 70, 65, 60, 55, 50, 45, 40, 35, 30, 25, 20, 15, 10, 5, 2, 1)
RETENTIONS = tuple(Fraction(one, 100) for one in HUNDREDTHS)  # from weak to strong
LARGEST = 2_000  # values of an attribute: its matrices take 32 MB each


class PramParameters(MaskingParameters):
    """Parameters of `pram`."""

    naming = "matrix"
    strengths = ("retention", "matrix")
    retention: Annotated[
        Annotated[Exact, Field(gt=0, lt=1)] | None,
        Field(
            description="The probability that a value is kept, all others of the column being as probable as each "
            "other. By default the largest that suffices."
        ),
    ] = None
    matrix: Annotated[
        dict[Text, Annotated[dict[Text, Line], Field(min_length=1)]] | None,
        Field(
            min_length=1,
            description="For an attribute its matrix: for every value the probabilities of what is released, "
            "`{sex: {male: {male: 0.9, female: 0.1}, female: {female: 1}}}`.",
        ),
    ] = None
    invariant: Annotated[
        bool, Field(description="Adapt the probabilities, so that the expected number of records of no value changes.")
    ] = False
    attributes: Annotated[
        Names | None,
        Field(
            description="The attributes to randomise, each by itself; by default those with a matrix, and without any "
            "the nominal and ordinal quasi-identifiers."
        ),
    ] = None

    @model_validator(mode="after")
    def _belong_together(self) -> PramParameters:
        for name, matrix in (self.matrix or {}).items():
            for line in matrix.values():
                if sum(line.values()) != 1:
                    raise ValueError(f"the probabilities of a line of the matrix of {name!r} must add up to 1")
                if not matrix.keys() >= line.keys():
                    raise ValueError(f"the matrix of {name!r} releases a value that has no line; give it one")
        if self.matrix and self.attributes is None and self.retention is not None:
            raise ValueError("every attribute that is randomised has a matrix; leave retention, or name `attributes`")
        return self

    @property
    def names(self) -> list[str] | None:
        """The attributes to randomise; None for the quasi-identifiers."""
        return self.attributes or (None if self.matrix is None else sorted(self.matrix))

    def further_faults(self, document: PolicyDocument) -> Iterator[Fault]:  # noqa: ARG002 - as of others
        """Yield the faults of matrices without an attribute."""
        for name in sorted(set(self.matrix or ()) - set(self.names or ())):
            yield "matrix", f"{name!r} has a matrix and is not among `attributes`"


MASKING = Masking(
    PramParameters,
    unfit="every quasi-identifier is numeric",
    ordered=False,
    refused={Scale.NUMERIC: "is numeric, and categories are randomised; swap its ranks, or generalise it first"},
    suggested=[{"invariant": True}],
)


def retaining(retention: float, values: int) -> Floats:
    """Keep a value with one probability, and release all others equally likely.

    Example:
        >>> retaining(0.9, 3).round(3).tolist()
        [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]
    """
    if values == 1:
        return np.ones((1, 1))
    matrix = np.full((values, values), (1 - retention) / (values - 1))
    np.fill_diagonal(matrix, retention)
    return matrix


def declared_matrix(lines: Declared, labels: Sequence[str]) -> Floats:
    """A declared matrix over values in an order of ours; one without a line stays as it is.

    What a line does not name has no probability; `labels` has every value that has a line or is released.

    Example:
        >>> declared_matrix({"a": {"a": Fraction(1, 2), "b": Fraction(1, 2)}}, ["a", "b"]).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
    """
    place = {label: position for position, label in enumerate(labels)}
    matrix = np.eye(len(labels))
    for label, line in lines.items():
        matrix[place[label]] = 0.0
        for released, probability in line.items():
            matrix[place[label], place[released]] = float(probability)
    return matrix


def drawn(matrix: Floats, codes: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """The value that is released for each of some values, each drawn by itself.

    `matrix` has a line of probabilities for each value.

    Cost: O(records log records + values^2).
    """
    chance = random.random(len(codes))
    released = codes.copy()
    order = np.argsort(codes, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        if len(part):
            line = np.cumsum(matrix[codes[part[0]]])
            released[part] = np.searchsorted(line / line[-1], chance[part], side="right")
    return released


def post_randomise(view: RemedyView, parameters: PramParameters) -> Treatment:
    """Release values as others, each record by itself, attribute by attribute.

    Raises:
        RemedyError: an attribute has one value only, too many, or some without a line in its matrix, the retention is
            so low that another value would be likelier than the true one, or, where none is given, nothing says how
            strong it has to be or no strength is enough.

    Cost: a sort of the records, and O(values^3) where it is invariant, for each attribute; the same and an audit for
    each of at most ten retentions where none is given.
    """
    columns = [_Categories(view, one, parameters) for one in _attributes(view, parameters)]
    pram = _Pram(view, columns)
    if parameters.retention is not None or all(one.declared is not None for one in columns):
        pram.require_true_value_first(parameters.retention)
        return pram.at(parameters.retention)
    return pram.at(weakest(view, pram.at, RETENTIONS))


def _attributes(view: RemedyView, parameters: PramParameters) -> list[Attribute]:
    names = parameters.names
    if names is None:
        names = [one.name for one in view.quasi_identifiers if one.scale is not Scale.NUMERIC]
        if not names:
            raise RemedyError("every quasi-identifier is numeric, and categories are randomised; name `attributes`")
    return masked_attributes(view, names, ordered=False)


@dataclass(frozen=True)
class _Categories:
    """An attribute whose values are randomised."""

    view: RemedyView
    attribute: Attribute
    parameters: PramParameters  # what the policy says

    @property
    def declared(self) -> Declared | None:
        return (self.parameters.matrix or {}).get(self.attribute.name)

    @cached_property
    def labels(self) -> list[str]:
        """The values in the domain's order, then those that only the matrix has."""
        known = list(self.attribute.domain.labels)
        return [*known, *sorted(set(self.declared or ()) - set(known))]

    @cached_property
    def counts(self) -> Floats:
        """The records with each value, none for suppressed cells. Shape (labels,)."""
        informative = ~self.attribute.domain.is_uninformative[:-1]
        counts = np.bincount(self.attribute.codes, minlength=len(informative) + 1)[:-1] * informative
        return np.append(counts, np.zeros(len(self.labels) - len(informative))).astype(np.float64)

    @cached_property
    def present(self) -> NDArray[np.intp]:
        """Positions of the labels that are released or have a line, and are no suppressed cells."""
        lines = set(self.declared or ())
        named = np.array([label in lines for label in self.labels], dtype=bool)
        return np.flatnonzero(named | (self.counts > 0))

    def require_matrix(self) -> None:
        """Raise a RemedyError where there is no matrix for what the column holds."""
        name, values = self.attribute.name, len(self.present)
        if not self.counts.any():
            raise RemedyError(f"column {name!r} has no value in any record")
        if values < 2:
            raise RemedyError(f"column {name!r} has one value only, so that there is nothing to release instead")
        if values > LARGEST:
            raise RemedyError(f"column {name!r} has {values:,} values, and {LARGEST:,} can be had; generalise it first")
        if self.declared is not None:
            without = sum(self.labels[place] not in self.declared for place in self.present)
            if without:
                raise RemedyError(f"the matrix of {name!r} has no line for {without:,} of its values; give them one")

    def staying(self, retention: Fraction | None) -> Fraction:
        """The probability that a value is kept where there is no matrix: that of any other value at the least."""
        return max(retention or Fraction(0), Fraction(1, len(self.present)))

    def matrix(self, retention: Fraction | None) -> Floats:
        """The probabilities with which values are released, over `present`."""
        values, counts = len(self.present), self.counts[self.present]
        if self.declared is not None:
            matrix = declared_matrix(self.declared, [self.labels[place] for place in self.present])
        else:
            matrix = retaining(float(self.staying(retention)), values)
        if not self.parameters.invariant:
            return matrix
        from tcdp_audit_plugins.checks.masking_attacks.channel import invariant  # noqa: PLC0415 - many modules

        return invariant(matrix, counts)


@dataclass(frozen=True)
class _Pram:
    """Attributes that are randomised together: one strength for all that have no matrix of their own."""

    view: RemedyView
    columns: Sequence[_Categories]

    def require_true_value_first(self, retention: Fraction | None) -> None:
        """Raise a RemedyError where another value would be likelier than the true one; it names the least retention."""
        for one in self.columns:
            one.require_matrix()
            if one.declared is None and retention is not None and retention * len(one.present) < 1:
                raise RemedyError(
                    f"at a retention of {float(retention):g} another of the {len(one.present):,} values of "
                    f"{one.attribute.name!r} would be likelier than the true one; the least is 1/{len(one.present)}"
                )

    def at(self, retention: Fraction | None) -> Treatment:
        order = by_content(self.view)
        done: dict[str, NewColumn] = {}
        notes = {"retention": 1.0, "changed": 0, "without_value": 0, "margin_shift": 0.0}
        for one, random in zip(self.columns, self.view.generator().spawn(len(self.columns)), strict=True):
            one.require_matrix()
            matrix = one.matrix(retention)
            place = np.full(len(one.labels) + 1, -1)
            place[one.present] = np.arange(len(one.present))
            codes = one.attribute.codes.astype(np.int64)
            codes[codes == one.attribute.domain.size] = len(one.labels)
            randomised = order[place[codes[order]] >= 0]
            after = codes.copy()
            after[randomised] = one.present[drawn(matrix, place[codes[randomised]], random)]
            done[one.attribute.name] = NewColumn.of_texts(one.labels, after)
            notes = _with(notes, one, matrix, int((after != codes).sum()))
        return Treatment(done, notes=notes, attacks=({"pram_attack": self._known(retention)},))

    def _known(self, retention: Fraction | None) -> dict[str, Any]:
        """The knowledge of an intruder who knows the method: with which probabilities values were released."""
        from tcdp_audit_plugins.checks.masking_attacks.parameters import BY_DEFAULT  # noqa: PLC0415 - many modules

        staying = {one.attribute.name: one.staying(retention) for one in self.columns if one.declared is None}
        matrix = {one.attribute.name: one.declared for one in self.columns if one.declared is not None}
        return {
            "attributes": [one.attribute.name for one in self.columns],
            "invariant": self.columns[0].parameters.invariant,
            "limit": BY_DEFAULT,
            **({"retention": staying} if staying else {}),
            **({"matrix": matrix} if matrix else {}),
        }


def _with(notes: Mapping[str, float], one: _Categories, matrix: Floats, changed: int) -> dict[str, float]:
    """The figures with those of one more attribute."""
    counts = one.counts[one.present]
    staying = float(np.diagonal(matrix)[counts > 0].min())
    shift = float(np.abs(counts @ matrix - counts).max() / counts.sum())
    return {
        "retention": min(notes["retention"], staying),
        "changed": notes["changed"] + changed,
        "without_value": notes["without_value"] + one.view.records - int(counts.sum()),
        "margin_shift": round(max(notes["margin_shift"], shift), 12),
    }


PRAM = MASKING.remedy(
    __file__,
    post_randomise,
    title="PRAM",
    summary="Releases categories as others with declared probabilities, or so that no margin is expected to change.",
    once=True,
)
