"""The conformance suite: what every check, remedy, reporter, section and engine must keep, built in or your own.

One test in a plugin's own tests is enough; pytest reports each property of each specification by itself::

    from tcdp_audit.testing import parametrize_with_properties

    @parametrize_with_properties([MY_CHECK, MY_REMEDY])
    def test_it_conforms(conforms):
        conforms()

Evidence and tables are generated from fixed seeds, so that a failure repeats.

suites          the properties of every kind of specification, one pytest item each
conformance     a property, and what does not conform
specification   what a check says of itself, and parameters to try
cases           generated evidence, and releases with recognisable cells
class_figures   figures of checks on classes, and what they say of demands that nothing can fail
class_checks    properties of checks on classes, through whole audits
releases        generated releases that fail their policies, with original, population and hold-out
table_checks    properties of checks on tables
remedies        properties of remedies and their treatments
reports         properties of report formats and sections
engines         properties of engines
detectors       properties of detectors of identifiers
releasable      an assertion on a release, for tests of what makes one
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcdp_audit.testing.conformance import ConformanceError, Property
from tcdp_audit.testing.releasable import assert_releasable
from tcdp_audit.testing.suites import parametrize_with_properties, properties_of

__all__ = [
    "ConformanceError",
    "Property",
    "assert_releasable",
    "check_conforms",
    "parametrize_with_properties",
    "properties_of",
]


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
