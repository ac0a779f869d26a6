"""The conformance suite: what every check, remedy, reporter, section and engine must keep, ours and everybody's.

One test in a plugin's own tests is enough; pytest reports each property of each specification by itself::

    from tcdp_audit.testing import parametrize_with_properties

    @parametrize_with_properties([MY_CHECK, MY_REMEDY])
    def test_it_conforms(conforms):
        conforms()

Evidence and tables are generated from fixed seeds, so that a failure repeats.

suites          the properties of every kind of specification
pytest_items    one pytest item a property
conformance     a property, and what does not conform
specification   what a check says of itself
variants        parameters to try
class_checks    properties of checks on classes
cases           generated evidence
figures         figures: shape, purity, order, comparison
audits          a check on classes through whole audits
tables          generated releases with recognisable cells
unfailable      what a check says of demands that nothing can fail
table_checks    properties of checks on tables
table_cases     generated releases with original, population and hold-out
table_trials    a check on tables, measured and audited on one of those
remedies        properties of remedies
remedy_cases    generated releases that fail their policies
treatments      what a remedy's treatments must keep
named_attacks   the attacks that they name
reporters       properties of report formats
sections        properties of report sections
sample          audits for both to render
releasable      an assertion on a release, for tests of what makes one
engines         properties of engines
engine_tables   tables for them to hold
detectors       properties of detectors of identifiers
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcdp_audit.testing.conformance import ConformanceError, Property
from tcdp_audit.testing.pytest_items import parametrize_with_properties
from tcdp_audit.testing.releasable import assert_releasable
from tcdp_audit.testing.suites import properties_of

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
