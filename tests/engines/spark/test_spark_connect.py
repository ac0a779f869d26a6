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
