"""Asks a tool every vector, and says of each answer what it is."""

from __future__ import annotations

import json
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from vectors.adapters import LacksError, RefusesError, Reply
from vectors.reading import Vector, is_answer

RESULTS = Path(__file__).parent / "results"
TOOLS = {
    "tcdp-audit": "tcdp_audit",
    "verifier": "verifier",
    "pycanon": "pycanon",
    "anjana": "anjana",
    "anonypy": "anonypy",
    "acro": "acro",
    "anonymeter": "anonymeter",
    "scikit-mobility": "scikit_mobility",
    "arx": "arx",
    "sdcmicro": "sdcmicro",
}
STATUSES = ("right", "convention", "wrong", "refuses", "lacks")


@dataclass(frozen=True)
class Result:
    """What a tool's answer to a vector is.

    Args:
        vector: its id.
        status: `right`; `convention`, by another definition that the tool documents; `wrong`; `refuses`, the tool
            says that it cannot answer, or ends in an error; `lacks`, it has no such measure or convention.
        said: its figure or its verdict.
        why: the convention, the error, or the mistake that gives this answer.
    """

    vector: str
    status: str
    said: str = ""
    why: str = ""


def run(tool: str, vectors: Iterable[Vector]) -> list[Result]:
    """The results of a tool that this environment has.

    Args:
        tool: one of `TOOLS`.
        vectors: that are asked.
    """
    adapter = import_module(f"vectors.adapters.{TOOLS[tool]}")
    readings = getattr(adapter, "READINGS", {})
    asked = adapter.answers(vectors) if hasattr(adapter, "answers") else _one_by_one(adapter.answer, vectors)
    results = (judged(vector, reply, readings.get(vector.measure, "")) for vector, reply in asked)
    return sorted(results, key=lambda one: one.vector)


def _one_by_one(answer: Any, vectors: Iterable[Vector]) -> Iterator[tuple[Vector, Reply | Exception]]:
    for vector in vectors:
        try:
            yield vector, answer(vector)
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer
            yield vector, error


def judged(vector: Vector, reply: Reply | Exception, reading: str) -> Result:
    """What an answer is.

    Args:
        vector: the question.
        reply: the answer.
        reading: the definition that the tool documents, if it is not the vector's.
    """
    if isinstance(reply, LacksError):
        return Result(vector.id, "lacks", why=str(reply))
    if isinstance(reply, ModuleNotFoundError) and not isinstance(reply, RefusesError):
        raise reply
    if isinstance(reply, Exception):
        status = "right" if vector.answer == "undefined" else "refuses"
        return Result(vector.id, status, "refuses", f"{type(reply).__name__}: {str(reply)[:120]}")
    if reply.figure is None and not vector.verdict:
        return Result(vector.id, "lacks", why="no figure, only whether a threshold is kept")
    said = reply.figure if reply.figure is not None else reply.verdict
    if _is(reply, vector, vector.answer, vector.verdict):
        return Result(vector.id, "right", said)
    other = vector.readings.get(reading)
    if other and _is(reply, vector, other["answer"], other.get("verdict", "")):
        return Result(vector.id, "convention", said, reading)
    return Result(vector.id, "wrong", said, _mistake(reply, vector))


def _is(reply: Reply, vector: Vector, figure: Any, verdict: str) -> bool:
    if reply.figure is None:
        return reply.verdict == verdict
    same = is_answer(Vector(**{**vars(vector), "answer": figure}), reply.figure)
    return same and (not reply.verdict or not verdict or reply.verdict == verdict)


def _mistake(reply: Reply, vector: Vector) -> str:
    """The sentence of the vector's mistake, where its figure is the tool's; a verdict alone says too little."""
    caught = vector.catches
    if reply.figure is None:
        return ""
    return caught["sentence"] if _is(reply, vector, caught["answer"], caught.get("verdict", "")) else ""


def package_version(tool: str) -> str:
    """The version of a tool's package; empty for what has none."""
    adapter = import_module(f"vectors.adapters.{TOOLS[tool]}")
    try:
        return str(getattr(adapter, "VERSION", "")) or version(adapter.PACKAGE)
    except PackageNotFoundError:
        return ""


def store(tool: str, results: Iterable[Result]) -> Path:
    """Write the results of a tool, for the page."""
    rows = [{name: value for name, value in vars(one).items() if value} for one in results]
    document: Mapping[str, Any] = {
        "tool": tool,
        "version": "" if tool in {"tcdp-audit", "verifier"} else package_version(tool),
        "python": platform.python_version(),
        "results": rows,
    }
    path = RESULTS / f"{tool}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def summary(results: Iterable[Result]) -> str:
    """Counts by status, in a line for each measure."""
    by_measure: dict[str, Counter[str]] = {}
    for one in results:
        by_measure.setdefault(one.vector.rsplit("-", 1)[0], Counter())[one.status] += 1
    lines = []
    for measure, counts in by_measure.items():
        found = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
        lines.append(f"{measure}: {found}")
    return "\n".join(lines)


def report(results: Iterable[Result]) -> None:
    """Print what is not right, and the summary."""
    results = list(results)
    for one in results:
        if one.status in {"wrong", "refuses", "convention"}:
            sys.stdout.write(f"{one.status}: {one.vector}: {one.said}" + (f" ({one.why})" if one.why else "") + "\n")
    sys.stdout.write(summary(results) + "\n")
