"""docs/installing.md lists every extra, with what it weighs."""

from __future__ import annotations

import tomllib

from documents import ROOT, code, read, rows

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
FOR_USERS = EXTRAS.keys() - {"docs", "test", "longer", "dev"}


def test_every_extra_has_its_row_with_its_size():
    sizes = {code(cells[0])[0]: int(cells[3]) for cells in rows(read("docs/installing.md"))}

    assert sizes.keys() == {"pip install .", *FOR_USERS}
    assert max(sizes.values()) == sizes["all"]
    assert min(sizes.values()) == sizes["pip install ."]
