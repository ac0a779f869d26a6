"""A small release with its policy, audited and written, for everything that reads audits back."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import tcdp_audit
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.strict_json import with_plain_result

MARK = "zanzibar"  # in every cell of text
HEAD = "zip,age,disease,salary"
ROWS = [
    *(f"{MARK} 476,2{i},{MARK} {disease},{salary}" for i, disease, salary in ((0, "flu", 3), (0, "cold", 4))),
    *(f"{MARK} 476,20,{MARK} {disease},{salary}" for disease, salary in (("ulcer", 5), ("flu", 6))),
    *(f"{MARK} 479,30,{MARK} {disease},{salary}" for disease, salary in (("flu", 11), ("cold", 8), ("ulcer", 7))),
    *(f"{MARK} 479,40,{MARK} {disease},{salary}" for disease, salary in (("flu", 9), ("cold", 10), ("cold", 12))),
]
POLICY = """\
version: 1
attributes:
  zip: {role: quasi_identifier}
  age: {role: quasi_identifier, scale: numeric}
  disease: {role: sensitive}
  salary: {role: sensitive, scale: numeric}
expect:
  - k_anonymity: {k: 3}
  - distinct_l_diversity: {l: 2, attribute: disease}
  - t_closeness: {t: 0.2, attribute: salary, distance: ordered}
  - t_closeness: {t: 0.1, attribute: disease, severity: warning}
  - entropy_l_diversity: {attribute: disease}
"""


class Pair(NamedTuple):
    """A release with what was written about it."""

    folder: Path

    @property
    def release(self) -> Path:
        """The release."""
        return self.folder / "release.csv"

    @property
    def policy(self) -> Path:
        """Its policy."""
        return self.folder / "policy.tcdp.yaml"

    @property
    def json(self) -> Path:
        """The JSON result."""
        return self.folder / "result.json"

    @property
    def html(self) -> Path:
        """The report."""
        return self.folder / "report.html"

    @property
    def result(self) -> dict[str, Any]:
        """What the JSON says."""
        return dict(json.loads(self.json.read_text(encoding="utf-8")))

    def forge(self, change: Callable[[dict[str, Any]], object]) -> Path:
        """The JSON result with something changed."""
        result = self.result
        change(result)
        self.json.write_text(json.dumps(result), encoding="utf-8")
        return self.json

    def forge_page(self, old: str, new: str) -> Path:
        """The report with a text replaced where it stands first."""
        page = with_plain_result(self.html.read_text(encoding="utf-8"), "the report")
        assert old in page
        self.html.write_text(page.replace(old, new, 1), encoding="utf-8")
        return self.html


def write_pair(folder: Path, policy: str = POLICY, **options: Any) -> Pair:
    """Write the release and its policy, audit it, and write what came of it."""
    pair = Pair(folder)
    pair.release.write_text("\n".join([HEAD, *ROWS, ""]), encoding="utf-8")
    pair.policy.write_text(policy, encoding="utf-8")
    with contextlib.chdir(folder):  # so that the paths in the result hold wherever the folder is
        audit: Audit = tcdp_audit.audit(pair.release.name, pair.policy.name, **options)
        audit.write(pair.json)
        audit.write(pair.html)
    return pair


@cache
def _contents(policy: str) -> dict[str, bytes]:
    """The files of a pair, made once."""
    with tempfile.TemporaryDirectory() as folder:
        write_pair(Path(folder), policy)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def copied_pair(folder: Path, policy: str = POLICY) -> Pair:
    """The pair of `write_pair`, from files that were made once."""
    for name, content in _contents(policy).items():
        (folder / name).write_bytes(content)
    return Pair(folder)
