"""Every detector on every column of a table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import count, figure, percent
from tcdp_audit.core.detection.column import DetectorColumn, Evidence, binomial_evidence, column_of_engine, is_named
from tcdp_audit.core.detection.detector import ColumnDetector, Detector, ValueDetector
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import Role

LEAST_CELLS = 3  # that look like a kind: fewer are an accident
SHARE = Fraction(9, 10)
NAMED_SHARE = Fraction(1, 2)


@dataclass(frozen=True)
class Detection:
    """One column that a detector knows.

    Args:
        column: its name.
        detector: what knows it.
        evidence: the share of hits, that of a random column, and the p value.
        is_named: whether the column's name says the same.
        values: how many distinct values the column has.
    """

    column: str
    detector: Detector
    evidence: Evidence
    is_named: bool
    values: int

    @property
    def is_sampled(self) -> bool:
        """Whether not all distinct values were looked at."""
        return self.evidence.values < self.values

    @property
    def is_mostly(self) -> bool:
        """Whether the column is one of the kind: at least half of its values that were looked at are."""
        return 2 * self.evidence.share >= 1

    @property
    def reason(self) -> str:
        """The reason, in a sentence without a cell."""
        evidence = self.evidence
        of = f"a sample of {count(evidence.values)} of its" if self.is_sampled else "its"
        what = f"{percent(float(evidence.share))} of {of} {count(self.values, 'distinct value')}"
        named = ", and its name says so" if self.is_named else ""
        note = f", {evidence.note}" if evidence.note else ""
        chance = f"by chance {percent(evidence.base_rate)} would be (p {_p(evidence.p_value)})"
        return f"{what} are {self.detector.plural}{note}{named}; {chance}"

    def as_json(self) -> dict[str, Any]:
        """The entry in a JSON result."""
        return {
            "column": self.column,
            "detector": self.detector.name,
            "role": self.detector.role.value,
            "share": float(self.evidence.share),
            "base_rate": self.evidence.base_rate,
            "p_value": self.evidence.p_value,
            "named": self.is_named,
            "values": self.values,
            "tested": self.evidence.values,
        }


@dataclass(frozen=True)
class Undecided:
    """A column whose values have the form that a detector looks for, which lacks its library to decide.

    Args:
        column: its name.
        detector: what could not decide.
    """

    column: str
    detector: Detector

    @property
    def reason(self) -> str:
        """The open question, with the command that installs what would answer it."""
        return f"whether its values are {self.detector.plural} needs a library that is not installed; {self.install}"

    @property
    def install(self) -> str:
        """The command that installs it."""
        return self.detector.missing_library


@dataclass(frozen=True)
class Detections:
    """The answers of detectors on a table.

    Args:
        found: what they know, by column in the table's order, the best detector of each first.
        undecided: what a detector could not decide without its library.
        unreadable: columns that have no distinct values to speak of, such as nested ones, each with the reason.
        sampled: how many distinct values were looked at, and how many there are, by column of which not all were.
    """

    every: tuple[Detection, ...]
    undecided: tuple[Undecided, ...]
    unreadable: Mapping[str, str]
    sampled: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def best(self) -> dict[str, Detection]:
        """The best detection of each column that has one."""
        return _first_of_each(self.every)

    def of_role(self, role: Role) -> dict[str, Detection]:
        """The best detection of each column whose detectors say that it has this role."""
        return _first_of_each(one for one in self.every if one.detector.role is role)


def _first_of_each(detections: Iterable[Detection]) -> dict[str, Detection]:
    """By column, in their order."""
    best: dict[str, Detection] = {}
    for one in detections:
        best.setdefault(one.column, one)
    return best


def detect(
    engine: Engine,
    detectors: Iterable[Detector],
    columns: Iterable[str] | None = None,
    *,
    missing: Collection[str] = (),
    share: Fraction = SHARE,
    named_share: Fraction = NAMED_SHARE,
    seed: int = 0,
) -> Detections:
    """Ask detectors about the columns of a table.

    A detector knows a column if at least three of its cells are hits, and a random column would have so many less than
    once in a million times. Digits alone need more: amounts and codes are no random numbers and lie where a form does.
    Of them the share of hits among the distinct values must be at least `share`, or `named_share` where the column's
    name says so, too. The latter holds for kinds that only a name gives away as well.

    Args:
        engine: the table.
        detectors: what to look for.
        columns: the columns to look at; None for all.
        missing: texts that mark a missing value.
        share: the least share of hits by values alone, where these are digits.
        named_share: the least share where the name agrees.
        seed: of the sample of at most 10,000 distinct values of a column.

    Cost: one pass of the engine over each column; then at most 10,000 values a detector, and most stop at a tenth.
    """
    every = tuple(detectors)
    detected: list[Detection] = []
    undecided: list[Undecided] = []
    unreadable: dict[str, str] = {}
    sampled: dict[str, tuple[int, int]] = {}
    for name in [one.name for one in engine.columns] if columns is None else columns:
        try:
            column = column_of_engine(engine, name, missing, seed)
        except DataError as error:
            unreadable[name] = str(error)
            continue
        if column.is_sampled:
            sampled[name] = len(column.texts), column.values
        for one in detect_in_column(column, every, share, named_share):
            detected.append(one) if isinstance(one, Detection) else undecided.append(one)
    return Detections(tuple(detected), tuple(undecided), unreadable, sampled)


def detect_in_column(
    column: DetectorColumn, detectors: Iterable[Detector], share: Fraction = SHARE, named_share: Fraction = NAMED_SHARE
) -> list[Detection | Undecided]:
    """Ask detectors about a column; the best answer first: named ones, then identifiers, then the least base rate."""
    if not column.values:
        return []
    answers = [answer for one in detectors for answer in _answer(column, one, share, named_share)]
    return sorted(answers, key=_rank)


def _rank(answer: Detection | Undecided) -> tuple[bool, bool, bool, float, str]:
    if isinstance(answer, Undecided):
        return (True, True, True, 1.0, answer.detector.name)
    is_quasi = answer.detector.role is not Role.IDENTIFIER
    return (False, not answer.is_named, is_quasi, answer.evidence.base_rate, answer.detector.name)


def _answer(
    column: DetectorColumn, detector: Detector, share: Fraction, named_share: Fraction
) -> Iterator[Detection | Undecided]:
    named = is_named(column.name, detector.words)
    if detector.needs_name and not named:
        return
    least = min(share, named_share) if named else share
    lacks_library = bool(detector.missing_library)
    by_count = False
    if isinstance(detector, ColumnDetector):
        if lacks_library:
            if detector.may_be is not None and detector.may_be(column):
                yield Undecided(column.name, detector)
            return
        least = least if detector.least_share is None else detector.least_share
        evidence = detector.examine(column)
    elif isinstance(detector, ValueDetector):
        by_count = not detector.needs_name and not lacks_library
        evidence = _of_most(column, detector, least, lacks_library=lacks_library)
        evidence = evidence or (_of_some(column, detector) if by_count else None)
    else:
        evidence = None
    if evidence is None or not evidence.is_significant or (evidence.share < least and not by_count):
        return
    if lacks_library:
        yield Undecided(column.name, detector)
    else:
        yield Detection(column.name, detector, evidence, named, column.values)


def _of_most(
    column: DetectorColumn, detector: ValueDetector, least: Fraction, *, lacks_library: bool
) -> Evidence | None:
    """The hits among the values; None as soon as too many are none. Without its library, every layout is a hit."""
    values = len(column.texts)
    is_hit = detector.has_layout if lacks_library else detector.is_hit
    most_misses = values - -(-least.numerator * values // least.denominator)
    misses = cells = 0
    for text, times in column.counted:
        if is_hit(text):
            cells += times
            continue
        misses += 1
        if misses > most_misses:
            return None
    base_rate = 0.0 if lacks_library else detector.base_rate
    return binomial_evidence(values - misses, values, base_rate) if cells >= LEAST_CELLS else None


def _of_some(column: DetectorColumn, detector: ValueDetector) -> Evidence | None:
    """The hits among values that are more than digits, however few: for a kind that needs no name, with its library.

    A value that several records have is one observation of the test. Where the base rate is one of values that
    have the layout already, the test is of those.
    """
    formed = [one for one in column.worded if detector.has_layout(one[0])]
    hits = [one for one in formed if detector.accepts is None or detector.accepts(one[0])]
    if sum(times for _, times in hits) < LEAST_CELLS:
        return None
    chances = len(formed) if detector.is_tested_on_layout else len(column.texts)
    tested = binomial_evidence(len(hits), chances, detector.base_rate)
    return Evidence(len(hits), len(column.texts), detector.base_rate, tested.p_value)


def _p(value: float) -> str:
    return "below 1e-300" if value < 1e-300 else f"{value:.0e}" if value < 0.001 else figure(value)
