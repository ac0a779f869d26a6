"""The verifier's script, under Node: `tests/verifier/run.mjs` of this repository."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from vectors.adapters import LacksError, RefusesError, Reply
from vectors.reading import Vector

PACKAGE = "verifier"
RUN = Path(__file__).parents[2] / "tests" / "verifier" / "run.mjs"
DISTANCE = "t_closeness_"
OUTSIDE = {"unit", "population", "weight"}  # which the page calls not its to check
MEASURES = {
    "k_anonymity",
    "alpha_k_anonymity",
    "p_sensitive_k_anonymity",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "recursive_cl_diversity",
    "t_closeness",
    "basic_beta_likeness",
    "enhanced_beta_likeness",
    "delta_disclosure",
    "skewness",
    "background_knowledge",
    "homogeneity",
    "sample_uniqueness",
    "reidentification_risk",
}


def answers(vectors: Iterable[Vector]) -> Iterator[tuple[Vector, Reply | Exception]]:
    """All answers of one call, since Node takes longer to begin than to compute."""
    asked = list(vectors)
    mine = [one for one in asked if question(one)["measure"] in MEASURES and not OUTSIDE & {*one.declared}]
    lines = "\n".join(json.dumps(question(vector)) for vector in mine)
    done = subprocess.run(["node", str(RUN)], input=lines, capture_output=True, text=True, check=True, encoding="utf-8")
    for vector, line in zip(mine, done.stdout.splitlines(), strict=True):
        yield vector, _reply(json.loads(line))
    for vector in asked:
        if vector not in mine:
            yield vector, LacksError("not the page's to check")


def question(vector: Vector) -> dict[str, Any]:
    """A vector as the script reads it."""
    measure, given = vector.measure, dict(vector.parameters)
    if measure.startswith(DISTANCE):
        measure, given = "t_closeness", {**given, "distance": measure.removeprefix(DISTANCE)}
    whole = ("k", "p", "l", "at_least") if measure != "entropy_l_diversity" else ()
    given = {key: int(one) if key in whole else one for key, one in given.items()}
    text = vector.path.read_text(encoding="utf-8")
    return {"rows": text, "declared": dict(vector.declared), "measure": measure, "parameters": given,
            "conventions": dict(vector.conventions)}  # fmt: skip


def _reply(found: dict[str, Any]) -> Reply | Exception:
    if "not_mine" in found:
        return LacksError(found["not_mine"])
    if found["answer"] is None:
        return RefusesError(found["status"])
    status = {"passed": "pass", "failed": "fail"}.get(found["status"], "")
    return Reply({"infinity": "infinite"}.get(found["answer"], str(found["answer"])), status)
