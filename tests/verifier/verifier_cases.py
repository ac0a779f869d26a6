"""A small release with its policy and the result of its audit, as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tcdp_audit import audit

HERE = Path(__file__).parent

ATTRIBUTES = {
    "ward": {"role": "quasi_identifier", "scale": "nominal"},
    "age": {"role": "quasi_identifier", "scale": "ordinal", "order": ["0-17", "18-39", "40+"]},
    "illness": {"role": "sensitive", "scale": "nominal"},
    "cost": {"role": "sensitive", "scale": "numeric"},
}
EXPECT = [
    {"k_anonymity": {"k": 2}},
    {"distinct_l_diversity": {"l": 2, "attribute": "illness"}},
    {"entropy_l_diversity": {"l": "3/2", "attribute": "illness"}},
    {"t_closeness": {"t": "1/3", "attribute": "illness"}},
    {"t_closeness": {"t": 0.3, "attribute": "cost", "distance": "ordered", "severity": "warning"}},
    {"t_closeness": {"attribute": "cost", "distance": "numeric"}},
    {"homogeneity": {"at_most": 0.1, "attribute": "illness"}},
    {"sample_uniqueness": {"at_most": 0.5}},
    {"reidentification_risk": {"measure": "average", "at_most": 0.5}},
]
ROWS = [
    *("1,0-17,flu,10", "1,0-17,flu,20", "1,0-17,gout,20", "1,18-39,flu,30", "1,18-39,mumps,40", "2,18-39,flu,10"),
    *("2,40+,gout,50", "2,40+,gout,10", "2,40+,,20", "3,40+,flu,", "3,40+,mumps,30", "3,18-39,gout,1e1"),
]


class Case:
    """A release, its policy, and the result of its audit, as files of a folder."""

    def __init__(self, folder: Path, release: bytes | None = None, name: str = "release.csv", **policy: Any) -> None:
        self.release, self.policy, self.result = folder / name, folder / "policy.tcdp.yaml", folder / "result.json"
        self.release.write_bytes(
            "\n".join(["ward,age,illness,cost", *ROWS, ""]).encode() if release is None else release
        )
        content = {"version": 1, "release": name, "attributes": ATTRIBUTES, "expect": EXPECT, **policy}
        self.policy.write_text(json.dumps(content), encoding="utf-8")
        self.audit = audit(str(self.release), str(self.policy))
        self.result.write_text(self.audit.to_json(), encoding="utf-8")

    def question(self, **changed: Any) -> dict[str, Any]:
        """The question whether the result is that of the release."""
        paths = {"release": str(self.release), "report": str(self.result), "policy": str(self.policy)}
        return {**paths, "hierarchies": [], **changed}

    def changed(self, change: Callable[[dict[str, Any]], Any]) -> str:
        """The path of a result in which something is changed."""
        result = json.loads(self.result.read_text(encoding="utf-8"))
        change(result)
        path = self.result.with_name("changed.json")
        path.write_text(json.dumps(result), encoding="utf-8")
        return str(path)
