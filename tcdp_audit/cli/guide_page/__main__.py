"""`python -m tcdp_audit.cli.guide_page` writes every generated file of the project in the current folder.

Those are the pages of the built-in checks and remedies, for the documentation and for `explain`, the JSON Schema of
policies, the README's list of checks, the topics of `explain`, and the signatures for type checkers: of `measure`, of
the expectation classes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tcdp_audit.api import policy_schema_text, write_atomically
from tcdp_audit.cli.guide_page import index_of_checks, index_of_remedies, page_of
from tcdp_audit.cli.guide_page.signatures import signatures
from tcdp_audit.cli.guide_page.topics import topic_pages
from tcdp_audit.integrations.great_expectations.stub import stub_of
from tcdp_audit.plugin.check import DisclosureType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tcdp_audit.api import Check, Plugins

INDEX = "README.md"
TOPICS = "tcdp_audit/cli/pages/topics"
LIST = re.compile(r"(?<=from the checks themselves -->\n).*?(?=<!-- end of checks -->)", re.DOTALL)


def pages(plugins: Plugins, *, for_terminal: bool = False) -> dict[str, str]:
    """Every page of a check or a remedy, and the lists of them, by their paths inside the documentation.

    Args:
        plugins: the checks and remedies.
        for_terminal: as `explain` prints them.
    """
    checks, remedies = sorted(plugins.checks.items()), sorted(plugins.remedies.items())
    return {
        f"checks/{INDEX}": index_of_checks(plugins.checks),
        f"remedies/{INDEX}": index_of_remedies(plugins.remedies),
        **{f"checks/{name}.md": page_of(check, for_terminal=for_terminal) for name, check in checks},
        **{f"remedies/{name}.md": page_of(remedy, for_terminal=for_terminal) for name, remedy in remedies},
    }


def generated(plugins: Plugins, readme: str) -> dict[str, str]:
    """Every generated file of the project by its path.

    Args:
        plugins: the built-in checks and remedies.
        readme: the text of the README, whose list of checks is replaced.
    """
    written, printed = pages(plugins), pages(plugins, for_terminal=True)
    return {
        **{f"docs/{name}": text for name, text in written.items()},
        **{f"tcdp_audit/cli/pages/{name}": text for name, text in printed.items() if not name.endswith(INDEX)},
        "docs/policy.schema.json": policy_schema_text(plugins.checks, plugins.remedies),
        "tcdp_audit/core/repair/typed.pyi": signatures(plugins.checks),
        "tcdp_audit/integrations/great_expectations/__init__.pyi": stub_of(plugins.checks),
        "README.md": LIST.sub(lambda _: _list_of(plugins.checks), readme),
    }


def _list_of(checks: Mapping[str, Check]) -> str:
    """A table with one row for each kind and degree of disclosure that has checks."""
    rows = ["| disclosure | checks |", "|---|---|"]
    for disclosure in DisclosureType:
        names = sorted(name for name, one in checks.items() if one.disclosure_type is disclosure)
        if names:
            links = ", ".join(f"[`{name}`](docs/checks/{name}.md)" for name in names)
            rows.append(f"| {disclosure.value} | {links} |")
    return "\n".join(rows) + "\n"


def _topics(documentation: Path) -> dict[str, str]:
    """The topics of `explain` by their paths, from pages that are written by hand; none where these are not."""
    pages = topic_pages(documentation) if (documentation / "policy.md").is_file() else {}
    return {f"{TOPICS}/{name}.txt": page for name, page in pages.items()}


def main(arguments: Sequence[str]) -> int:
    """Write the generated files of the project in a folder, by default the current one."""
    from tcdp_audit.api import Plugins  # noqa: PLC0415 - loads every plugin

    folder = Path(*arguments[:1])
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    if not LIST.search(text):
        sys.stderr.write(f"{readme}: no README with a marked list of checks; name the project's folder\n")
        return 2
    for name, page in {**generated(Plugins.load(external=False), text), **_topics(folder / "docs")}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
