"""Parameters of the attack on post-randomisation, and attributes of both tables with the changes of their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Counts, Floats
from tcdp_audit.plugin.check import Pairs, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.engine import CheckError, Domain
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of
from tcdp_audit_plugins.checks.masking_attacks.channel import (
    MOST,
    Adapted,
    Channel,
    Counted,
    Declared,
    Retained,
    cell_posterior,
    changes,
    declared,
    estimated,
    invariant,
    logarithms,
    places,
    retention_matrix,
)
from tcdp_audit_plugins.checks.masking_attacks.parameters import (
    LabelledMatrix,
    LikelihoodParameters,
    matrix_of,
    read_matrix,
    unknown_attributes,
)
from tcdp_audit_plugins.checks.masking_attacks.transitions import CodedPoints, Transitions

Share = Annotated[Exact, Field(ge=0, le=1)]
Lines = Annotated[dict[Text, Annotated[dict[Text, Share], Field(min_length=1)]], Field(min_length=1)]

Codes = NDArray[np.int64]


class PramParameters(LikelihoodParameters):
    """Parameters of `pram_attack`."""

    retention: Annotated[
        Share | dict[Text, Share] | None,
        Field(
            description="The probability that a value is kept, all others being as probable as each other: one for "
            "every attribute without a matrix, or one for each that is named."
        ),
    ] = None
    matrix: Annotated[
        dict[Text, str | Lines] | None,
        Field(
            min_length=1,
            description="For an attribute a CSV file: released values in the first line, then for each original value "
            "a line with the probabilities; or the lines themselves, `{male: {male: 0.9, female: 0.1}, …}`.",
        ),
    ] = None
    invariant: Annotated[
        bool,
        Field(
            description="Whether what is declared was adapted so that no value is expected to become rarer or more "
            "frequent."
        ),
    ] = False

    def files(self) -> Iterator[tuple[str, str | None, str]]:
        """The files of matrices."""
        yield from (("matrix", name, location) for name, location in self._matrices if isinstance(location, str))

    def figures(self) -> dict[str, Any]:
        """As an outcome carries them: the values of a matrix in the policy are counted."""
        figures = super().figures()
        if self.matrix is not None:
            listed = {name: one if isinstance(one, str) else count(len(one), "value") for name, one in self._matrices}
            figures["matrix"] = listed
        return figures

    @property
    def _matrices(self) -> list[tuple[str, str | Mapping[str, Mapping[str, Fraction]]]]:
        return sorted((self.matrix or {}).items())

    def retention_of(self, attribute: str) -> Exact | None:
        """The declared retention of an attribute."""
        return self.retention.get(attribute) if isinstance(self.retention, Mapping) else self.retention


def faults(parameters: PramParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The reasons why an expectation cannot hold for a policy: (parameter, sentence)."""
    yield from unknown_attributes(parameters, document)
    names, matrix = (
        set(known_attributes(parameters.attributes, quasi_identifiers_of(document))),
        parameters.matrix or {},
    )
    declared_retention = parameters.retention if isinstance(parameters.retention, Mapping) else {}
    for field, by_attribute in (("retention", declared_retention), ("matrix", matrix)):
        for name in sorted(set(by_attribute) - names):
            yield field, f"{name!r} has a {field} and is not among the attributes that the intruder knows"
    for name in sorted(set(declared_retention) & set(matrix)):
        yield "retention", f"{name!r} has a matrix, too; leave one of them"
    silent = [name for name in sorted(names) if parameters.invariant and parameters.retention_of(name) is None]
    for name in sorted(set(silent) - set(matrix)):
        yield "invariant", f"it adapts what is declared, and nothing is of {name!r}; give its retention or its matrix"


@dataclass(frozen=True)
class MaskedAttribute:
    """An attribute that was changed at random."""

    name: str  # of the attribute
    labels: Sequence[str]  # its values that say something
    original: Codes  # the code of each original record, the number of values where the cell says nothing
    released: Codes  # of each released one
    pairs: tuple[Codes, Codes]  # the codes of each pair of records that are one person, original and released
    matrix: Floats  # P[x, y]; a row of NaN for a value of which nothing is known
    channel: Channel  # the same as fractions
    is_estimated: bool  # whether the matrix was estimated from the pairs

    def column(self, released: int) -> list[Fraction]:
        """A row of `logarithms` as fractions: how probably each original code, a missing one last, became a code."""
        size = len(self.labels)
        if released == size:
            return [Fraction(1)] * (size + 1)
        counts = _counts(self.released, self.labels)
        share = Fraction(int(counts[released]), max(int(counts.sum()), 1))
        known = self.channel.column(released)[:size]
        return [*(share if one is None else one for one in known), share]

    @property
    def logarithms(self) -> Floats:
        """Ln P as `Transitions` has it."""
        return logarithms(self.matrix, _counts(self.released, self.labels))

    def require_possible(self) -> None:
        """Insist that what happened is possible by the matrix.

        Raises:
            CheckError: it is not, so that this is not the matrix with which the values were changed.
        """
        impossible = int(np.isneginf(self.logarithms[self.pairs[1], self.pairs[0]]).sum())
        if impossible:
            raise CheckError(
                f"what is declared of column {self.name!r} gives probability 0 to what happened in "
                f"{count(impossible, 'record')}; say how its values were really changed, or leave it to be estimated"
            )

    def figures(self) -> dict[str, Any]:
        """What was changed, and how surely a released cell is the original one."""
        original, released = self.pairs
        both = (original < len(self.labels)) & (released < len(self.labels))
        chances = cell_posterior(_counts(self.original, self.labels), np.nan_to_num(self.matrix))
        shown = chances[np.unique(released[both])]
        of_cells = chances[released[both]]
        return {
            "attribute": self.name,
            "compared": int(both.sum()),
            "unchanged": int((original == released)[both].sum()),
            "mean_cell_posterior": fsum(of_cells) / len(of_cells) if len(of_cells) else None,
            "least_cell_posterior": float(shown.min()) if len(shown) else None,
        }


def masked_attribute(view: TableView, pairs: Pairs, name: str, parameters: PramParameters) -> MaskedAttribute:
    """An attribute with its declared matrix, or one that is estimated where nothing is declared.

    Raises:
        CheckError: it has too many values or none to compare, or its matrix cannot be read or does not fit.
    """
    domain = pairs.released.domains[name]
    says = ~domain.is_uninformative
    code = np.where(says, np.cumsum(says) - 1, says.sum())
    labels = _labels(domain, says[:-1], name)
    original, released = code[pairs.original.codes[name]], code[pairs.released.codes[name]]
    own = original[pairs.partner[pairs.matched]], released[pairs.matched]
    if not ((own[0] < len(labels)) & (own[1] < len(labels))).any():
        raise CheckError(
            f"nothing can be compared: no pair of records has a value of {name!r} in both tables; leave it out"
        )
    matrix, channel = _released_as(view, parameters, name, labels, (original, released), own)
    return MaskedAttribute(name, labels, original, released, own, matrix, channel, isinstance(channel, Counted))


def _released_as(
    view: TableView,
    parameters: PramParameters,
    name: str,
    labels: Sequence[str],
    tables: tuple[Codes, Codes],
    pairs: tuple[Codes, Codes],
) -> tuple[Floats, Channel]:
    """The channel of an attribute, in floats and as fractions: declared, or estimated from the pairs."""
    retention, location = parameters.retention_of(name), (parameters.matrix or {}).get(name)
    original, released = (_counts(one, labels) for one in tables)
    if location is not None:
        return _declared(_matrix(view, name, location), labels, original, released, adapted=parameters.invariant)
    if retention is None:
        counts = changes(len(labels), *pairs)
        return estimated(counts), Counted(counts)
    matrix, channel = retention_matrix(len(labels), float(retention)), Retained(len(labels), Fraction(retention))
    if not parameters.invariant:
        return matrix, channel
    return invariant(matrix, original), Adapted(channel, original.tolist())


def _matrix(view: TableView, name: str, given: str | Mapping[str, Mapping[str, Fraction]]) -> LabelledMatrix:
    """The matrix of an attribute, from its file or from the policy itself."""
    called = f"the matrix of column {name!r}"
    return read_matrix(Path(view.policy.resolve(given)), called) if isinstance(given, str) else matrix_of(given, called)


def _declared(
    matrix: LabelledMatrix, labels: Sequence[str], original: Counts, released: Counts, *, adapted: bool
) -> tuple[Floats, Channel]:
    """A declared matrix over the values of an attribute, adapted to the original's margin where it was."""
    if not adapted:
        channel = Declared(matrix, places(labels, matrix.rows), places(labels, matrix.columns))
        return declared(matrix, labels, original, released), channel
    others = sorted({*matrix.rows, *matrix.columns}.difference(labels))  # ways may lead over values that no record has
    every = [*labels, *others]
    counts = [np.append(one, np.zeros(len(others), np.int64)) for one in (original, released)]
    whole = invariant(declared(matrix, every, *counts), counts[0])
    channel = Declared(matrix, places(every, matrix.rows), places(every, matrix.columns))
    return whole[: len(labels), : len(labels)], Adapted(channel, counts[0].tolist())


def _labels(domain: Domain, says: NDArray[np.bool_], name: str) -> list[str]:
    labels = [label for label, one in zip(domain.labels, says, strict=True) if one]
    if len(labels) > MOST:
        raise CheckError(
            f"column {name!r} has {len(labels):,} values, and post-randomisation is of categories, {MOST:,} at the "
            "most; leave it out of `attributes`"
        )
    return labels


def _counts(codes: Codes, labels: Sequence[str]) -> Counts:
    return np.bincount(codes, minlength=len(labels) + 1)[:-1]


def transitions(attributes: Mapping[str, MaskedAttribute]) -> Transitions:
    """The likelihood of every pair of records, attributes with few values first."""
    columns = sorted(attributes.values(), key=lambda one: len(one.labels))
    sizes = [len(one.labels) + 1 for one in columns]
    return Transitions.of(
        [one.logarithms for one in columns],
        CodedPoints.of([one.released for one in columns], sizes),
        CodedPoints.of([one.original for one in columns], sizes),
        [one.column for one in columns],
    )
