"""Who confirms a vector, apart from tcdp-audit: the reference, R, the verifier, and tools whose figure it is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from vectors.adapters import Reply, verifier
from vectors.adapters.verifier import answers
from vectors.reading import CASES, Vector, is_answer, load
from vectors.reference.answers import answer
from vectors.run import RESULTS, judged

HERE = Path(__file__).parent
STORED = HERE / "confirmations.json"
FRACTIONS, R, JAVASCRIPT = "vectors/reference, fractions", "vectors/confirm.R", "tests/verifier/run.mjs"
OURS = ("tcdp-audit", "verifier")  # of which the second is asked above
NO_FIGURE = ("refuses", "pass", "fail")


def by_fractions(vectors: Iterable[Vector]) -> list[str]:
    """The vectors whose answer and verdict are those of the slow reference in Python's fractions."""
    return [one.id for one in vectors if answer(one) == (one.answer, one.verdict)]


def by_r(vectors: Iterable[Vector], folder: Path = CASES) -> list[str]:
    """Those whose answer, to eleven digits, and verdict are those of `confirm.R`."""
    done = subprocess.run(["Rscript", str(HERE / "confirm.R"), str(folder)], capture_output=True, text=True, check=True,
                          encoding="utf-8")  # fmt: skip
    said = {line.split("\t")[0]: line.split("\t")[1:] for line in done.stdout.splitlines()}
    return [one.id for one in vectors if one.id in said and _agrees(one, *said[one.id])]


def _agrees(vector: Vector, figure: str, verdict: str = "") -> bool:
    said = {"NA": "undefined", "Inf": "infinite"}.get(figure) or repr(float(figure))
    return verdict == vector.verdict and is_answer(vector, said)


def by_javascript(vectors: Iterable[Vector]) -> list[str]:
    """Those whose answer and verdict are those of the verifier's script."""
    return [one.id for one, reply in answers(vectors) if isinstance(reply, Reply) and judged(one, reply, "").status ==
            "right" and reply.verdict == one.verdict]  # fmt: skip


def by_tools() -> dict[str, list[str]]:
    """Those whose figure is that of another tool, by its stored results."""
    found = {}
    for path in sorted(RESULTS.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["tool"] not in OURS:
            name = f"{document['tool']} {document['version']}"
            results = [one for one in document["results"] if one["status"] == "right" and one["said"] not in NO_FIGURE]
            found[name] = [one["vector"] for one in results]
    return {name: ids for name, ids in found.items() if ids}


def available() -> dict[str, Callable[[Iterable[Vector]], list[str]]]:
    """The implementations that can be asked here."""
    found: dict[str, Callable[[Iterable[Vector]], list[str]]] = {FRACTIONS: by_fractions}
    if shutil.which("Rscript") and _has_jsonlite():
        found[R] = by_r
    if shutil.which("node") and verifier.RUN.exists():
        found[JAVASCRIPT] = by_javascript
    return found


def _has_jsonlite() -> bool:
    asked = ["Rscript", "-e", "stopifnot(requireNamespace('jsonlite', quietly = TRUE))"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def confirm() -> int:
    """Ask all again, and write `confirmations.json`; 1 if a vector has fewer than two."""
    vectors = load()
    confirmed = {name: ask(vectors) for name, ask in available().items()} | by_tools()
    STORED.write_text(json.dumps(confirmed, indent=0) + "\n", encoding="utf-8")
    lonely = [one.id for one in vectors if sum(one.id in ids for ids in confirmed.values()) < 2]
    for name, ids in confirmed.items():
        sys.stdout.write(f"{name}: {len(ids)} of {len(vectors)}\n")
    for one in lonely:
        sys.stdout.write(f"fewer than two: {one}\n")
    return int(bool(lonely))
