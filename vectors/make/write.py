"""Chooses vectors and writes them: `python -m vectors.make.write`."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vectors.make import papers
from vectors.make.generic import MEASURES, PER_MEASURE, Caught, Generator
from vectors.make.readings import readings
from vectors.make.special import special
from vectors.make.tables import Case, everything
from vectors.reading import CASES, Vector
from vectors.reference.answers import answer

UNDEFINED_CASES = {"no_record", "suppressed_throughout"}


def main(root: Path = CASES) -> None:
    """Write every vector and its table anew."""
    confirmed = _confirmations()
    if root.exists():
        shutil.rmtree(root)
    for name in ["tables", *MEASURES]:
        (root / name).mkdir(parents=True)
    with TemporaryDirectory() as scratch:
        generator = Generator(root, Path(scratch))
        _tables(root, [*papers.cases().values(), *everything()])
        chosen = [(measure, list(chosen_for(measure, generator))) for measure in MEASURES]
        chosen += special(root)
        for measure, caught in chosen:
            (root / measure).mkdir(exist_ok=True)
            for number, one in enumerate(filter(is_caught, caught), 1):
                name = f"{measure}-{number:02}"
                (root / measure / f"{number:02}.json").write_text(text(vector(name, one, confirmed)), encoding="utf-8")


def is_caught(caught: Caught) -> bool:
    """Whether the mistake changes the answer or the verdict."""
    figure, verdict = answer(caught.question)
    return (figure, verdict) != (caught.value, caught.verdict)


def vector(name: str, caught: Caught, confirmed: dict[str, list[str]]) -> Vector:
    """The vector of a question and of the mistake that it catches."""
    figure, verdict = answer(caught.question)
    catches: dict[str, Any] = {"mistake": caught.name, "sentence": caught.sentence, "answer": caught.value}
    if caught.verdict:
        catches["verdict"] = caught.verdict
    question = replace(caught.question, id=name, answer=figure, verdict=verdict, catches=catches)
    return replace(question, readings=readings(question), confirmed_by=confirmed.get(name, []))


def text(one: Vector) -> str:
    """The file of a vector."""
    return json.dumps(one.document(), indent=1, ensure_ascii=False) + "\n"


def _tables(root: Path, cases: Iterable[Case]) -> None:
    for one in cases:
        (root / "tables" / f"{one.name}.csv").write_text(one.text, encoding="utf-8", newline="")


def _confirmations() -> dict[str, list[str]]:
    path = CASES.parent / "confirmations.json"
    found: dict[str, list[str]] = defaultdict(list)
    if path.exists():
        for name, ids in json.loads(path.read_text(encoding="utf-8")).items():
            for one in ids:
                found[one].append(name)
    return found


def chosen_for(measure: str, generator: Generator) -> Iterator[Caught]:
    """Up to 30 questions: the papers' own, then each mistake in turn, on the tables where it was seen least."""
    taken: set[str] = set()
    for one in [*_printed(measure, generator), *_spread(measure, generator)]:
        key = json.dumps([one.question.table, one.question.declared, one.question.parameters,
                          one.question.conventions])  # fmt: skip
        if key not in taken and len(taken) < PER_MEASURE:
            taken.add(key)
            yield one


def _printed(measure: str, generator: Generator) -> Iterator[Caught]:
    for one in papers.printed():
        if measure not in one.measures.split():
            continue
        case = papers.cases()[one.case]
        base = {"attribute": one.attribute} if one.attribute and measure not in WITHOUT else {}
        if measure == "recursive_cl_diversity":
            base["l"] = "2"
        source = f"{papers.paper(one.case)}, {one.place}"
        question = Vector("", f"../tables/{case.name}.csv", {"attributes": papers.attributes(case, one.attributes)},
                          measure, {**base, **one.parameters}, one.conventions, "", "", {}, source,
                          folder=generator.folder / measure)  # fmt: skip
        caught = [*generator.thresholds(question), *generator.caught(question)]
        yield from caught[:1]


WITHOUT = {"k_anonymity", "sample_uniqueness", "reidentification_risk"}


def _spread(measure: str, generator: Generator) -> list[Caught]:
    by_mistake: dict[str, list[Caught]] = defaultdict(list)
    for case in everything():
        for question in generator.questions(measure, case):
            if case.name in UNDEFINED_CASES:
                found = generator.undefined(question)
            else:
                found = iter([*generator.thresholds(question), *generator.caught(question)])
            for one in found:
                by_mistake[one.name].append(one)
    uses: dict[str, int] = defaultdict(int)
    chosen = []
    while any(by_mistake.values()):
        for name in sorted(by_mistake, key=lambda name: len(by_mistake[name])):
            if by_mistake[name]:
                best = min(
                    by_mistake[name], key=lambda one: (*_rank(one), uses[one.question.table], one.question.table)
                )
                by_mistake[name].remove(best)
                uses[best.question.table] += 1
                chosen.append(best)
        if len(chosen) > 4 * PER_MEASURE:
            break
    return chosen


def _rank(caught: Caught) -> tuple[bool]:
    """Records that lack their only quasi-identifier first: tools differ on these alone."""
    name = Path(caught.question.table).stem
    return (name != "missing_in_the_only_column" or caught.name != "drops_missing_quasi_identifiers",)


if __name__ == "__main__":
    main()
