"""Attributes as integer codes: what the values of a column are, in which order, and which of them is missing.

An engine finds the distinct raw values of a column; a `Domain` is what they mean under the policy. Codes run from 0
to `size` - 1 in the order of the attribute's scale; `size` itself is the code of a missing value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import FrozenList, dataclass, refuse
from tcdp_audit.core.encoding.generalised import Interval, Rounded
from tcdp_audit.core.encoding.keys import Codes, freeze_arrays

Strings = NDArray[np.object_]


@dataclass(frozen=True)
class RawDomain:
    """The distinct values of a column as an engine found them.

    Args:
        values: distinct and sorted: int64, float64, or text (object); never null.
        counts: records with each value.
        nulls: records without a value.
    """

    values: NDArray[Any]
    counts: NDArray[np.int64]
    nulls: int

    def __post_init__(self) -> None:
        """Lock its arrays: the engine gives the same ones to all callers."""
        freeze_arrays(self, "values", "counts")

    @property
    def is_text(self) -> bool:
        """True where the column is not stored as numbers."""
        return self.values.dtype == object


@dataclass(frozen=True)
class Domain:
    """The values of an attribute under its declared scale.

    Args:
        attribute: the column's name.
        values: canonical values in the order of the scale, text (object) or numbers. For evidence never printed.
        counts: records with each value, int64, shape (size,).
        missing: records without a value.
        code_of_raw: canonical code for each of the engine's raw values.
        suppressed: codes of suppressed cells.
        covers: where cells of a numeric or ordinal attribute are generalised: the numbers (or ranks) each value covers.
        rounded: the numbers of cells whose number is no float64's shortest decimal, by the float64 that is their value.
        determines: attributes whose value follows from this one's in every record, so that they divide no class of it.
    """

    attribute: str
    values: NDArray[Any]
    counts: NDArray[np.int64]
    missing: int
    code_of_raw: NDArray[np.int64]
    suppressed: frozenset[int] = field(default_factory=frozenset)
    covers: tuple[Interval, ...] | None = None
    rounded: Rounded = field(default_factory=dict)
    determines: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "values", "counts", "code_of_raw")

    @property
    def is_ordered(self) -> bool:
        """False where generalised values overlap, so that they have no order."""
        neighbours = zip(self.covers or (), (self.covers or ())[1:], strict=False)
        return all(
            one.high < two.low or (one.high == two.low and (one.high_open or two.low_open)) for one, two in neighbours
        )

    @property
    def size(self) -> int:
        """The number of values that the domain has; the code of a missing value."""
        return len(self.values)

    @cached_property
    def repeats(self) -> bool:
        """Whether several records have the same value, or several have none."""
        return self.missing > 1 or int(self.counts.max(initial=0)) > 1

    @cached_property
    def is_uninformative(self) -> NDArray[np.bool_]:
        """Whether each code reveals nothing of the value: suppressed cells, and the missing one. Shape (size + 1,)."""
        nothing = np.zeros(self.size + 1, dtype=bool)
        nothing[[*self.suppressed, self.size]] = True
        return nothing

    @property
    def dtype(self) -> np.dtype[Any]:
        """The narrowest type that holds every code and the missing one."""
        return np.min_scalar_type(self.size)

    def codes(self, shard: Mapping[str, Codes]) -> Codes:
        """The code of each record of a shard."""
        return shard[self.attribute]

    def recoded_to(
        self, values: NDArray[Any], position: NDArray[np.int64], covers: tuple[Interval, ...] | None = None
    ) -> Domain:
        """The same attribute over a larger domain in the same order, whose `values` include all of this one's.

        `position` is the place of each of this domain's values among them, shape (size,); `covers` is what they cover,
        where cells are generalised.
        """
        if np.array_equal(values, self.values):
            return self  # also where the values have a declared order
        counts = np.zeros(len(values), dtype=np.int64)
        counts[position] = self.counts
        return replace(
            self,
            values=values,
            counts=counts,
            code_of_raw=np.append(position, len(values))[self.code_of_raw],
            suppressed=frozenset(position[list(self.suppressed)].tolist()),
            covers=covers,
        )

    @cached_property
    def labels(self) -> list[str]:
        """The values as text, as hierarchies and parameters name them. For evidence never printed."""
        return FrozenList(texts_of(self.values).tolist())

    def label(self, code: int) -> str:
        """A value as text, for evidence with `--show-values` only."""
        return "(missing)" if code == self.size else str(self.values[code])


class Labels(Sequence[str]):
    """The read-only labels of a domain, made when one is read: there may be a million numbers."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = refuse
    append = clear = extend = insert = pop = remove = reverse = sort = refuse

    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    def __len__(self) -> int:
        """The number of labels."""
        return self._domain.size

    def __getitem__(self, position: Any) -> Any:
        """One of them, or some."""
        return self._domain.labels[position]

    def __eq__(self, other: object) -> bool:
        """Whether a list has the same labels."""
        return self._domain.labels == (list(other) if isinstance(other, Labels) else other)

    __hash__ = None  # type: ignore[assignment]  # as no list has


@dataclass(frozen=True)
class Misfit:
    """A misfit: why some raw values do not fit the declared scale, and what would."""

    raw: NDArray[np.intp]  # their positions among the raw values
    reason: str  # what they are
    forms: str = ""  # what ranges of the scale look like in text


def texts_of(values: NDArray[Any]) -> Strings:
    """Values as the text that nominal attributes are compared by; 39.0 stored as a float is `39`."""
    if values.dtype == object:
        return values
    if values.dtype.kind == "f":
        texts = [str(int(v)) if float(v).is_integer() and abs(v) < 2**53 else repr(v) for v in values.tolist()]
    else:
        texts = [str(v) for v in values.tolist()]
    return np.array(texts, dtype=object)
