"""`tcdp-audit plugins` tells what is installed, what does not work, and who clashes with whom."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.long  # every test starts some processes

if TYPE_CHECKING:
    from collections.abc import Callable

REPORTER = """
from tcdp_audit.plugin.check import hookimpl
from tcdp_audit.plugin.report import Reporter

@hookimpl
def tcdp_audit_reporters():
    yield Reporter(name="{name}", title="Text", suffix=".{name}", render=lambda audit: audit.status)
"""
RAISING = """
from tcdp_audit.plugin.check import hookimpl

@hookimpl
def tcdp_audit_checks():
    raise RuntimeError("no licence")
"""


@pytest.fixture
def outsider(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Install a distribution `acme` of one plugin in a folder of its own; the folder for PYTHONPATH."""

    def install(name: str, source: str) -> str:
        site = tmp_path_factory.mktemp("site")
        metadata = site / "acme-2.5.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 2.5\n")
        (metadata / "entry_points.txt").write_text(f"[tcdp_audit]\n{name} = acme_plugin\n")
        (site / "acme_plugin.py").write_text(source)
        return str(site)

    return install


def _listed(answer: Any) -> dict[str, Any]:
    return {plugin["name"]: plugin for plugin in json.loads(answer.out)["plugins"]}


def test_the_built_in_plugins_are_listed_with_what_they_provide(process: Any):
    answer = process("plugins", "--json", "--no-external-plugins")
    plugins = _listed(answer)

    assert (answer.code, answer.err) == (0, "")
    assert {"checks", "reports"} <= set(plugins)
    assert {plugin["distribution"] for plugin in plugins.values()} == {"tcdp-audit"}
    assert plugins["checks"]["hooks"] == ["tcdp_audit_checks", "tcdp_audit_detectors", "tcdp_audit_report_sections"]
    assert {"k_anonymity", "t_closeness"} <= set(plugins["checks"]["checks"])
    assert plugins["checks"]["reporters"] == []
    assert "json" in plugins["reports"]["reporters"]


def test_the_listing_fits_80_columns(process: Any, outsider: Any):
    path = outsider("acme", f"raise ImportError('{'a long reason ' * 12}')")

    lines = process("plugins", PYTHONPATH=path).out.splitlines()

    assert max(map(len, lines)) <= 80
    assert "  error      ImportError: a long reason" in "\n".join(lines)


def test_another_authors_plugin_is_listed_with_its_version(process: Any, outsider: Any):
    path = outsider("acme", REPORTER.format(name="txt"))

    answer = process("plugins", PYTHONPATH=path)

    assert answer.code == 0
    assert "acme (acme 2.5)\n  hooks      tcdp_audit_reporters\n  reporters  txt\n" in answer.out
    assert _listed(process("plugins", "--json", PYTHONPATH=path))["acme"] == {
        "name": "acme",
        "distribution": "acme",
        "version": "2.5",
        "hooks": ["tcdp_audit_reporters"],
        "checks": [],
        "remedies": [],
        "reporters": ["txt"],
        "report_sections": [],
        "detectors": [],
        "engines": [],
    }


@pytest.mark.parametrize("option", [["--no-external-plugins"], ["-p", "no:acme"]])
def test_a_plugin_can_be_left_out(option: list[str], process: Any, outsider: Any):
    path = outsider("acme", REPORTER.format(name="txt"))

    plugins = _listed(process("plugins", "--json", *option, PYTHONPATH=path))

    assert "acme" not in plugins
    assert "checks" in plugins


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        (RAISING, "tcdp_audit_checks: RuntimeError: no licence"),
    ],
)
def test_a_broken_plugin_is_listed_with_its_error_and_takes_no_other_down(
    source: str, error: str, process: Any, outsider: Any
):
    answer = process("plugins", "--json", PYTHONPATH=outsider("acme", source))
    plugins = _listed(answer)

    assert answer.code == 0
    assert plugins["acme"]["error"] == error
    assert "k_anonymity" in plugins["checks"]["checks"]
    assert "acme (acme 2.5), does not work\n" in process("plugins", PYTHONPATH=outsider("acme", source)).out


def test_a_clash_names_both_providers_and_still_lists(process: Any, outsider: Any):
    path = outsider("acme", REPORTER.format(name="json"))

    answer = process("plugins", "--json", PYTHONPATH=path)

    assert answer.code == 3
    (clash,) = json.loads(answer.out)["clashes"]
    assert clash == (
        "'json' is provided by the plugin 'reports' and by 'acme'; leave one of them out with `-p no:acme`"
    )
    assert answer.err == f"tcdp-audit: {clash}\n"
    assert _listed(answer)["acme"]["reporters"] == ["json"]
    assert "json" in _listed(answer)["reports"]["reporters"]
    assert process("plugins", "-p", "no:acme", PYTHONPATH=path).code == 0


def test_p_without_no_is_a_wrong_call(here: Any):
    assert here("plugins", "-p", "acme") == (
        2,
        "",
        "tcdp-audit: Invalid value: -p acme: write -p no:NAME to leave the plugin NAME out\n",
    )
