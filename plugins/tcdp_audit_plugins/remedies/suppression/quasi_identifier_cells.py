"""The quasi-identifier cells of a release, any of which may be suppressed, and the classes that result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import fold, numbered
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView

Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class QuasiIdentifierCells:
    """Codes of the quasi-identifiers. A missing cell is a suppressed one, because it is released as one.

    Args:
        attributes: the quasi-identifiers.
        token: the cell that stands for a suppressed value.
        exempt: the records that the policy leaves out of class checks, bool, shape (records,).
    """

    attributes: Sequence[Attribute]
    token: str
    exempt: Mask

    @classmethod
    def of(cls, view: RemedyView) -> QuasiIdentifierCells:
        """Those of a release.

        Raises:
            RemedyError: it has no quasi-identifier.
        """
        if not view.quasi_identifiers:
            raise RemedyError("the policy declares no quasi-identifier, so there are no classes to suppress")
        return cls(view.quasi_identifiers, view.suppressed_token, _exempt(view))

    @cached_property
    def hidden(self) -> Integers:
        """The code of a suppressed cell in each attribute: the token's, or that of a missing value without one."""
        return np.array([one.suppressed_code(self.token) for one in self.attributes], dtype=np.int64)[:, None]

    @cached_property
    def codes(self) -> Integers:
        """The code of every cell. Shape (attributes, records)."""
        return np.array([one.released_codes(self.token) for one in self.attributes])

    def classes(self, suppressed: Mask | None = None, records: Indices | None = None) -> tuple[Integers, int]:
        """The equivalence classes of some records, in the order of their values.

        Args:
            suppressed: which cells of these records are suppressed, shape (attributes, len(records)).
            records: positions of the records; None for all.

        Returns:
            The class number of each record, int64 from 0, and how many classes there are.

        Cost: that of `numbered`.
        """
        codes = self.codes if records is None else self.codes[:, records]
        if suppressed is not None:
            codes = np.where(suppressed, self.hidden, codes)
        radices = [one.domain.size + 1 for one in self.attributes]
        keys = fold(list(codes), radices)
        distinct, numbers = numbered(keys.values, keys.span)
        return numbers.astype(np.int64), len(distinct)

    def changed(self, suppressed: Mask) -> Mask:
        """The suppressed cells that had a value before. Shape (attributes, records)."""
        return np.asarray(suppressed & (self.codes != self.hidden))

    def columns(self, suppressed: Mask) -> Iterator[tuple[str, NewColumn]]:
        """The columns with some cells suppressed; those without a changed cell are left out."""
        for attribute, changed in zip(self.attributes, self.changed(suppressed), strict=True):
            if changed.any():
                yield attribute.name, self._column(attribute, changed)

    def _column(self, attribute: Attribute, changed: Mask) -> NewColumn:
        labels = attribute.domain.labels
        cells = labels if self.token in labels else [*labels, self.token]
        codes = np.where(attribute.codes == attribute.domain.size, len(cells), attribute.codes.astype(np.int64))
        codes[changed] = cells.index(self.token)
        return NewColumn.of_texts(cells, codes)


def _exempt(view: RemedyView) -> Mask:
    """The records that show nothing, a missing quasi-identifier among them, where the policy exempts those."""
    if view.policy.conventions.suppressed == "counted":
        return np.zeros(view.records, dtype=bool)
    silent = [one.domain.is_uninformative[one.codes] for one in view.quasi_identifiers]
    silent += [np.isin(one.codes, list(one.domain.suppressed)) for one in view.sensitive]
    return np.asarray(np.logical_and.reduce(silent))
