"""Detectors: registered code that knows the values of one kind of identifier, such as e-mail addresses."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import plural
from tcdp_audit.core.policy.model import Role

if TYPE_CHECKING:
    import numpy as np

    from tcdp_audit.core.detection.column import DetectorColumn, Evidence


DRAWS = 20  # random values that say whether all of them have a layout


@dataclass(frozen=True, kw_only=True)
class Detector:
    """A kind of value that identifies, or helps to.

    Args:
        name: snake_case name for policies, unique among all plugins.
        noun: what one value is called, in the singular: "e-mail address".
        nouns: the plural, where not only the last word changes; by default made of the noun.
        role: what a column of such values can do to a person: `Role.IDENTIFIER`, or `Role.QUASI_IDENTIFIER`.
        words: phrases that a column of such values may be called by, in several languages.
        needs_name: whether values alone say too little, so that only a column with such a name is looked at.
        safe_harbor: the letter of 45 CFR 164.514(b)(2)(i) that such values fall under; nothing if none does.
        source: the standard that defines the form.
        library: the module that decides, and the command that installs it; None where it needs none.
    """

    name: str
    noun: str
    source: str
    nouns: str = ""
    words: tuple[str, ...] = ()
    needs_name: bool = False
    role: Role = Role.IDENTIFIER
    safe_harbor: str = ""
    library: tuple[str, str] | None = None

    @property
    def title(self) -> str:
        """The name of the kind in lists."""
        return self.noun[:1].upper() + self.noun[1:]

    @property
    def plural(self) -> str:
        """The name of several values."""
        return self.nouns or plural(self.noun)

    @property
    def missing_library(self) -> str:
        """The package to install before it can decide on values; nothing if it can."""
        return "" if self.library is None or _is_installed(self.library[0]) else self.library[1]


@dataclass(frozen=True, kw_only=True)
class ValueDetector(Detector):
    """A detector that looks at one value at a time: at its form, and at a checksum or a register.

    Args:
        layout: a regular expression that the whole of a value matches.
        base_rate: the share of hits among random values, or a bound on it: what `random_value` gives.
        random_value: a random text as near to the layout as a column that is none may come. Where a checksum decides,
            it has the layout, and the base rate is the chance that the checksum is right.
        accepts: whether a value of the layout is one; None where the layout says all.
        examples: values that are such, none of them a real person's.
        counterexamples: values that are not.
    """

    layout: str
    base_rate: float
    random_value: Callable[[np.random.Generator], str]
    accepts: Callable[[str], bool] | None = None
    examples: tuple[str, ...] = ()
    counterexamples: tuple[str, ...] = ()

    @cached_property
    def has_layout(self) -> Callable[[str], object]:
        """Whether the whole of a text has the layout. O(length)."""
        return re.compile(self.layout).fullmatch

    def is_hit(self, text: str) -> bool:
        """Whether a text is such a value."""
        return bool(self.has_layout(text)) and (self.accepts is None or self.accepts(text))

    @cached_property
    def is_tested_on_layout(self) -> bool:
        """Whether the base rate is that of random values which have the layout, so that a checksum decides."""
        import numpy as np  # noqa: PLC0415 - only where columns are looked at

        generator = np.random.default_rng(0)
        return self.accepts is not None and all(self.has_layout(self.random_value(generator)) for _ in range(DRAWS))


@dataclass(frozen=True, kw_only=True)
class ColumnDetector(Detector):
    """A detector that looks at a column as a whole, such as for numbers that count the records.

    Args:
        examine: the evidence that a column is one; None if it is none.
        least_share: the least share of hits among the values; None for what the caller demands, which is nine tenths
            by default. At 0 a few hits suffice, as in texts that may hold an identifier anywhere.
        may_be: whether a column has the form that `examine` looks for; asked where its library is missing.
    """

    examine: Callable[[DetectorColumn], Evidence | None]
    least_share: Fraction | None = None
    may_be: Callable[[DetectorColumn], bool] | None = None


_installed: set[str] = set()  # modules that were found: to look for one takes longer than to ask about a column


def _is_installed(module: str) -> bool:
    """Whether a module can be imported. A missing one is looked for again, for it may be installed meanwhile."""
    if module in _installed and module not in sys.modules:
        return True
    try:
        is_there = find_spec(module) is not None
    except (ImportError, ValueError):  # a placeholder for a module that must not be imported
        return False
    if is_there:
        _installed.add(module)
    return is_there
