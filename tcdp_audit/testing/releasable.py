"""An assertion on a release, for tests of whatever makes one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import audit, visible_lines
from tcdp_audit.plugin.engine import TcdpAuditError

if TYPE_CHECKING:
    from tcdp_audit.api import Policy
    from tcdp_audit.core.results.audit import Audit


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
