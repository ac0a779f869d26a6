"""Node, Chromium, and the page that is tested."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from verifier_cases import HERE, Case

from tcdp_audit.core.results.verifier import verifier_page


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


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """The release of twelve records."""
    return Case(tmp_path)
