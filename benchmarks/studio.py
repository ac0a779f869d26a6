"""The time from a moved control of the workbench to its picture in Chromium, and from opening a table to its columns.

    python benchmarks/studio.py [--records 30000,1000000] [--moves 50] [--folder FOLDER]

The table is that of `benchmarks/sessions.py`, in Parquet. Each move goes to a state that was not asked for before: a
level of the age together with the columns that the outsider does not know, or another threshold. The clock runs in
the page, from the event to the frame after the figures were replaced; 60 ms of it wait for further moves. Medians and
95th percentiles of wall-clock time are printed, and the resident memory of the process with the server. It needs
Playwright and the system's Chromium.
"""

from __future__ import annotations

import argparse
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

MOVE = """([id, value]) => new Promise(resolve => {
  const begin = performance.now(), control = document.getElementById(id);
  document.addEventListener('htmx:afterSwap', () => requestAnimationFrame(() => requestAnimationFrame(
    () => resolve(performance.now() - begin))), {once: true});
  if (control.type === 'checkbox') control.checked = !control.checked; else control.value = value;
  control.dispatchEvent(new Event(control.type === 'text' ? 'change' : 'input', {bubbles: true}));
  if (control.type === 'text') control.form.requestSubmit();
})"""


def timed(page: Any, moves: Sequence[tuple[str, str]]) -> list[float]:
    """Milliseconds from each move to its picture. The tables that a picture loads later are waited for, untimed."""
    times = []
    for move in moves:
        times.append(page.evaluate(MOVE, list(move)))
        page.wait_for_timeout(400)  # the tables are asked for after 300
        page.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")
    return times


def line(what: str, times: Sequence[float]) -> str:
    """Median and 95th percentile."""
    points = quantiles(times, n=20)
    return f"{what:<28} median {points[9]:7.0f} ms   95th percentile {points[18]:7.0f} ms   of {len(times)}"


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
    begin = time.perf_counter()
    with studio.serving(), sync_playwright() as playwright:
        studio.bench.opening.wait()
        print(f"\n{records:,} records, opened with all columns in {time.perf_counter() - begin:.1f} s")
        if studio.bench.opening.fault:
            sys.exit(studio.bench.opening.fault)
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        page = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]).new_page()
        page.goto(studio.address)
        page.wait_for_url("**/table")
        page.goto(f"http://{studio.host}/risk")
        page.wait_for_load_state("networkidle")
        states = [(f"c{number % 4}" if number % 2 else "k0", str(number // 2 % 3)) for number in range(moves)]
        print(line("a level or a tick", timed(page, states)))
        page.goto(f"http://{studio.host}/demands")
        page.wait_for_load_state("networkidle")
        print(line("a threshold", timed(page, [("t0", str(6 + number)) for number in range(moves)])))
        print(f"resident memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


def main() -> None:
    """Measure tables of several sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="30000,1000000")
    parser.add_argument("--moves", type=int, default=50)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for records in map(int, given.records.split(",")):
            measure(records, given.moves, given.folder or Path(temporary))


if __name__ == "__main__":
    main()
