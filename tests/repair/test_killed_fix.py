"""`fix` killed at random moments: never half a file, nothing unaudited, and nothing left once it has run again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from killed_runs import OUTSIDE

from tcdp_audit.core.base.scratch import NAME

POLICY = """
version: 1
attributes:
  age: {role: quasi_identifier, scale: numeric}
  zip: {role: quasi_identifier}
  disease: {role: sensitive, scale: nominal}
expect: [{k_anonymity: {k: 3}}]
remedy: [{mondrian: {}}, {suppression: {of: cells}}]
"""
KILLS = int(os.environ.get("TCDP_AUDIT_KILLS", "25"))
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)
SAID = ("nothing was written", "written: out.csv", "written: out.csv, out.json")
NEVER = 2**62


@dataclass
class Place:
    """A release, its output, a folder for temporary files of its own, and a program that runs `fix` there."""

    data: Path
    scratch: Path
    program: subprocess.Popen[str]

    def run(self, release: str, sent: int = 0, events: int = NEVER, seconds: float = 0) -> dict[str, Any]:
        """Run `fix`, and send it a signal so many events later."""
        arguments = [release, "--output", "out.csv", "--report", "out.json", "--quiet"]
        ask = {"arguments": arguments, "signal": sent, "events": events, "seconds": seconds}
        self.program.stdin.write(json.dumps(ask) + "\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())

    @property
    def said(self) -> str:
        """What the last run wrote to stderr."""
        return (self.data.parent / "stderr").read_text(encoding="utf-8").strip()

    @property
    def left(self) -> list[Path]:
        """Temporary files and folders that are still there."""
        here = [path for path in self.data.iterdir() if path.name not in KNOWN]
        return [*here, *self.scratch.iterdir()]


KNOWN = {"release.csv", "small.csv", "release.tcdp.yaml", "out.csv", "out.json"}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    data, scratch = tmp_path / "data", tmp_path / "scratch"
    data.mkdir()
    scratch.mkdir()
    numbers = np.random.default_rng(0)
    rows = [f"{numbers.integers(90)},{numbers.integers(40):02},{'abc'[numbers.integers(3)]}" for _ in range(1_000)]
    (data / "release.csv").write_text("\n".join(["age,zip,disease", *rows, ""]), encoding="utf-8")
    (data / "small.csv").write_text("age,zip,disease\n" + "1,1,a\n" * 3, encoding="utf-8")
    (data / "release.tcdp.yaml").write_text(POLICY, encoding="utf-8")
    command = [sys.executable, str(Path(__file__).with_name("killed_runs.py")), str(tmp_path / "answer")]
    traced = "COVERAGE_PROCESS_START"  # a signal that comes while a tracer holds its lock would stop it for ever
    environment = {name: value for name, value in os.environ.items() if name != traced} | {"TMPDIR": str(scratch)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=data, env=environment, **pipes) as program:
        yield Place(data, scratch, program)
        program.stdin.close()


@pytest.mark.long
@pytest.mark.parametrize("kills", [KILLS])
def test_killed_at_random_moments(place: Place, kills: int) -> None:
    whole = place.run("release.csv")
    assert (whole["code"], place.said, place.left) == (0, "", [])
    output, proven = place.data / "out.csv", (place.data / "out.csv").read_bytes()
    seen: Counter[tuple[str, str]] = Counter()
    numbers = np.random.default_rng(0 if os.environ.get("CI") else None)
    for number in range(kills):
        output.unlink(missing_ok=True)
        if number % 3:
            output.write_text("before", encoding="utf-8")
        before = output.read_bytes() if output.exists() else None
        sent = SIGNALS[number % 4]
        first = whole["writing"] if number % 8 < 4 else 1  # half of them once writing has begun
        events = int(numbers.integers(first, whole["events"]))
        ended = place.run("release.csv", sent, events, seconds=0.02 * numbers.random() * (number % 16 < 8))
        after = output.read_bytes() if output.exists() else None
        assert after in (before, proven)
        moment = "writing began" if events > whole["writing"] else "auditing"
        hit = "over before it came" if ended["code"] in (0, OUTSIDE) else "hit"
        retained = "output complete" if after == proven else "output as before"
        seen[sent.name, f"{moment}, {hit}, {retained}"] += 1
        if sent is not signal.SIGKILL:
            assert ended["code"] in (0, OUTSIDE, 128 + sent), place.said
            assert place.said in ("", *(f"tcdp-audit: interrupted; {said}" for said in SAID))
            assert place.left == []
            continue
        assert ended["code"] in (0, -signal.SIGKILL), place.said
        assert all(NAME.fullmatch(path.name) and path.stat().st_mode & 0o777 == 0o700 for path in place.left)
        seen["SIGKILL", "left something, which the next run removed"] += bool(place.left)
        assert place.run("small.csv")["code"] == 0
        assert place.left == []
        assert output.read_bytes() == (place.data / "small.csv").read_bytes()
    for (name, moment), count in sorted(seen.items()):
        print(f"{name:8} {moment:60} {count}")  # noqa: T201 - for the report of the long run, with -s
    assert any(", hit, " in moment for _, moment in seen)
