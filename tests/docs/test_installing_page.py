"""docs/installing.md lists every extra, with what it weighs."""

from __future__ import annotations

import re
import tomllib

from documents import ROOT, code, documents, read, rows

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
BARE = re.compile(r'(?:pip3?|pipx|uv tool|uv pip) install(?: +-\S+)* +["\']?tcdp-audit\b')
PRINTED = re.compile(r"^```text\n.*?^```$", re.MULTILINE | re.DOTALL)  # the messages of the program
ADDS = "adds an extra"  # to what is installed, for which pip asks no index
FOR_USERS = EXTRAS.keys() - {"docs", "test", "longer", "benchmarks", "dev"}


def test_every_extra_has_its_row_with_its_size():
    sizes = {code(cells[0])[0]: int(cells[3]) for cells in rows(read("docs/installing.md"))}

    assert sizes.keys() == {"pip install .", *FOR_USERS}
    assert max(sizes.values()) == sizes["all"]
    assert min(sizes.values()) == sizes["pip install ."]


def test_nothing_installs_a_name_that_no_index_has():
    files = [*documents(), *(ROOT / "examples").rglob("*.yml"), *(ROOT / "examples").rglob("*.sh")]
    files = [path for path in files if "decisions" not in path.parts and path.name != "CHANGELOG.md"]
    lines = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in files
        for line in PRINTED.sub("", path.read_text(encoding="utf-8")).splitlines()
        if BARE.search(line) and ADDS not in line
    ]

    assert lines == []
