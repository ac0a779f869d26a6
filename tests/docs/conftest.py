"""A folder in which the commands and the code of the documentation run: the demonstration, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tcdp_audit.cli.demo import FOLDER
from tcdp_audit.cli.run import run

OUTPUTS = Path(__file__).parents[2] / "examples" / "outputs"


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demonstration's folder."""
    folder = tmp_path_factory.mktemp("documentation") / FOLDER
    with pytest.MonkeyPatch.context() as patched:  # no page shows what remedies would do, which takes long
        patched.setattr("tcdp_audit.core.repair.fixing.remedy_trial", lambda *_: None)
        assert run("demo", [str(folder)]) == 0
    return folder


@pytest.fixture
def folder(demonstration: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds the demonstration as `tcdp-audit demo` leaves it, and examples, and is the current one."""
    shutil.copytree(demonstration, tmp_path / FOLDER)
    shutil.copytree(OUTPUTS, tmp_path / "outputs")
    monkeypatch.chdir(tmp_path)
    return tmp_path
