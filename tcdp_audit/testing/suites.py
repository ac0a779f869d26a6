"""Calls for a plugin's tests: the properties of what hooks yield, and an assertion on a release."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import LazyCheck, Specification, audit, load_announced, visible_lines
from tcdp_audit.core.results.reporter import Reporter, ReportSection
from tcdp_audit.plugin.detector import Detector
from tcdp_audit.plugin.engine import EngineOpener, TcdpAuditError
from tcdp_audit.plugin.remedy import Remedy
from tcdp_audit.testing.aggregate_checks import AggregateCheckSuite
from tcdp_audit.testing.class_checks import ClassCheckSuite
from tcdp_audit.testing.conformance import ConformanceError, Property, Suite
from tcdp_audit.testing.detectors import DetectorSuite
from tcdp_audit.testing.engines import EngineSuite
from tcdp_audit.testing.remedies import RemedySuite
from tcdp_audit.testing.reports import ReporterSuite, SectionSuite
from tcdp_audit.testing.table_checks import TableCheckSuite

if TYPE_CHECKING:
    import pytest

    from tcdp_audit.api import Policy
    from tcdp_audit.core.results.audit import Audit

NOTHING: Mapping[str, Any] = {}


def properties_of(specification: Any, parameters: Mapping[str, Any] | None = None) -> list[Property]:
    """Every property that the core relies on in a specification; each is called to hold the specification against it.

    Args:
        specification: what a hook yields.
        parameters: values for parameters that the suite cannot guess; see `check_conforms`.

    Raises:
        ConformanceError: it is of no kind that the suite knows, or a check that does not load.
    """
    return _suite(specification, parameters or {}).properties()


def check_conforms(specification: Any, parameters: Mapping[str, Any] | None = None) -> None:
    """Hold what a hook yields against everything that the core relies on.

    Args:
        specification: what a hook yields.
        parameters: values for parameters that the suite cannot guess; by default those of the guide's example, and
            for a check each value of every choice (an enumeration, a literal or a flag) in turn. For an engine
            `place`: a function that puts an Arrow table where the engine finds it and returns what opens it.

    Raises:
        ConformanceError: it does not conform; a line for each failure names it, the property and the case.

    Cost: some seconds for a check or a remedy, most of them in small audits.
    """
    failures: dict[str, ConformanceError] = {}
    for conforms in properties_of(specification, parameters):
        try:
            conforms()
        except ConformanceError as error:
            failures.setdefault(str(error), error)
    if failures:
        raise ConformanceError("\n".join(failures)) from next(iter(failures.values()))


def _suite(specification: Any, parameters: Mapping[str, Any]) -> Suite:
    for kind, suite in SUITES.items():
        if isinstance(specification, kind):
            return suite(specification, parameters)
    known = (
        "ClassCheck, AttackCheck, TableCheck, AggregateCheck, LazyCheck, Remedy, Reporter, ReportSection, "
        "EngineOpener, ValueDetector and ColumnDetector"
    )
    kind_of = type(specification).__name__
    raise ConformanceError(f"a {kind_of} is no kind that the conformance suite knows; it knows {known}")


def _loaded(announced: LazyCheck) -> Specification[Any]:
    try:
        return load_announced(announced)
    except Exception as error:
        sentence = f"{type(error).__name__} was raised: {error}"
        raise ConformanceError(f"check {announced.name!r}: it is announced and does not load: {sentence}") from error


def _suite_of_check(check: Specification[Any], parameters: Mapping[str, Any]) -> Suite:
    return check.by_kind(
        lambda one: ClassCheckSuite(one, parameters),
        lambda one: TableCheckSuite(one, parameters),
        lambda one: AggregateCheckSuite(one, parameters),
    )


SUITES: Mapping[type, Callable[[Any, Mapping[str, Any]], Suite]] = {
    LazyCheck: lambda announced, parameters: _suite_of_check(_loaded(announced), parameters),
    Specification: _suite_of_check,
    Remedy: RemedySuite,
    Reporter: ReporterSuite,
    ReportSection: SectionSuite,
    EngineOpener: EngineSuite,
    Detector: DetectorSuite,
}


def parametrize_with_properties(
    specifications: Iterable[Any],
    *,
    parameters: Mapping[str, Mapping[str, Any]] = NOTHING,
    expected_failures: Mapping[str, Mapping[str, str]] = NOTHING,
) -> pytest.MarkDecorator:
    """Give a test each property of some specifications in turn, as the argument `conforms`, to be called.

    Args:
        specifications: what hooks yield.
        parameters: by the name of a specification, parameters that the suite cannot guess; see `check_conforms`.
        expected_failures: by the name of a specification, properties that it lacks and why. They are reported as
            expected failures; one that holds after all fails the test.

    Raises:
        ValueError: a name there is that of no specification or of no property.
    """
    import pytest  # noqa: PLC0415 - the suite works without it

    every = {one.name: properties_of(one, parameters.get(one.name)) for one in specifications}
    for mistake in _misnamed(every, parameters, expected_failures):
        raise ValueError(mistake)
    items = []
    for name, properties in every.items():
        for one in properties:
            reason = expected_failures.get(name, {}).get(one.name)
            marks = () if reason is None else pytest.mark.xfail(reason=reason, strict=True, raises=ConformanceError)
            items.append(pytest.param(one, id=f"{name}-{one.name}", marks=marks))
    return pytest.mark.parametrize("conforms", items)


def _misnamed(
    every: Mapping[str, list[Property]],
    parameters: Mapping[str, Any],
    expected_failures: Mapping[str, Mapping[str, str]],
) -> Iterator[str]:
    for name in (*parameters, *expected_failures):
        if name not in every:
            yield f"{name!r} is none of the specifications: {', '.join(every)}"
    for name, expected in expected_failures.items():
        there = [one.name for one in every[name]]
        for property_ in expected:
            if property_ not in there:
                yield f"{property_!r} is no property of {name!r}; it has {', '.join(there)}"


def assert_releasable(
    release: Any, policy: str | Path | Mapping[str, Any] | Policy, original: Any = None, population: Any = None
) -> Audit:
    """Assert that a release passes its policy. Nothing else lets it return: no error, no mere measurement.

    A demand that only warns (`severity: warning`) keeps no release from passing, as on the command line.

    Args:
        release: the table under audit, or None for the one that the policy names; see `tcdp_audit.audit`.
        policy: what it must satisfy.
        original: the table that it was made from.
        population: the population that it was drawn from.

    Returns:
        The audit, which passed.

    Raises:
        AssertionError: it does not pass, or could not be audited; a line for each reason. pytest shows these lines
            and no traceback, in which it would print the table as an argument of the test.

    Cost: that of `tcdp_audit.audit`.

    Example:
        >>> import pyarrow
        >>> policy = {
        ...     "version": 1,
        ...     "attributes": {"zip": {"role": "quasi_identifier"}},
        ...     "expect": [{"k_anonymity": {"k": 2}}],
        ... }
        >>> assert_releasable(pyarrow.table({"zip": ["a", "a", "b", "b"]}), policy).status
        'passed'
    """
    __tracebackhide__ = True
    try:
        audited = audit(release, policy, original, population)
        audited.raise_for_failures()
    except TcdpAuditError as error:
        reasons = visible_lines(str(error))
    else:
        return audited
    raise _failure(reasons)


def _failure(reasons: str) -> AssertionError:
    """An assertion's error; where pytest runs, one that it shows without a traceback."""
    pytest = sys.modules.get("pytest")
    if pytest is None:
        return AssertionError(reasons)
    kind: Any = type("NotReleasable", (pytest.fail.Exception, AssertionError), {})
    error: AssertionError = kind(reasons, pytrace=False)
    return error
