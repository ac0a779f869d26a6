"""Node, Chromium, and the page that is tested."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit import audit
from tcdp_audit.core.results.verifier import verifier_page

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def node(skip_or_fail: Callable[[str], None]) -> str:
    """Node, which runs the page's script without a page."""
    actual = shutil.which("node")
    if actual is None:
        skip_or_fail("node is not on PATH")
    return str(actual)


@pytest.fixture(scope="session")
def asked(node: str) -> Callable[[Sequence[dict[str, Any]]], list[dict[str, Any]]]:
    """Answers of the page's functions to questions; see `run.mjs`."""

    def ask(questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        text = "\n".join(map(json.dumps, questions))
        run = subprocess.run([node, str(HERE / "run.mjs")], input=text, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        return [json.loads(line) for line in run.stdout.splitlines()]

    return ask


@pytest.fixture(scope="session")
def chromium(skip_or_fail: Callable[[str], None]) -> str:
    """A browser to load the page in."""
    actual = shutil.which("chromium") or shutil.which("chromium-browser")
    if actual is None:
        skip_or_fail("chromium is not on PATH")
    return str(actual)


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as `tcdp-audit verifier` writes it."""
    path = tmp_path_factory.mktemp("page") / "verify.html"
    path.write_text(verifier_page(), encoding="utf-8")
    return path


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


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """The release of twelve records."""
    return Case(tmp_path)
