"""The suite of properties for each kind of specification that a hook may yield."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import LazyCheck, Specification, load_announced
from tcdp_audit.core.results.reporter import Reporter, ReportSection
from tcdp_audit.plugin.detector import Detector
from tcdp_audit.plugin.engine import EngineOpener
from tcdp_audit.plugin.remedy import Remedy
from tcdp_audit.testing.class_checks import ClassCheckSuite
from tcdp_audit.testing.conformance import ConformanceError, Property, Suite
from tcdp_audit.testing.detectors import DetectorSuite
from tcdp_audit.testing.engines import EngineSuite
from tcdp_audit.testing.remedies import RemedySuite
from tcdp_audit.testing.reports import ReporterSuite, SectionSuite
from tcdp_audit.testing.table_checks import TableCheckSuite

if TYPE_CHECKING:
    import pytest

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


def _suite(specification: Any, parameters: Mapping[str, Any]) -> Suite:
    for kind, suite in SUITES.items():
        if isinstance(specification, kind):
            return suite(specification, parameters)
    known = (
        "ClassCheck, AttackCheck, TableCheck, LazyCheck, Remedy, Reporter, ReportSection, EngineOpener, ValueDetector "
        "and ColumnDetector"
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
    return check.by_kind(lambda one: ClassCheckSuite(one, parameters), lambda one: TableCheckSuite(one, parameters))


SUITES: Mapping[type, Callable[[Any, Mapping[str, Any]], Suite]] = {
    LazyCheck: lambda announced, parameters: _suite_of_check(_loaded(announced), parameters),
    Specification: _suite_of_check,
    Remedy: RemedySuite,
    Reporter: lambda reporter, _: ReporterSuite(reporter),
    ReportSection: lambda section, _: SectionSuite(section),
    EngineOpener: lambda opener, parameters: EngineSuite(opener, parameters.get("place")),
    Detector: lambda detector, _: DetectorSuite(detector),
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
