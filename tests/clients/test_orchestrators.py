"""The files of docs/pipelines.md: a release that fails stops the run before anything is published."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("orchestrators")]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```py\n# (\S+\.py)\n(.*?)```", PAGE, re.DOTALL))
POLICY = """version: 1
attributes: {ward: {role: quasi_identifier}, illness: {role: sensitive}}
expect: [k_anonymity: {k: 2}, distinct_l_diversity: {l: 2}]
"""
ROWS = {"passes": "1,flu\n1,gout\n", "fails": "1,flu\n2,gout\n", "is empty": ""}
OFFLINE = {  # nothing is sent anywhere
    "DAGSTER_DISABLE_TELEMETRY": "yes",
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "300",  # of its server on this machine, which a busy one delays
}


@pytest.mark.parametrize("release", ROWS)
@pytest.mark.parametrize(("name", "file"), [("dagster", "dagster_release.py"), ("prefect", "prefect_release.py")])
def test_only_a_release_that_passes_is_published(name, file, release, guest: Callable[[str], Path], tmp_path):
    (tmp_path / file).write_text(FILES[file], encoding="utf-8")
    (tmp_path / "discharges.csv").write_text(f"ward,illness\n{ROWS[release]}")
    (tmp_path / "discharges.tcdp.yaml").write_text(POLICY)
    home = {"DAGSTER_HOME": "", "PREFECT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    environment = {key: value for key, value in {**os.environ, **OFFLINE, **home}.items() if value}
    environment.pop("PYTHONPATH", None)  # the package is the one that is installed there
    ran = subprocess.run(
        [guest(name) / "python", file], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    printed = ran.stdout + ran.stderr

    assert (ran.returncode == 0, (tmp_path / "published").exists()) == (release == "passes",) * 2, printed
    assert "gout" not in printed
    assert ("fit_for_release" if name == "dagster" else "audit") in printed


def test_the_page_has_a_file_of_few_lines_for_each_orchestrator() -> None:
    assert sorted(FILES) == ["dags/release.py", "dagster_release.py", "prefect_release.py"]
    for text in FILES.values():
        assert len([line for line in text.splitlines() if line.strip()]) <= 20
        compile(text, "page", "exec")
