"""The conformance suite: what every check, reporter and remedy must keep, ours and everybody's.

One call in a plugin's own tests is enough::

    from tcdp_audit.testing import check_conforms

    def test_my_check_conforms():
        check_conforms(MY_CHECK)

Evidence and tables are generated from fixed seeds, so that a failure repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcdp_audit.check.kinds import ClassCheck, TableCheck, VictimCheck
from tcdp_audit.remedy.remedy import Remedy
from tcdp_audit.results.reporter import Reporter
from tcdp_audit.testing.class_checks import class_check_conforms
from tcdp_audit.testing.conformance import ConformanceError, Subject
from tcdp_audit.testing.remedies import remedy_conforms
from tcdp_audit.testing.reporters import reporter_conforms
from tcdp_audit.testing.specification import specification_conforms

__all__ = ["ConformanceError", "check_conforms"]


def check_conforms(specification: Any, parameters: Mapping[str, Any] | None = None) -> None:
    """Hold a check, a reporter or a remedy against everything that the core relies on.

    Args:
        specification: what a hook yields.
        parameters: values for parameters that the suite cannot guess; by default those of the guide's example, and
            for a check each value of every choice (an enumeration, a literal or a flag) in turn.

    Raises:
        ConformanceError: it does not conform; the message names it, the property and the case.

    Cost: some seconds for a check or a remedy, most of them in small audits.
    """
    if isinstance(specification, ClassCheck | VictimCheck):
        class_check_conforms(specification, parameters or {})
    elif isinstance(specification, TableCheck):
        specification_conforms(Subject("check", specification.name), specification)
    elif isinstance(specification, Reporter):
        reporter_conforms(specification)
    elif isinstance(specification, Remedy):
        remedy_conforms(specification, parameters or {})
    else:
        kind = type(specification).__name__
        known = "ClassCheck, VictimCheck, TableCheck, Reporter and Remedy"
        raise ConformanceError(f"a {kind} is no kind that the conformance suite knows; it knows {known}")
