"""Policies in a folder of their own, collected by a pytest that runs within this one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tcdp_audit.pytest_plugin.auditor
import tcdp_audit.pytest_plugin.collection
from tcdp_audit.api import audit

# pytester forgets every module that its runs import, and numpy cannot be imported twice: all are imported before
IMPORTED = (tcdp_audit.pytest_plugin.auditor, tcdp_audit.pytest_plugin.collection)
RELEASE = "zip,disease,cost,extra\n" + "".join(
    f"{zip_code},{disease},{cost},x\n"
    for zip_code, disease, cost in [
        ("02139", "flu", 10),
        ("02139", "gout", 20),
        ("02139", "flu", 30),
        ("10115", "flu", 40),
        ("10115", "flu", 50),
    ]
)
POLICY = """\
version: 1
release: release.csv
attributes:
  zip: {role: quasi_identifier}
  disease: {role: sensitive, scale: nominal}
  cost: {role: sensitive, scale: numeric}
  extra: {role: insensitive}
expect:
  - k_anonymity: {k: 2}
  - k_anonymity: {k: 3}
  - distinct_l_diversity: {l: 2}
  - t_closeness: {t: 0.1, attribute: cost, distance: ordered, severity: warning}
  - t_closeness: {attribute: disease, distance: equal}
"""


@pytest.fixture(scope="session", autouse=True)
def _everything_is_imported() -> None:
    attributes = {"a": {"role": "quasi_identifier"}, "b": {"role": "sensitive"}}
    import pyarrow as pa

    audit(
        pa.table({"a": ["x"], "b": ["y"]}),
        {"version": 1, "attributes": attributes, "expect": [{"t_closeness": {}}]},
    )


Put = Callable[..., Path]


@pytest.fixture
def put(pytester: pytest.Pytester) -> Put:
    """Put a policy and its release into the folder of the inner pytest."""

    def write(policy: str = POLICY, release: str | None = RELEASE, name: str = "release.tcdp.yaml") -> Path:
        if release is not None:
            (pytester.path / "release.csv").write_text(release, encoding="utf-8")
        path = pytester.path / name
        path.write_text(policy, encoding="utf-8")
        return path

    return write


Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest with this plugin alone: looking for others, and for objects that nothing refers to, takes longer."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def call(*arguments: str | Path) -> pytest.RunResult:
        return pytester.runpytest_inprocess(
            "-p", "tcdp_audit.pytest_plugin", "-p", "no:unraisableexception", *arguments
        )

    return call


@pytest.fixture
def audits(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was audited, a policy a call."""
    calls: list[object] = []

    def counted(release: object, policy: object, *given: object, **options: object) -> object:
        calls.append(policy)
        return audit(release, policy, *given, **options)

    monkeypatch.setattr("tcdp_audit.api.audit", counted)
    return calls
