"""Run a piece of work in a separate process: its seconds, its peak memory, its answer."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Measured:
    """Wall seconds of the work alone, peak resident memory of the process in GiB, what it returned, and CPU seconds."""

    seconds: float
    peak: float
    answer: Any
    cpu: float


def in_a_process(work: Callable[..., Any], *arguments: Any) -> Measured:
    """Run `work(*arguments)` in a new interpreter; its answer must be JSON."""
    context = multiprocessing.get_context("spawn")
    parent, child = context.Pipe()
    process = context.Process(target=_run, args=(child, work, arguments))
    process.start()
    child.close()
    seconds, peak, answer, cpu = json.loads(parent.recv())
    process.join()
    return Measured(seconds, peak, answer, cpu)


def _run(pipe: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    start, cpu = time.perf_counter(), time.process_time()
    answer = work(*arguments)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    pipe.send(json.dumps([seconds, peak_memory(), answer, cpu]))


def peak_memory() -> float:
    """Peak resident memory in GiB; `getrusage` would include the parent's memory at the start of this process."""
    line = next(line for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines() if "VmHWM" in line)
    return int(line.split()[1]) / 2**20
