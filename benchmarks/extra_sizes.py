"""What each extra weighs: MB and processor seconds of an installation, each in a new virtual environment.

    python benchmarks/extra_sizes.py [EXTRA ...]

pip builds a wheel of this copy first; then each row of the table of `docs/installing.md` is one environment with that
extra alone, without the weight of an empty one. The packages are downloaded, and made wheels, before the seconds are
counted. pip compiles to bytecode. Without names, every extra for users is measured.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
OF_DEVELOPERS = {"benchmarks", "dev", "docs", "longer", "test"}
MEGABYTE = 10**6


def main(chosen: list[str]) -> None:
    """Print the rows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = chosen or ["", *sorted(project["optional-dependencies"].keys() - OF_DEVELOPERS - {"all"}), "all"]
    with tempfile.TemporaryDirectory() as folder:
        _run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, str(ROOT))
        (wheel,) = Path(folder).glob("*.whl")
        _, empty, _ = _installed(Path(folder) / "empty", [])
        print("| extra | packages | MB | processor seconds |\n|---|---|---|---|")
        for extra in extras:
            packages, size, seconds = _installed(
                Path(folder) / f"with-{extra}", [f"{wheel}[{extra}]" if extra else str(wheel)]
            )
            print(f"| {extra or 'none'} | {packages} | {(size - empty) / MEGABYTE:.0f} | {seconds:.0f} |", flush=True)


def _installed(folder: Path, asked: list[str]) -> tuple[int, int, float]:
    """The packages of a new environment, its bytes on the disk, and the processor seconds of pip; it is removed."""
    _run(sys.executable, "-m", "venv", str(folder))
    pip = str(folder / "bin" / "pip")
    if asked:
        with tempfile.TemporaryDirectory() as downloads:
            _run(pip, "wheel", "-q", "-w", downloads, *asked)
            before = _processor_seconds()
            _run(pip, "install", "-q", "--no-index", "--find-links", downloads, *asked)
            seconds = _processor_seconds() - before
    else:
        seconds = 0.0
    listed = subprocess.run([pip, "list", "--format=freeze"], check=True, capture_output=True, text=True).stdout
    size = sum(one.stat().st_blocks * 512 for one in folder.rglob("*") if not one.is_symlink())
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    return len(listed.splitlines()), size, seconds


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
