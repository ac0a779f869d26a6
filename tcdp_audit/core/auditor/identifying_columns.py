"""Columns that identify though the policy says otherwise: they look like identifiers, or differ in nearly every record.

The schema check `undeclared_identifiers` warns of them, unless the policy acknowledges them with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import (
    ACKNOWLEDGED,
    DIFFERING,
    STRUCTURE,
    UNDECLARED_IDENTIFIERS,
    Outcome,
    Severity,
    Status,
)
from tcdp_audit.core.base.words import agree, count, percent
from tcdp_audit.core.detection.column import MOST, DetectorColumn, column_of_engine
from tcdp_audit.core.detection.detecting import Detection, Detections, detect
from tcdp_audit.core.detection.detector import ColumnDetector, Detector, ValueDetector
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import Role, Scale
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.release import Release

BIRTH = "date_of_birth"  # identity and nothing else, so such a column is not harmless
PLACE = "B"  # Safe Harbor's letter for places, which a policy may declare as known to an intruder
NEARLY = 0.95  # of the records have different values
LEAST = 50  # records with a value: in fewer, the values of many columns differ by chance
DENSE = 0.9  # of a range of whole numbers is taken, where they number the records
MOSTLY = 0.9  # of the values are numbers, in a column of numbers
NUMBER = re.compile(r"[+-]?[0-9]*([.,][0-9]+)?([eE][+-]?[0-9]+)?%?")
FRACTION = re.compile(r"[+-]?[0-9]*[.,][0-9]+([eE][+-]?[0-9]+)?%?")


@dataclass(frozen=True)
class IdentifyingColumns:
    """The columns that identify though they are declared as something else.

    Args:
        detected: the best detection of each column that looks like an identifier.
        differing: the numbers of distinct values and of records with a value, by column of role insensitive whose
            values (nearly) all differ.
        sampled: the numbers of distinct values that were looked at and that there are, by column that is sampled.
    """

    detected: Mapping[str, Detection]
    differing: Mapping[str, tuple[int, int]]
    sampled: Mapping[str, tuple[int, int]]

    @property
    def columns(self) -> list[str]:
        """The columns by name."""
        return sorted({*self.detected, *self.differing})

    def phrase(self, column: str) -> str:
        """Describe a finding of a column, in words without a cell."""
        detection = self.detected.get(column)
        if detection is None:
            values, records = self.differing[column]
            return f"has {values:,} different values in {count(records, 'record')}"
        evidence, plural = detection.evidence, detection.detector.plural
        every = count(detection.values, "distinct value")
        sample = f"a sample of {evidence.values:,} of its {every}" if detection.is_sampled else f"its {every}"
        if detection.is_mostly:
            return f"looks like {plural}{f', as {sample} does' if detection.is_sampled else ''}"
        return f"has {plural} among {sample} ({percent(float(evidence.share))})"


def undeclared_identifiers(release: Release, identity: IdentifyingColumns | None) -> Outcome:
    """Warn of columns that look like identifiers, or differ in nearly every record, and are declared otherwise."""
    if identity is None:
        return _not_looked_at()
    attributes = release.policy.attributes
    reasons = {name: attributes[name].acknowledged for name in identity.columns if name in attributes}
    acknowledged = {name: why for name, why in reasons.items() if why}
    open_ones = [name for name in identity.columns if name not in acknowledged]
    said = [
        f"column {name!r} {identity.phrase(name)} and is {_declared_as(release.policy, name)}" for name in open_ones
    ]
    advice = agree(
        len(open_ones),
        "declare it as an identifier and drop it, or say under `acknowledged` why it is none",
        "declare them as identifiers and drop them, or say under `acknowledged` why they are none",
    )
    notes = [f"column {name!r} {identity.phrase(name)}; acknowledged: {why}" for name, why in acknowledged.items()]
    if open_ones:
        notes.insert(0, f"{'; '.join(said)}; {advice}")
    detected, differing = identity.detected, identity.differing
    kinds = {name: detected[name].detector.plural for name in open_ones if name in detected}
    details: dict[str, Any] = {"kinds": kinds}
    details["shares"] = {name: float(detected[name].evidence.share) for name in details["kinds"]}
    if some := {name: [*differing[name]] for name in open_ones if name in differing}:
        details[DIFFERING] = some
    if acknowledged:
        details[ACKNOWLEDGED] = {
            name: {"reason": why, "finding": identity.phrase(name)} for name, why in acknowledged.items()
        }
    if identity.sampled:
        details["sampled"] = {name: [*numbers] for name, numbers in identity.sampled.items()}
    return Outcome(
        check=UNDECLARED_IDENTIFIERS,
        title="Columns look like identifiers" if open_ones else "No column looks like an identifier",
        status=Status.FAILED if open_ones else Status.PASSED,
        severity=Severity.WARNING,
        observed=float(len(open_ones)),
        details={"columns": open_ones, **details},
        message="; ".join(notes),
        source=STRUCTURE,
    )


def _declared_as(policy: Policy, column: str) -> str:
    """The purpose or the role that the policy gives a column."""
    if column == policy.document.unit:
        return "the unit of privacy, which is released"
    if column == policy.document.household:
        return "the household, which is released"
    return f"declared {policy.attributes[column].role.value.replace('_', '-')}"


def _not_looked_at() -> Outcome:
    return Outcome(
        check=UNDECLARED_IDENTIFIERS,
        title="No column was looked at for identifiers",
        status=Status.SKIPPED,
        severity=Severity.WARNING,
        details={"columns": []},
        message="no plugin that takes part has a detector of identifiers",
        source=STRUCTURE,
    )


def identifying_columns(release: Release, detectors: Mapping[str, Detector]) -> IdentifyingColumns | None:
    """The columns that identify, without the key and the weight; None without a detector.

    Detectors that need a library are left out, so that no verdict depends on the installation. Those that count
    records are left out too: numbers and codes of records differ in every record. For a column declared harmless, the
    name is evidence as well; for a quasi-identifier, a sensitive column and a column that links records or tables only
    the values are, except values of places.

    Cost: the distinct values of the columns; of each, the detectors examine at most 10,000.
    """
    if not detectors:
        return None
    usable = [one for one in detectors.values() if _is_usable(one)]
    named = [one for one in usable if one.role is Role.IDENTIFIER or one.name == BIRTH]
    by_values = [
        one for one in named if not one.needs_name and one.role is Role.IDENTIFIER and one.safe_harbor != PLACE
    ]
    policy, engine = release.policy, release.engine
    insensitive, links = _columns(release, [Role.INSENSITIVE]), _links(policy)
    harmless = [one for one in insensitive if one not in links]
    linking = [one for one in insensitive if one in links] + _units(release)
    others = [one for one in _columns(release, [Role.QUASI_IDENTIFIER, Role.SENSITIVE]) if _is_text(release, one)]

    def find() -> IdentifyingColumns:
        detected = _detected(policy, engine, by_values, others) if others else NOTHING
        best, sampled, differing = dict(detected.best), dict(detected.sampled), {}
        if harmless or linking:
            with engine.glimpse([*harmless, *linking], MOST) as some:
                there = {one.name for one in some.columns}  # without columns of nested types
                names = [name for name in harmless if name in there]
                for detected in (
                    _detected(policy, some, named, names),
                    _detected(policy, some, by_values, [name for name in linking if name in there]),
                ):
                    best, sampled = best | detected.best, sampled | dict(detected.sampled)
                differing = _differing(policy, engine, some, [name for name in names if name not in best])
        return IdentifyingColumns(best, differing, sampled)

    scales = tuple(policy.attributes[name].scale for name in harmless)
    seed = policy.document.seed
    key = (
        "looked at",
        tuple(harmless),
        tuple(linking),
        scales,
        tuple(others),
        _absent(policy),
        seed,
        Identity(engine, *named),
    )
    return release.cache.get(key, find)


NOTHING = Detections((), (), {})


def _is_usable(detector: Detector) -> bool:
    """Whether a detector needs no library, and looks at values rather than at how many of them there are."""
    is_of_texts = isinstance(detector, ColumnDetector) and detector.least_share == 0
    return detector.library is None and (is_of_texts or isinstance(detector, ValueDetector))


def _links(policy: Policy) -> Collection[str]:
    """The columns that link tables: their values differ by their purpose, and may still be addresses or numbers."""
    if not policy.document.tables:
        return ()
    from tcdp_audit.core.policy.tables import linking_columns  # noqa: PLC0415 - only of several tables

    return linking_columns(policy.document)


def _units(release: Release) -> list[str]:
    """The columns of units and households that are released: what joins records may be an address or a number, too."""
    document = release.policy.document
    named = (document.household, None if document.drops_unit else document.unit)
    return [name for name in named if name in release.columns and name not in release.unreadable]


def _columns(release: Release, roles: Collection[Role]) -> list[str]:
    """The table's columns of some roles, except those that the policy names for a purpose."""
    document = release.policy.document
    purposes = {document.key, document.unit, document.household, document.weight}
    named = [name for name, one in release.policy.attributes.items() if one.role in roles and name not in purposes]
    return [name for name in named if name in release.columns and name not in release.unreadable]


def _is_text(release: Release, column: str) -> bool:
    return (
        release.policy.attributes[column].scale is not Scale.NUMERIC and release.domains[column].values.dtype == object
    )


def _absent(policy: Policy) -> tuple[str, ...]:
    return (*policy.conventions.missing_tokens, "", *policy.conventions.suppressed_tokens)


def _detected(policy: Policy, engine: Engine, detectors: Iterable[Detector], columns: Sequence[str]) -> Detections:
    return detect(engine, detectors, columns, missing=_absent(policy), seed=policy.document.seed)


def _differing(policy: Policy, engine: Engine, some: Engine, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The columns whose values (nearly) all differ; of an engine that gave its first records, all values decide."""
    differing = {}
    for name in columns:
        is_numeric = policy.attributes[name].scale is Scale.NUMERIC
        column = _column(policy, some, name)
        if column is not None and _differs(column, is_numeric=is_numeric) and some.records < engine.records:
            column = _column(policy, engine, name)
        if column is not None and _differs(column, is_numeric=is_numeric):
            differing[name] = (column.values, column.records)
    return differing


def _column(policy: Policy, engine: Engine, name: str) -> DetectorColumn | None:
    try:
        return column_of_engine(engine, name, _absent(policy), policy.document.seed)
    except DataError:
        return None


def _differs(column: DetectorColumn, *, is_numeric: bool) -> bool:
    """Whether values (nearly) all differ, and are no measurements.

    Measurements are numbers of which half have a fraction, and whole numbers that are declared numeric, unless they
    number the records.
    """
    if column.records < LEAST or column.values < NEARLY * column.records:
        return False
    if is_numeric and column.integers is not None:
        return column.values >= DENSE * (int(column.integers[-1]) - int(column.integers[0]) + 1)
    numbers = sum(bool(NUMBER.fullmatch(text)) for text in column.texts)
    fractions = sum(bool(FRACTION.fullmatch(text)) for text in column.texts)
    return not (numbers >= MOSTLY * len(column.texts) and 2 * fractions >= len(column.texts))
