"""A frame of Spark Connect has the outcomes of the same table in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
import sources
from answers import answer
from bare_workers import python_without_tcdp_audit
from test_same_answer import CONVENTIONS, policy


@pytest.mark.usefixtures("java")
def test_connect_gives_the_same_outcomes(skip_or_fail: Callable[[str], None]) -> None:
    if find_spec("grpc") is None:
        skip_or_fail("pyspark[connect] is not installed")
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("connect_session.py"))],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    said = json.loads(ran.stdout)
    local = [answer(sources.ARROW, policy(one)) for one in (CONVENTIONS[0], CONVENTIONS[14])]
    assert said["outcomes"] == json.loads(json.dumps(local))
    sentence = "release: the cluster did not finish the work on the table; see Spark's own log, and audit it again"
    assert said["refusal"] == [sentence, "None", "None"]


@pytest.mark.usefixtures("java")
def test_a_cluster_without_tcdp_audit_is_named(tmp_path: Path, skip_or_fail: Callable[[str], None]) -> None:
    if find_spec("grpc") is None:
        skip_or_fail("pyspark[connect] is not installed")
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("connect_session.py")), "bare"],
        env={**os.environ, "PYSPARK_PYTHON": str(python_without_tcdp_audit(tmp_path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    sentence = (
        "release: a Python worker of the cluster cannot import a module, as a rule tcdp-audit or one of its plugins; "
        "install the same version on every executor, and name a Python that has it in PYSPARK_PYTHON"
    )
    assert json.loads(ran.stdout) == {"outcomes": [], "refusal": [sentence, "None", "None"]}
