"""`tcdp-audit explain`: what a check means, how to read it, how to choose its threshold."""

from __future__ import annotations

from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from tcdp_audit.cli.options import load_plugins, plugin_options
from tcdp_audit.cli.printing import write
from tcdp_audit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tcdp_audit.check import Check
    from tcdp_audit.plugin_manager import Plugins

NARROWEST = 40
INDENT = "  "


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("check", required=False)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the documentation page.")
@plugin_options
def command(check: str | None, blocked: tuple[str, ...], *, as_markdown: bool, no_external_plugins: bool) -> int:
    """Explain CHECK: its definition, its parameters, how to read it and how to choose a threshold.

    Without CHECK, list the checks that a policy may expect.
    """
    from tcdp_audit import guide_page  # noqa: PLC0415 - imports pydantic

    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    if check is None:
        text = guide_page.index(plugins.checks) if as_markdown else _listing(plugins)
    else:
        found = _found(check, plugins)
        text = guide_page.markdown(found) if as_markdown else "\n".join(_page(found)) + "\n"
    write(text)
    return 0


def _found(name: str, plugins: Plugins) -> Check:
    """The check of a name.

    Raises:
        UsageError: there is none; the message names the nearest, and plugins that did not load.
    """
    if name in plugins.checks:
        return plugins.checks[name]
    from tcdp_audit.policy.faults import nearest  # noqa: PLC0415 - imports pydantic

    broken = ", ".join(info.name for info in plugins.broken)
    blame = f"; a plugin that may define it does not work ({broken})" if broken else ""
    guess = nearest(name, plugins.checks)
    raise UsageError(f"unknown check {name!r}; `tcdp-audit explain` lists them{blame}{guess}")


def _listing(plugins: Plugins) -> str:
    width = max(map(len, plugins.checks), default=0)
    rows = [f"{INDENT}{name:<{width}}  {one.title}" for name, one in sorted(plugins.checks.items())]
    return "\n".join(["Checks that a policy may expect:", "", *rows, "", "More: tcdp-audit explain CHECK"]) + "\n"


def _page(check: Check) -> Iterator[str]:
    """A check's guide in lines no wider than the terminal."""
    from tcdp_audit.guide_page import demands, formula_lines  # noqa: PLC0415 - imports pydantic

    guide = check.guide
    yield f"{check.title} ({check.name})"
    yield f"Disclosure: {check.quarter.value}"
    yield from _section("Definition", guide.definition, "", *formula_lines(check))
    yield from ["", "Parameters", *_parameters(check), *_wrapped(" ".join(demands(check).values()), INDENT)]
    yield from _section("How to read it", guide.reading)
    yield from _section("How to choose a threshold", guide.choosing)
    if guide.limits:
        yield from _section("Limits", guide.limits)
    yield from ["", "In a policy", f"{INDENT}expect:"]
    yield from (f"{INDENT * 2}{line}" for line in guide.example.splitlines())
    yield from _section("Source", guide.source)


def _section(heading: str, *paragraphs: str) -> Iterator[str]:
    yield from ["", heading]
    for paragraph in paragraphs:
        yield from _wrapped(paragraph, INDENT) or [""]


def _parameters(check: Check) -> Iterator[str]:
    from tcdp_audit.guide_page import parameters_of  # noqa: PLC0415 - imports pydantic

    for one in parameters_of(check):
        yield from _wrapped(f"{one.name}: {one.kind} (default {one.default})", INDENT)
        yield from _wrapped(one.description, INDENT * 2)


def _wrapped(text: str, margin: str) -> list[str]:
    width = max(get_terminal_size().columns, NARROWEST)
    return wrap(text, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)
