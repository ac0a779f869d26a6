"""The fixture `tcdp_audit`, and `assert_releasable` inside and outside of pytest."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tcdp_audit.testing import assert_releasable

pytest_plugins = ["pytester"]
Put, Run = Callable[..., Path], Callable[..., pytest.RunResult]
POLICY = {"version": 1, "attributes": {"zip": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {"k": 2}}]}
TWICE, ONCE = pa.table({"zip": ["a", "a"]}), pa.table({"zip": ["zanzibar"]})
REASONS = (
    "the audit's status is failed\n"
    "k_anonymity: The only record is in a group of fewer than 2 records; the only group has 1 record."
)


def test_a_release_that_passes_gives_its_audit():
    assert assert_releasable(TWICE, POLICY).passed


@pytest.mark.parametrize("inside", [True, False])
def test_one_that_fails_is_an_assertion_error_with_a_line_a_reason(monkeypatch: pytest.MonkeyPatch, inside: bool):
    if not inside:
        monkeypatch.delitem(sys.modules, "pytest")
    with pytest.raises(AssertionError) as caught:
        assert_releasable(ONCE, POLICY)
    assert isinstance(caught.value, pytest.fail.Exception) is inside
    assert str(caught.value).startswith("the audit's status is failed\nk_anonymity: ")
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ({**POLICY, "expect": [{"k_anonymity": {}}]}, "the audit's status is measured"),
        ({**POLICY, "expect": [{"k_anonimity": {}}]}, "policy: expect[0]: unknown check 'k_anonimity'; did you mean"),
        ({**POLICY, "expect": [{"k_anonymity": {"k": 2, "severity": "warning"}}]}, "the audit's status is measured"),
    ],
)
def test_whatever_is_no_pass_is_an_assertion_error(policy: dict[str, object], reason: str):
    with pytest.raises(AssertionError) as caught:
        assert_releasable(TWICE, policy)
    assert str(caught.value).startswith(reason)


def test_a_failing_test_shows_the_reasons_and_no_table(pytester: pytest.Pytester, inner_pytest: Run):
    pytester.makepyfile(f"""
        import pyarrow, pytest
        from tcdp_audit.testing import assert_releasable

        @pytest.fixture
        def release():
            return pyarrow.table({{"zip": ["zanzibar"]}})

        def test_release(release):
            assert_releasable(release, {POLICY!r})
    """)
    result = inner_pytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["the audit's status is failed", "k_anonymity: *", "FAILED test_*.py::test_release - *"]
    )
    assert "zanzibar" not in result.stdout.str()


def test_the_fixture_audits_with_the_options_of_the_run(pytester: pytest.Pytester, inner_pytest: Run, put: Put):
    put("version: 1\nattributes: {zip: {role: quasi_identifier}}\nexpect: [{k_anonymity: {k: 2}}]\n", "zip\n1\n1\n")
    pytester.mkdir("tests").joinpath("test_with_fixture.py").write_text(
        "import pyarrow, pytest\n"
        "from pathlib import Path\n"
        "@pytest.fixture(scope='module')\n"
        "def audit(tcdp_audit):\n"
        "    return tcdp_audit(None, 'release.tcdp.yaml')\n"
        "def test_release_of_the_options(audit):\n"
        "    assert audit.passed\n"
        "    assert audit.expectations[0].observed == 2\n"
        "def test_table(tcdp_audit):\n"
        "    assert not tcdp_audit(pyarrow.table({'zip': ['x']}), Path('release.tcdp.yaml')).passed\n"
        "def test_file(tcdp_audit):\n"
        "    assert tcdp_audit('release.csv', 'release.tcdp.yaml').passed\n"
        "def test_wrong(tcdp_audit):\n"
        "    tcdp_audit('nowhere.csv', 'release.tcdp.yaml')\n",
        encoding="utf-8",
    )
    result = inner_pytest("tests", "--tcdp-release=release.csv", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=3, failed=1)
    assert "inputs.py" not in result.stdout.str()  # the traceback ends where the fixture is called
