"""`tcdp-audit explain`: what a check or a remedy does, how to read it, how to choose its parameters."""

from __future__ import annotations

import re
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from tcdp_audit.cli.options import load_plugins, plugin_options
from tcdp_audit.cli.printing import write
from tcdp_audit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tcdp_audit.check.announced import Announced
    from tcdp_audit.check.kinds import Check
    from tcdp_audit.registry import Plugins
    from tcdp_audit.remedy.remedy import Remedy

NARROWEST = 40
INDENT = "  "


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("name", required=False)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the documentation page.")
@plugin_options
def command(name: str | None, blocked: tuple[str, ...], *, as_markdown: bool, no_external_plugins: bool) -> int:
    """Explain the check or the remedy NAME: what it is, its parameters, how to choose them, its source.

    Without NAME, list the checks that a policy may expect and the remedies that it may name.
    """
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    if name is None:
        write(_index(plugins) if as_markdown else _listing(plugins))
    else:
        for registered in _named(name, plugins):
            write(_page(registered, as_markdown=as_markdown))
    return 0


def _named(name: str, plugins: Plugins) -> list[Check | Remedy[Any]]:
    """What has a name: a check, a remedy, or one of each.

    Raises:
        UsageError: there is none; the message names the nearest, and plugins that did not load.
    """
    known: tuple[Mapping[str, Check | Remedy[Any]], ...] = (plugins.checks, plugins.remedies)
    if matches := [names[name] for names in known if name in names]:
        return matches
    from tcdp_audit.policy.faults import nearest  # noqa: PLC0415 - imports pydantic

    broken = ", ".join(info.name for info in plugins.broken)
    blame = f"; a plugin that may define it does not work ({broken})" if broken else ""
    guess = nearest(name, [*plugins.checks, *plugins.remedies])
    raise UsageError(f"unknown check or remedy {name!r}; `tcdp-audit explain` lists them{blame}{guess}")


def _index(plugins: Plugins) -> str:
    from tcdp_audit.guide_page import index_of_checks, index_of_remedies  # noqa: PLC0415 - imports pydantic

    return f"{index_of_checks(plugins.checks)}\n{index_of_remedies(plugins.remedies)}"


def _listing(plugins: Plugins) -> str:
    width = max(map(len, [*plugins.checks, *plugins.remedies]), default=0)

    def rows(registered: Mapping[str, Announced | Remedy[Any]]) -> list[str]:
        return [f"{INDENT}{name:<{width}}  {one.title}" for name, one in sorted(registered.items())]

    checks = ["Checks that a policy may expect:", "", *rows(plugins.announced_checks), ""]
    remedies = ["Remedies that it may name:", "", *rows(plugins.remedies), ""] if plugins.remedies else []
    return "\n".join([*checks, *remedies, "More: tcdp-audit explain NAME"]) + "\n"


def _page(registered: Check | Remedy[Any], *, as_markdown: bool) -> str:
    from tcdp_audit.guide_page import page_of  # noqa: PLC0415 - imports pydantic

    page = page_of(registered)
    return page if as_markdown else "\n".join(_for_terminal(page.splitlines())) + "\n"


def _for_terminal(page: list[str]) -> Iterator[str]:
    """The lines of a page in Markdown, no wider than the terminal."""
    margin, fence = "", ""
    for line in page[2:]:  # behind the comment that says who wrote it
        if line.startswith("```"):
            fence = "" if fence else line[3:]
        elif fence == "yaml" or not line:  # lines of a policy are never broken
            yield f"{margin}{line}".rstrip()
        elif line.startswith("## "):
            margin = INDENT
            yield line[3:]
        elif line.startswith("| `"):
            yield from _row(line)
        elif not line.startswith("| "):
            yield from _wrapped(line.removeprefix("# "), margin)


def _row(line: str) -> Iterator[str]:
    """A parameter or a note, from its row in a table."""
    name, *cells = (cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1])
    if len(cells) == 1:
        yield from _wrapped(f"{name.strip('`')}: {cells[0]}", INDENT)
        return
    kind, default, description = cells
    default = default if default == "required" else f"default {default}"
    yield from _wrapped(f"{name.strip('`')}: {kind} ({default})", INDENT)
    yield from _wrapped(description, INDENT * 2)


def _wrapped(text: str, margin: str) -> list[str]:
    width = max(get_terminal_size().columns, NARROWEST)
    return wrap(text, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)
