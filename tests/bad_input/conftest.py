"""Runs `tcdp-audit check` in this process, and holds every run to what all bad input is promised.

No traceback, no cell in a message, nothing left in the folder or among the temporary files.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from small_release import MARK, POLICY

from tcdp_audit.cli.run import run


@dataclass(frozen=True)
class Ran:
    """What one run answered."""

    code: int
    out: str
    err: str

    def outcome(self, check: str) -> dict[str, Any]:
        """The JSON outcome of a check."""
        return next(one for one in json.loads(self.out)["outcomes"] if one["check"] == check)

    @property
    def failed(self) -> list[str]:
        """The checks that did not pass."""
        return [one["check"] for one in json.loads(self.out)["outcomes"] if one["status"] != "passed"]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Write a release and a policy, audit, and look at what is left."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def checked(
        content: bytes | str | None, name: str = "release.csv", policy: str | bytes = POLICY, *options: str
    ) -> Ran:
        folder = tmp_path / "data"
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        if content is not None:
            Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        Path("policy.tcdp.yaml").write_bytes(policy if isinstance(policy, bytes) else policy.encode())
        before = sorted(folder.rglob("*"))
        code = run("check", [name, "--policy", "policy.tcdp.yaml", "--json", *options])
        output = capfd.readouterr()
        assert sorted(folder.rglob("*")) == before
        assert list(scratch.iterdir()) == []
        assert "Traceback" not in output.err
        assert MARK not in output.err + output.out
        return Ran(code, output.out, output.err)

    return checked
