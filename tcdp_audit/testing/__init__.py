"""The conformance suite: what every check, remedy, reporter, section and engine must keep, built in or your own.

One test in a plugin's own tests is enough; pytest reports each property of each specification by itself::

    from tcdp_audit.testing import parametrize_with_properties

    @parametrize_with_properties([MY_CHECK, MY_REMEDY])
    def test_it_conforms(conforms):
        conforms()

Evidence and tables are generated from fixed seeds, so that a failure repeats.

suites          the properties of every kind of specification, one pytest item each; an assertion on a release
conformance     a property, and what does not conform
specification   what a check says of itself, and parameters to try
cases           generated evidence, and releases with recognisable cells
class_figures   figures of checks on classes, and what they say of demands that nothing can fail
class_checks    properties of checks on classes, through whole audits
releases        generated releases that fail their policies, with original, population and hold-out
table_checks    properties of checks on tables
aggregate_checks  properties of checks on tables of figures, with generated tables of them
remedies        properties of remedies and their treatments
reports         properties of report formats and sections
engines         properties of engines
detectors       properties of detectors of identifiers
"""

from __future__ import annotations

from tcdp_audit.testing.conformance import ConformanceError, Property
from tcdp_audit.testing.suites import assert_releasable, check_conforms, parametrize_with_properties, properties_of

__all__ = [
    "ConformanceError",
    "Property",
    "assert_releasable",
    "check_conforms",
    "parametrize_with_properties",
    "properties_of",
]
