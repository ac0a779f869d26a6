"""Ctrl-C while a draft is made: its exit code, one sentence, and nothing half-written."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

PROGRAM = """
import os, signal, sys, threading, time
from importlib import import_module

module, _, name = {moment!r}.rpartition(".")
owner = import_module(module)
real = getattr(owner, name)

def send():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # it is for the main thread, as if it came from outside
    time.sleep({later})
    os.kill(os.getpid(), signal.SIGINT)

def interrupted(*given, **named):
    setattr(owner, name, real)  # one signal: a second one would meet the interpreter as it ends
    threading.Thread(target=send, daemon=True).start()
    time.sleep(0 if {later} else 5)  # an interruption ends it
    return real(*given, **named)

signal.signal(signal.SIGINT, signal.default_int_handler)
setattr(owner, name, interrupted)
from tcdp_audit.cli import main
sys.exit(main())
"""
DRAFTING = "tcdp_audit.drafting.drafting"
MOMENTS = (
    f"{DRAFTING}.missing_tokens",
    f"{DRAFTING}.identified",
    f"{DRAFTING}.relations_of",
    f"{DRAFTING}.strengths_among",
    "tcdp_audit.api.strengths_of",
    f"{DRAFTING}.hierarchy_of",
)
WRITING = "tcdp_audit.drafting.draft.write_atomically"


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20,000 records of 90 columns, some with hierarchies: about three seconds of drafting."""
    generator = np.random.default_rng(5)
    columns = {"age": generator.integers(18, 90, 20_000), "zip": generator.integers(10_000, 99_999, 20_000)}
    columns |= {f"x{place}y": generator.integers(0, 3 + place, 20_000) for place in range(88)}
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    csv.write_csv(pa.table(columns), path)
    return path


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="a signal is not sent to one thread here")
@pytest.mark.parametrize(("moment", "later"), [*itertools.product(MOMENTS, (0, 0.05)), (WRITING, 0)])
def test_ctrl_c_ends_a_draft_with_a_sentence(wide: Path, tmp_path: Path, moment: str, later: float):
    process = subprocess.run(
        [
            sys.executable,
            "-c",
            PROGRAM.format(moment=moment, later=later),
            "init",
            str(wide),
            "-o",
            "wide.tcdp.yaml",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert process.returncode == 130, process.stderr
    assert process.stderr.splitlines()[-1] == "tcdp-audit: interrupted; nothing was written"
    assert [*tmp_path.iterdir()] == []
