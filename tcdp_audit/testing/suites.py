"""The suite of properties for each kind of specification that a hook may yield."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcdp_audit.api import LazyCheck, Specification, loaded
from tcdp_audit.core.results.reporter import Reporter, ReportSection
from tcdp_audit.plugin.detector import Detector
from tcdp_audit.plugin.engine import EngineOpener
from tcdp_audit.plugin.remedy import Remedy
from tcdp_audit.testing.class_checks import ClassCheckSuite
from tcdp_audit.testing.conformance import ConformanceError, Property, Suite
from tcdp_audit.testing.detectors import DetectorSuite
from tcdp_audit.testing.engines import EngineSuite
from tcdp_audit.testing.remedies import RemedySuite
from tcdp_audit.testing.reporters import ReporterSuite
from tcdp_audit.testing.sections import SectionSuite
from tcdp_audit.testing.table_checks import TableCheckSuite


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
    if isinstance(specification, LazyCheck):
        return _suite_of_check(_loaded(specification), parameters)
    if isinstance(specification, Specification):
        return _suite_of_check(specification, parameters)
    if isinstance(specification, Remedy):
        return RemedySuite(specification, parameters)
    if isinstance(specification, Reporter):
        return ReporterSuite(specification)
    if isinstance(specification, ReportSection):
        return SectionSuite(specification)
    if isinstance(specification, EngineOpener):
        return EngineSuite(specification, parameters.get("place"))
    if isinstance(specification, Detector):
        return DetectorSuite(specification)
    known = (
        "ClassCheck, AttackCheck, TableCheck, LazyCheck, Remedy, Reporter, ReportSection, EngineOpener, ValueDetector "
        "and ColumnDetector"
    )
    kind = type(specification).__name__
    raise ConformanceError(f"a {kind} is no kind that the conformance suite knows; it knows {known}")


def _loaded(announced: LazyCheck) -> Specification[Any]:
    try:
        return loaded(announced)
    except Exception as error:
        sentence = f"{type(error).__name__} was raised: {error}"
        raise ConformanceError(f"check {announced.name!r}: it is announced and does not load: {sentence}") from error


def _suite_of_check(check: Specification[Any], parameters: Mapping[str, Any]) -> Suite:
    def on_classes(one: Any) -> Suite:
        return ClassCheckSuite(one, parameters)

    def on_tables(one: Any) -> Suite:
        return TableCheckSuite(one, parameters)

    return check.by_kind(on_classes, on_tables)
