"""The tests beside this file are left out where Great Expectations is not installed, which is said here."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from tcdp_audit.core.quality import installed


def test_great_expectations_is_installed(skip_or_fail: Callable[[str], None]):
    if not installed("great_expectations"):
        skip_or_fail("Great Expectations is not installed")
    assert find_spec("tcdp_audit.integrations.great_expectations.expectation") is not None
