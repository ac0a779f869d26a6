"""`python -m tcdp_audit.guide_page docs` writes the pages of the built-in checks and remedies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tcdp_audit.files import write_atomically
from tcdp_audit.guide_page import page_of
from tcdp_audit.guide_page.markdown import index_of_checks, index_of_remedies, markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tcdp_audit.registry import Plugins

INDEX = "README.md"


def pages(plugins: Plugins) -> dict[str, str]:
    """Every page by its path inside the documentation."""
    registered = {"checks": plugins.checks, "remedies": plugins.remedies}
    guides = {
        f"{folder}/{name}.md": markdown(page_of(one))
        for folder, all_ in registered.items()
        for name, one in all_.items()
    }
    indices = {"checks": index_of_checks(plugins.checks), "remedies": index_of_remedies(plugins.remedies)}
    return {**{f"{folder}/{INDEX}": text for folder, text in indices.items()}, **dict(sorted(guides.items()))}


def main(arguments: Sequence[str]) -> int:
    """Write the pages of everything built in below a folder."""
    from tcdp_audit.registry import Plugins  # noqa: PLC0415 - loads every plugin

    folder = Path(*arguments[:1])
    for name, text in pages(Plugins.load(external=False)).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
