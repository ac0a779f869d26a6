"""`tcdp-audit explain`: the page of a check or a remedy: its meaning and how to choose its parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tcdp_audit.cli.options import load_plugins, plugin_options
from tcdp_audit.cli.page import INDENT, laid_out, wrapped
from tcdp_audit.cli.printing import write
from tcdp_audit.plugin.engine import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tcdp_audit.api import Announced, Check, Plugins
    from tcdp_audit.plugin.remedy import Remedy

TOPICS = Path(__file__).with_name("generated")  # by `python -m tools.generate`, from the documentation
ROLES = ("identifier", "quasi_identifier", "sensitive", "insensitive")  # all of them are in "attributes"


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """The names that complete the input."""
    plugins = load_plugins((), no_external_plugins=False)
    names = sorted({*plugins.announced_checks, *plugins.remedies, *topics()})
    return [name for name in names if name.startswith(incomplete)]


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("name", required=False, shell_complete=_complete)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the documentation page.")
@plugin_options
def command(name: str | None, blocked: tuple[str, ...], *, as_markdown: bool, no_external_plugins: bool) -> int:
    """Explain the check or the remedy NAME: what it is, its parameters, how to choose them, its source.

    NAME may be a topic as well, such as policy, quasi_identifier, undeclared_columns or exit-codes. Without NAME, list
    the checks that a policy may expect, the remedies that it may name, and the topics.
    """
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    if name is None:
        write(_index(plugins) if as_markdown else _listing(plugins))
    else:
        write("".join(_pages(name, plugins, as_markdown=as_markdown)))
    return 0


def _pages(name: str, plugins: Plugins, *, as_markdown: bool) -> Iterator[str]:
    """The pages of a name; a topic where no check and no remedy has it."""
    if name not in plugins.announced_checks and name not in plugins.remedies and (page := topic(name)) is not None:
        yield page
        return
    for registered in _named(name, plugins):
        yield _page(registered, as_markdown=as_markdown)


def _named(name: str, plugins: Plugins) -> list[Check | Remedy[Any]]:
    """The check and the remedy of a name, or the one that there is.

    Raises:
        UsageError: there is none; the message names the nearest, and plugins that did not load.
    """
    known: tuple[Mapping[str, Check | Remedy[Any]], ...] = (plugins.checks, plugins.remedies)
    if matches := [names[name] for names in known if name in names]:
        return matches
    from tcdp_audit.api import nearest  # noqa: PLC0415 - imports pydantic

    broken = ", ".join(info.name for info in plugins.broken)
    blame = f"; a plugin that may define it does not work ({broken})" if broken else ""
    guess = nearest(name, [*plugins.checks, *plugins.remedies, *topics()])
    raise UsageError(f"unknown check, remedy or topic {name!r}; `tcdp-audit explain` lists them{blame}{guess}")


def _index(plugins: Plugins) -> str:
    from tcdp_audit.cli.declarations import index_of_checks, index_of_remedies  # noqa: PLC0415 - imports pydantic

    return f"{index_of_checks(plugins.checks, {})}\n{index_of_remedies(plugins.remedies, {})}"


def _listing(plugins: Plugins) -> str:
    width = max(map(len, [*plugins.checks, *plugins.remedies]), default=0)

    def rows(registered: Mapping[str, Announced | Remedy[Any]]) -> list[str]:
        return [f"{INDENT}{name:<{width}}  {one.title}" for name, one in sorted(registered.items())]

    checks = ["Checks that a policy may expect:", "", *rows(plugins.announced_checks), ""]
    remedies = ["Remedies that it may name:", "", *rows(plugins.remedies), ""] if plugins.remedies else []
    topics_list = [*wrapped(f"Topics: {', '.join(topics())}", ""), ""]
    return "\n".join([*checks, *remedies, *topics_list, "More: tcdp-audit explain NAME"]) + "\n"


def _page(registered: Check | Remedy[Any], *, as_markdown: bool) -> str:
    from tcdp_audit.cli.declarations import registered_page  # noqa: PLC0415 - imports pydantic

    return registered_page(registered) if as_markdown else laid_out(registered_page(registered, for_terminal=True))


def topics() -> list[str]:
    """The names of the topics."""
    return sorted([*ROLES, *(path.stem for path in TOPICS.glob("*.txt"))])


def topic(name: str) -> str | None:
    """A topic as wide as the terminal; None where no topic has this name. Blanks and underscores are hyphens."""
    known = {one.replace("_", "-"): one for one in topics()}.get(name.replace("_", "-").replace(" ", "-"))
    if known is None:
        return None
    file = "attributes" if known in ROLES else known
    return "\n".join(_topic_lines((TOPICS / f"{file}.txt").read_text(encoding="utf-8"))) + "\n"


def _topic_lines(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or not line:  # an example is never broken
            yield f"  {line}".rstrip()
        else:
            yield from wrapped(line, "", "  " if line.startswith("- ") else "")
