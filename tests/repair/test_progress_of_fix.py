"""The progress of `fix`: each step of a remedy has its name, and none begins again under the same words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit import fix, frontier
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
DRAW = np.random.default_rng(7)
TABLE = pa.table(
    {
        "age": DRAW.integers(20, 60, 150),
        "town": [f"t{number}" for number in DRAW.integers(0, 6, 150)],
        "disease": DRAW.choice(["flu", "gout", "none"], 150).tolist(),
    }
)
TOWNS = {"any": {"north": ["t0", "t1", "t2"], "south": ["t3", "t4", "t5"]}}
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "town": {"role": "quasi_identifier", "hierarchy": TOWNS},
        "disease": {"role": "sensitive"},
    },
    "expect": [
        {"t_closeness": {"t": 0.3}},
        {"reidentification_risk": {"measure": "average", "at_most": 0.1}},
    ],
}


class Reported:
    """The reported steps, and those that began again."""

    def __init__(self) -> None:
        self.done: dict[str, int] = {}
        self.again: set[str] = set()

    def __call__(self, step: str, done: int, total: int) -> None:
        assert total == 0 or 0 <= done <= total
        if done < self.done.get(step, 0):
            self.again.add(step)
        self.done[step] = done


def test_a_step_has_the_name_of_its_remedy_and_does_not_begin_again() -> None:
    reported = Reported()
    assert fix(TABLE, POLICY, plugins=PLUGINS, progress=reported).passed
    for remedy in ("Mondrian partitioning", "Redistribution", "Suppression {of: cells}"):
        assert any(step.startswith(f"{remedy}: ") for step in reported.done)
    assert "Redistribution: dividing parts" in reported.done
    assert any(step.startswith("Redistribution: dividing parts, k = ") for step in reported.done)
    assert {step for step in reported.again if step != "measuring"} == set()


def test_a_frontier_names_the_setting() -> None:
    reported = Reported()
    asked = {**POLICY, "expect": [{"k_anonymity": {"k": 3}}, {"t_closeness": {"t": 0.3}}]}
    frontier(TABLE, asked, vary={"k_anonymity": [3, 20]}, plugins=PLUGINS, progress=reported)
    assert {"trying settings", "trying remedies, with k_anonymity: {k: 3}"} <= reported.done.keys()
    assert {step for step in reported.again if "measuring" not in step} == set()
