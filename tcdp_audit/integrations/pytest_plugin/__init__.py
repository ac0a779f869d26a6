"""pytest collects policies: each `*.tcdp.yaml` file is a file of tests, with an item for each demand.

pytest imports this module in every run, so it imports nothing but pytest. The others wait for a policy or the fixture.

items     a policy file and its items as nodes of pytest: each passes, fails or is skipped by its outcome
answer    the items that a policy has, and the answer of its audit, made once a policy and run
auditor   the settings of a run, and the value of the fixture
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tcdp_audit.integrations.pytest_plugin.auditor import Auditor

SUFFIXES = (".tcdp.yaml", ".tcdp.yml")
OPTIONS = {
    "release": ("TABLE", "audit this table instead of the one that a policy names"),
    "original": ("TABLE", "the table that the release was made from, instead of the policy's"),
    "population": ("TABLE", "the population that the release was drawn from, instead of the policy's"),
    "memory": ("SIZE", "budget of an audit such as 1GiB; by default 3/4 of what is free"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--tcdp-release` and the other options, and the same keys in the configuration."""
    group = parser.getgroup("tcdp-audit", "policies of tcdp-audit (*.tcdp.yaml)")
    trust = "run code next to a policy that it names as its schema"
    group.addoption("--tcdp-trust-policy-code", action="store_true", help=trust)
    parser.addini("tcdp_trust_policy_code", trust, type="bool", default=False)
    for name, (metavar, meaning) in OPTIONS.items():
        group.addoption(f"--tcdp-{name}", metavar=metavar, default=None, help=meaning)
        parser.addini(f"tcdp_{name}", f"default of --tcdp-{name}", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of items."""
    config.addinivalue_line("markers", "tcdp_audit(check, attribute, severity): an item of a policy of tcdp-audit")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A policy file as tests; nothing for any other file."""
    if not file_path.name.endswith(SUFFIXES):
        return None
    from tcdp_audit.integrations.pytest_plugin.items import policy_file  # noqa: PLC0415 - only where there is a policy

    return policy_file(file_path, parent)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker of pytest-xdist the folder in which all workers share the results of audits."""
    from tcdp_audit.integrations.pytest_plugin.answer import offer_folder  # noqa: PLC0415 - only under pytest-xdist

    offer_folder(node)


@pytest.fixture(scope="session", name="tcdp_audit")
def _auditor(pytestconfig: pytest.Config) -> Auditor:
    """Audit a table under a policy: `tcdp_audit(release, policy)`, with the options `--tcdp-*` as defaults."""
    from tcdp_audit.integrations.pytest_plugin.auditor import Auditor  # noqa: PLC0415 - only where it is used

    return Auditor.of(pytestconfig)
