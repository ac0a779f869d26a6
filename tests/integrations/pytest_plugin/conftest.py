"""Policies in a folder of their own, collected by a pytest that runs within this one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tcdp_audit.api import audit

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


@pytest.fixture
def audits(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was audited, a policy a call."""
    calls: list[object] = []

    def counted(release: object, policy: object, *given: object, **options: object) -> object:
        calls.append(policy)
        return audit(release, policy, *given, **options)

    monkeypatch.setattr("tcdp_audit.api.audit", counted)
    return calls
