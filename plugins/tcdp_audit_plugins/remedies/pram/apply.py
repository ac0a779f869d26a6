"""The remedy itself: values of each attribute are released as others, with known probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.remedies._shared.by_content import by_content
from tcdp_audit_plugins.remedies._shared.masked_attributes import masked_attributes
from tcdp_audit_plugins.remedies._shared.pair_demands import weakest
from tcdp_audit_plugins.remedies.pram.matrices import Declared, declared_matrix, drawn, retaining
from tcdp_audit_plugins.remedies.pram.parameters import PramParameters

HUNDREDTHS = (99, 98, 97, 95, 93, 90, 85, 80, 75, 70, 65, 60, 55, 50, 45, 40, 35, 30, 25, 20, 15, 10, 5, 2, 1)
RETENTIONS = tuple(Fraction(one, 100) for one in HUNDREDTHS)  # from weak to strong
LARGEST = 2_000  # values of an attribute: its matrices take 32 MB each


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
    """An attribute whose values are randomised.

    Args:
        view: the release.
        attribute: the attribute.
        parameters: what the policy says.
    """

    view: RemedyView
    attribute: Attribute
    parameters: PramParameters

    @property
    def declared(self) -> Declared | None:
        """Its matrix in the policy."""
        return (self.parameters.matrix or {}).get(self.attribute.name)

    @cached_property
    def labels(self) -> list[str]:
        """The values in the domain's order, then those that only the matrix has."""
        known = list(self.attribute.domain.labels)
        return [*known, *sorted(set(self.declared or ()) - set(known))]

    @cached_property
    def counts(self) -> Floats:
        """The records with each value, none for suppressed cells. Shape (labels,)."""
        tells = ~self.attribute.domain.tells_nothing[:-1]
        counts = np.bincount(self.attribute.codes, minlength=len(tells) + 1)[:-1] * tells
        return np.append(counts, np.zeros(len(self.labels) - len(tells))).astype(np.float64)

    @cached_property
    def present(self) -> NDArray[np.intp]:
        """Positions of the labels that are released or have a line, and are no suppressed cells."""
        lines = set(self.declared or ())
        named = np.array([label in lines for label in self.labels], dtype=bool)
        return np.flatnonzero(named | (self.counts > 0))

    def require_matrix(self) -> None:
        """Stop where there is no matrix for what the column holds.

        Raises:
            RemedyError: it says why.
        """
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

    def kept(self, retention: Fraction | None) -> Fraction:
        """The probability that a value is kept where there is no matrix: that of any other value at the least."""
        return max(retention or Fraction(0), Fraction(1, len(self.present)))

    def matrix(self, retention: Fraction | None) -> Floats:
        """The probabilities with which values are released, over `present`."""
        values, counts = len(self.present), self.counts[self.present]
        if self.declared is not None:
            matrix = declared_matrix(self.declared, [self.labels[place] for place in self.present])
        else:
            matrix = retaining(float(self.kept(retention)), values)
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
        """Stop where another value would be likelier than the true one.

        Raises:
            RemedyError: it says what the least retention is.
        """
        for one in self.columns:
            one.require_matrix()
            if one.declared is None and retention is not None and retention * len(one.present) < 1:
                raise RemedyError(
                    f"at a retention of {float(retention):g} another of the {len(one.present):,} values of "
                    f"{one.attribute.name!r} would be likelier than the true one; the least is 1/{len(one.present)}"
                )

    def at(self, retention: Fraction | None) -> Treatment:
        """The release after drawing at a retention."""
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
        """What somebody knows who knows the method: with which probabilities values were released."""
        from tcdp_audit_plugins.checks.masking_attacks.parameters import BY_DEFAULT  # noqa: PLC0415 - many modules

        kept = {one.attribute.name: one.kept(retention) for one in self.columns if one.declared is None}
        matrix = {one.attribute.name: one.declared for one in self.columns if one.declared is not None}
        return {
            "attributes": [one.attribute.name for one in self.columns],
            "invariant": self.columns[0].parameters.invariant,
            "limit": BY_DEFAULT,
            **({"retention": kept} if kept else {}),
            **({"matrix": matrix} if matrix else {}),
        }


def _with(notes: Mapping[str, float], one: _Categories, matrix: Floats, changed: int) -> dict[str, float]:
    """The figures with those of one more attribute."""
    counts = one.counts[one.present]
    kept = float(np.diagonal(matrix)[counts > 0].min())
    shift = float(np.abs(counts @ matrix - counts).max() / counts.sum())
    return {
        "retention": min(notes["retention"], kept),
        "changed": notes["changed"] + changed,
        "without_value": notes["without_value"] + one.view.records - int(counts.sum()),
        "margin_shift": round(max(notes["margin_shift"], shift), 12),
    }
