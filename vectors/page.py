"""Writes docs/vectors.md from the results that `python -m vectors run --write` kept."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from vectors.defects import OTHERS, WHY, Defect
from vectors.reading import Vector, load
from vectors.run import RESULTS, STATUSES, TOOLS

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "vectors.md"
NAMES = {
    "tcdp-audit": "tcdp-audit",
    "verifier": "verifier",
    "pycanon": "pyCANON",
    "anjana": "ANJANA",
    "anonypy": "AnonyPy",
    "acro": "ACRO",
    "anonymeter": "Anonymeter",
    "scikit-mobility": "scikit-mobility",
    "arx": "ARX",
}
HEAD = """# Other tools on the test vectors

`vectors/` in the repository holds {vectors} [test vectors](../vectors/README.md) for {measures} measures: a small
table, what is declared of it, and the one right answer. They belong to no tool (CC0), and each names a mistake that it
catches. `python -m vectors page` writes this page from the results of runs; nothing on it is typed by hand.

## Who answered, and how

{tools}

Each cell of the table below is reproduced by `python -m vectors run --tool TOOL --measure MEASURE`, with the column's
and the row's name in small letters, in an environment with that tool and a copy of this repository. The command prints
every answer that is not right, with the mistake that gives it. `--id k_anonymity-01` asks one vector.

- **right**: the figure is the answer, exactly or to 11 digits; of tools that judge thresholds and give no figure, the
  verdict. A refusal is right where no answer exists.
- **convention**: the answer is right by another definition, which the tool documents or which its type of figure
  implies. It is no mistake, and the figures must not be compared.
- **wrong**: neither.
- **refuses**: the tool ends in an error, although there is an answer.
- **lacks**: the tool has no such measure, or not under the convention that the vector asks for. An adapter asks only
  what the tool's documentation offers. A dash means that it lacks all of them.

The makers of vectors choose what is asked. These ask for what our documentation defines, so that our own column is no
evidence of quality; it is the [confirmations](../vectors/README.md#confirmations) that the vectors rest on. A tool
with few rows may be excellent at what is not measured here, such as anonymising.

"""
DEFECTS = """\
The first three are those of the README. The next were seen when the tools ran. Of sdcMicro the last column
says where the defect is described; the vector asks for it.

"""
STORED = """\
Neither is in a package registry. ARX ran as compiled from its source, without its window, its certificates and
its classifiers. The adapter of sdcMicro, [sdcmicro.R](../vectors/adapters/sdcmicro.R), is written from its
documentation and has not been run. These are figures that another person computed with the two on public data, and
stored; the last column names the stored file.

"""


def write() -> None:
    """Write the page."""
    PAGE.write_text(text(), encoding="utf-8")


def text() -> str:
    """The page."""
    vectors = load()
    runs = {tool: _stored(tool) for tool in TOOLS if (RESULTS / f"{tool}.json").exists()}
    measures = sorted({one.measure for one in vectors})
    head = HEAD.format(vectors=len(vectors), measures=len(measures), tools="\n".join(_tools(runs)))
    parts = [
        head,
        "## Results\n\n",
        *_results(vectors, runs, measures),
        "\n## Differences of convention\n\n",
        *_conventions(runs),
        "\n## Defects, and the vectors that show them\n\n",
        DEFECTS,
        *_defects([*WHY, *OTHERS], vectors, runs),
        "\n## Stored figures of ARX and sdcMicro\n\n",
        STORED,
        *_figures(),
    ]
    return "".join(parts)


def _stored(tool: str) -> dict[str, Any]:
    return dict(json.loads((RESULTS / f"{tool}.json").read_text(encoding="utf-8")))


def _tools(runs: Mapping[str, Any]) -> Iterator[str]:
    yield "| tool | version | installed by | asked |\n|---|---|---|---|"
    for tool, run in runs.items():
        how = f"`pip install {tool}=={run['version']}`" if run["version"] else "this repository"
        if tool == "arx":
            how = "its source, compiled; `ARX_CLASSPATH` names the classes and its libraries"
        if tool == "scikit-mobility":
            how += ' `"numpy<2" "scipy<1.12" "scikit-learn<1.5" "shapely<2"`'
        if tool == "anonypy":
            how += " `pandas`, which it does not name"
        adapter = f"[adapter](../vectors/adapters/{TOOLS[tool]}.py)"
        yield f"| {NAMES[tool]} | {run['version'] or 'of this copy'} | {how} | {adapter}, Python {run['python']} |"


def _results(vectors: Iterable[Vector], runs: Mapping[str, Any], measures: Sequence[str]) -> Iterator[str]:
    of = {one.id: one.measure for one in vectors}
    many = Counter(of.values())
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for tool, run in runs.items():
        for one in run["results"]:
            counts[tool, of[one["vector"]]][one["status"]] += 1
    yield "| measure | vectors | " + " | ".join(NAMES[tool] for tool in runs) + " |\n"
    yield "|---|---:|" + "---|" * len(runs) + "\n"
    for measure in measures:
        cells = " | ".join(_cell(counts[tool, measure]) for tool in runs)
        yield f"| `{measure}` | {many[measure]} | {cells} |\n"
    totals = [sum((counts[tool, measure] for measure in measures), Counter[str]()) for tool in runs]
    yield f"| all | {sum(many.values())} | " + " | ".join(map(_cell, totals)) + " |\n"


def _cell(counts: Counter[str]) -> str:
    if not sum(n for status, n in counts.items() if status != "lacks"):
        return "—"
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])


def _conventions(runs: Mapping[str, Any]) -> Iterator[str]:
    found: Counter[tuple[str, str, str]] = Counter()
    for tool, run in runs.items():
        for one in run["results"]:
            if one["status"] == "convention":
                found[one["vector"].rsplit("-", 1)[0], one["why"], NAMES[tool]] += 1
    yield "| measure | the other definition | tool | answers |\n|---|---|---|---:|\n"
    for (measure, why, tool), n in sorted(found.items()):
        yield f"| `{measure}` | {why} | {tool} | {n} |\n"


def _defects(defects: Sequence[Defect], vectors: Sequence[Vector], runs: Mapping[str, Any]) -> Iterator[str]:
    yield "| tool | what it does | vector | right | its answer |\n|---|---|---|---|---|\n"
    for defect in defects:
        vector = shown(defect, vectors, runs)
        right = _short(vector.answer) + (f", {vector.verdict}" if vector.verdict else "")
        file = f"[{vector.id}](../vectors/cases/{vector.folder.name}/{vector.id[-2:]}.json)"
        said = f"[described]({defect.source})" if defect.source else said_of(defect, vector, runs)
        version = f" {runs[defect.tool]['version']}" if defect.tool in runs else ""
        yield f"| {NAMES.get(defect.tool, defect.tool)}{version} | {defect.sentence} | {file} | {right} | {said} |\n"


def shown(defect: Defect, vectors: Sequence[Vector], runs: Mapping[str, Any]) -> Vector:
    """The vector of a defect: by the names that it gives, and the first that the tool gets wrong."""
    measure, name = defect.vector.split()
    wrong = {one["vector"] for one in runs.get(defect.tool, {"results": []})["results"] if one["status"] == "wrong"}
    chosen = [one for one in vectors if one.measure == measure and name in {one.path.stem, one.catches["mistake"]}]
    return next(one for one in chosen if defect.source or one.id in wrong)


def said_of(defect: Defect, vector: Vector, runs: Mapping[str, Any]) -> str:
    """What the tool answered."""
    (said,) = [one["said"] for one in runs[defect.tool]["results"] if one["vector"] == vector.id]
    return _short(said)


def _short(figure: Any) -> str:
    if isinstance(figure, Mapping):
        return f"{float(figure['low']):.6g}"
    return f"{float(figure):.6g}" if "." in figure else figure


def _figures() -> Iterator[str]:
    yield "| figure | by | theirs | right | | stored in |\n|---|---|---|---|---|---|\n"
    for one in json.loads((HERE / "stored.json").read_text(encoding="utf-8")):
        theirs, right = Fraction(one["theirs"]), Fraction(one["right"])
        same = abs(theirs - right) <= abs(right) / 10**11
        file = one["truth"].split()[0]
        cells = [one["figure"], one["tool"], f"{float(theirs):.10g}", f"{float(right):.10g}"]
        yield f"| {' | '.join(cells)} | {'right' if same else 'wrong'} | `{file}` |\n"
