"""The time from a moved control of the workbench to its picture in Chromium, and from opening a table to its columns.

    python benchmarks/studio.py [--records 30000,1000000,5000000] [--moves 50] [--folder FOLDER]

The table is that of `benchmarks/sessions.py`, in Parquet. Four controls are timed apart: the level of a column, the
tick of a column that the outsider knows, a threshold, and the role of a column. Levels
and ticks alternate and thresholds never return, so that most moves go to a state that was not asked for before. After a
role the second screen is timed as well, which counts anew. The clock runs in
the page, from the event to the frame after the figures were replaced; 60 ms of it wait for further moves of levels
and ticks. The time on the processor is that of the process with the server, in which Playwright's client runs as well.
Medians and 95th percentiles are printed with the load of the machine, and the resident memory of the process with the
server. It needs Playwright and the system's Chromium.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any

import yaml
from sessions import POLICY, write

from tcdp_audit.studio.choices import Place
from tcdp_audit.studio.server import Studio
from tcdp_audit.studio.workbench import Workbench

ROLE_OF = "month"  # the column whose role changes
MOVE = """([id, value]) => new Promise(resolve => {
  const begin = performance.now(), control = document.getElementById(id);
  document.addEventListener('htmx:afterSwap', () => requestAnimationFrame(() => requestAnimationFrame(
    () => resolve(performance.now() - begin))), {once: true});
  if (control.type === 'radio') control.checked = true;
  else if (control.type === 'checkbox') control.checked = !control.checked;
  else control.value = value;
  control.dispatchEvent(new Event(['text', 'radio'].includes(control.type) ? 'change' : 'input', {bubbles: true}));
  if (control.type === 'text') control.form.requestSubmit();
})"""


def timed(page: Any, moves: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
    """Milliseconds from each move to its picture, and on the processor. What a picture loads later is left out."""
    times = []
    for move in moves:
        begin = time.process_time()
        wall = page.evaluate(MOVE, list(move))
        times.append((wall, 1000 * (time.process_time() - begin)))
        page.wait_for_timeout(400)  # the tables are asked for after 300
        page.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")
    return times


def moves_of(moves: int) -> list[tuple[int, bool]]:
    """A level and a tick by turns, each with its number."""
    return [(number, is_tick) for number in range(moves) for is_tick in (False, True)]


def after_a_role(page: Any, studio: Studio, role: str) -> tuple[float, float]:
    """Milliseconds of the second screen after another role, with its figures, and on the processor."""
    page.goto(f"http://{studio.host}/table")
    page.evaluate(MOVE, [role, ""])
    begin, processor = time.perf_counter(), time.process_time()
    page.goto(f"http://{studio.host}/risk", wait_until="load")
    return 1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - processor)


def line(what: str, times: Sequence[tuple[float, float]]) -> str:
    """Medians and 95th percentiles of the picture and of the processor."""
    wall, processor = (quantiles(one, n=20) for one in zip(*times, strict=True))
    return (
        f"{what:<12} picture: median {wall[9]:6.0f} ms, 95th percentile {wall[18]:6.0f} ms   "
        f"processor: {processor[9]:6.0f} ms, {processor[18]:6.0f} ms   of {len(times)}"
    )


def measure(records: int, moves: int, folder: Path) -> None:
    """Open a table of some records, and move controls of two screens."""
    from playwright.sync_api import sync_playwright

    table = folder / f"people-{records}.parquet"
    if not table.exists():
        write(table, records)
    policy = folder / f"people-{records}.tcdp.yaml"
    policy.write_text(yaml.safe_dump(POLICY, sort_keys=False), encoding="utf-8")
    for left in folder.glob("*.studio.json"):
        left.unlink()
    studio = Studio(Workbench(Place.of(str(table), None)))
    begin, processor = time.perf_counter(), time.process_time()
    with studio.serving(), sync_playwright() as playwright:
        studio.bench.opening.wait()
        took = f"{time.perf_counter() - begin:.1f} s, {time.process_time() - processor:.1f} s on the processor"
        print(f"\n{records:,} records, opened with all columns in {took}; load {os.getloadavg()[0]:.1f}")
        if studio.bench.opening.fault:
            sys.exit(studio.bench.opening.fault)
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        page = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]).new_page()
        page.goto(studio.address)
        page.wait_for_url("**/table")
        page.goto(f"http://{studio.host}/risk")
        page.wait_for_load_state("networkidle")
        times = timed(
            page, [(f"c{1 + place % 3}" if is_tick else "k0", str(place % 3)) for place, is_tick in moves_of(moves)]
        )
        print(line("a level", times[::2]))
        print(line("a tick", times[1::2]))
        page.goto(f"http://{studio.host}/demands")
        page.wait_for_load_state("networkidle")
        page.wait_for_selector("#q0")
        print(line("a threshold", timed(page, [("t0", str(6 + number)) for number in range(moves)])))
        page.goto(f"http://{studio.host}/table")
        page.wait_for_load_state("networkidle")
        place = next(number for number, one in enumerate(studio.bench.columns) if one.name == ROLE_OF)
        roles = [f"r{place}-{role}" for role in ("insensitive", "quasi_identifier")]
        print(line("a role", timed(page, [(roles[number % 2], "") for number in range(moves)])))
        print(line("risk, then", [after_a_role(page, studio, roles[number % 2]) for number in range(moves)]))
        print(f"load at the end {os.getloadavg()[0]:.1f}", end="; ")
        print(f"resident memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


def main() -> None:
    """Measure tables of several sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="30000,1000000,5000000")
    parser.add_argument("--moves", type=int, default=50)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for records in map(int, given.records.split(",")):
            measure(records, given.moves, given.folder or Path(temporary))


if __name__ == "__main__":
    main()
