"""What all tests share: the ground truth, and skips that the continuous integration does not accept."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no defect. Continuous integration tries the same examples every time; at a desk they are new ones.
settings.register_profile("desk", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
settings.register_profile("ci", settings.get_profile("desk"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

# Signals, pipes, shells and limits of POSIX: Windows has none of them to test. docs/installing.md says so.
OF_POSIX = (
    *("bad_input/test_interruption.py", "bad_input/test_scratch.py", "bad_input/test_whole_csv.py"),
    *("cli/test_streams.py", "repair/test_killed_fix.py", "repair/test_types_of_fix.py", "results/test_what_stays.py"),
    *("engines/database/*", "bad_input/test_unwritable_reports.py"),
)
collect_ignore_glob = OF_POSIX if sys.platform == "win32" else ()


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m` does not ask for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on real data belong to the longer tier. One worker tries all properties of a specification."""
    for item in items:
        if "data" in getattr(item, "fixturenames", ()):
            item.add_marker("long")
        conforms = getattr(item, "callspec", None) and item.callspec.params.get("conforms")  # type: ignore[attr-defined]
        if conforms:
            item.add_marker(pytest.mark.xdist_group(f"{conforms.subject.kind} {conforms.subject.name}"))


@pytest.hookimpl(tryfirst=True)  # before a worker says which tests it has
def pytest_collection_finish(session: pytest.Session) -> None:
    """Name each test after its group, by which xdist sends it to a worker.

    xdist does so itself, but up to 3.8 by a field that pytest no longer reads since 9.2: groups were split unnoticed,
    and both workers computed what only one has to.
    """
    if not getattr(session.config.option, "loadgroup", False):
        return
    for item in session.items:
        mark = item.get_closest_marker("xdist_group")
        if mark is not None and not item.nodeid.endswith(f"@{mark.args[0]}"):
            item._id = type(item.id).parse(f"{item.nodeid}@{mark.args[0]}")


def pytest_sessionfinish() -> None:
    """Save what a worker has covered while there is time: a worker that takes ten seconds to end is killed."""
    coverage = sys.modules.get("coverage")
    current = None if coverage is None else coverage.Coverage.current()
    if current is not None and "PYTEST_XDIST_WORKER" in os.environ:
        current.stop()
        current.save()


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


class Modules:
    """What an inner pytest has imported by its end."""

    def __init__(self) -> None:
        self.imported: dict[str, ModuleType] = {}

    def pytest_unconfigure(self) -> None:
        self.imported |= sys.modules

    def keep_all_but_those_in(self, folder: Path) -> None:
        for name, module in self.imported.items():
            if not str(getattr(module, "__file__", None)).startswith(str(folder)):
                sys.modules.setdefault(name, module)


@pytest.fixture
def inner_modules(tmp_path: Path) -> Iterator[Modules]:
    """What inner runs import. pytester forgets it, and a library of C that is imported again ends the process."""
    modules = Modules()
    yield modules
    modules.keep_all_but_those_in(tmp_path.parent)


@pytest.fixture
def pytester(inner_modules: Modules, pytester: pytest.Pytester) -> pytest.Pytester:  # noqa: ARG001 - keeps them later
    """That of the plugin, for files that say `pytest_plugins = ["pytester"]`."""
    return pytester


@pytest.fixture
def inner_pytest(
    inner_modules: Modules, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """Run pytest inside this one, in a folder of its own, with our plugin and none of the others that are installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    options = [
        "-p",
        "tcdp_audit.integrations.pytest_plugin",
        "-p",
        "no:unraisableexception",
    ]  # which collects garbage for long

    def run(*arguments: str | Path) -> pytest.RunResult:
        result = pytester.runpytest_inprocess(*options, *arguments, plugins=[inner_modules])
        inner_modules.keep_all_but_those_in(pytester.path)
        return result

    return run
