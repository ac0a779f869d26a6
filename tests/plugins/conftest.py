"""Pretends that the example distribution is installed: its package and a `.dist-info` on the path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent / "tcdp_audit_example"
PROJECT = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
RELEASE = "zip,disease\n" + "02139,flu\n02139,flu\n02139,gout\n02139,gout\n10115,flu\n10115,gout\n"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def installed(folder: Path, *plugins: str) -> Path:
    """Install the example distribution with some of its entry points, as an installer would leave it."""
    groups = PROJECT["entry-points"]
    points = {**groups["tcdp_audit"], **groups["tcdp_audit_broken"]}
    shutil.copytree(EXAMPLE / "src", folder)
    metadata = folder / f"tcdp_audit_example-{PROJECT['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n"
    )
    lines = "\n".join(f"{name} = {points[name]}" for name in plugins)
    (metadata / "entry_points.txt").write_text(f"[tcdp_audit]\n{lines}\n")
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `tcdp-audit` in a new process beside a small release, with some plugins installed."""

    def run(plugins: tuple[str, ...], *arguments: str, policy: str = "") -> subprocess.CompletedProcess[str]:
        site = installed(tmp_path / f"site-{len(list(tmp_path.iterdir()))}", *plugins)
        (tmp_path / "release.csv").write_text(RELEASE)
        (tmp_path / "release.tcdp.yaml").write_text(policy)
        return subprocess.run(
            [sys.executable, "-m", "tcdp_audit", *arguments],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]),
                "PYTHONWARNINGS": "error",
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
