"""What all tests share: the ground truth, and skips that the continuous integration does not accept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no defect. Continuous integration tries the same examples every time; at a desk they are new ones.
settings.register_profile("desk", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
settings.register_profile("ci", settings.get_profile("desk"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m` does not ask for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on real data belong to the longer tier. One worker tries all properties of a specification."""
    for item in items:
        if "data" in getattr(item, "fixturenames", ()):
            item.add_marker("long")
        conforms = getattr(item, "callspec", None) and item.callspec.params.get("conforms")  # type: ignore[attr-defined]
        if conforms:
            item.add_marker(pytest.mark.xdist_group(f"{conforms.subject.kind} {conforms.subject.name}"))


@pytest.fixture(scope="session")
def skip_or_fail() -> Callable[[str], None]:
    """Skip with a reason; fail where everything is promised to be there (TCDP_AUDIT_REQUIRE_ALL)."""

    def decide(reason: str) -> None:
        if os.environ.get("TCDP_AUDIT_REQUIRE_ALL"):
            pytest.fail(f"must not be skipped here: {reason}")
        pytest.skip(reason)

    return decide


@pytest.fixture(scope="session")
def data(skip_or_fail: Callable[[str], None]) -> Path:
    """The folder of real data and independent ground truth."""
    folder = os.environ.get("TCDP_AUDIT_DATA", "")
    if not folder or not Path(folder).is_dir():
        skip_or_fail("TCDP_AUDIT_DATA does not name the folder of real data")
    return Path(folder)
