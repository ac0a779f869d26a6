"""The page of a check or a remedy in Markdown: for the documentation, and for `explain`, which wraps it.

parameters   parameters in words
signatures   signatures for type checkers
topics       what `explain` prints of the documentation
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tcdp_audit.cli.guide_page.parameters import parameters_of
from tcdp_audit.plugin.remedy import Remedy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tcdp_audit.api import Check
    from tcdp_audit.plugin.check import Guide

GENERATED = "<!-- Written by `python -m tcdp_audit.cli.guide_page` from the checks and remedies themselves. -->"
DOI = re.compile(r"doi:(10\.\d+/[^\s,;]+)")
RANDOM = "It draws from a source that no seed repeats, and runs once only."
ONCE = "It draws from the policy's seed, and runs once only."


def page_of(registered: Check | Remedy[Any], *, for_terminal: bool = False) -> str:
    """The page of a check or a remedy. A section that has nothing to say is left out.

    Args:
        registered: what the page is about.
        for_terminal: formulas as text, and no links; otherwise as LaTeX, which sites of documentation set.
    """
    if isinstance(registered, Remedy):
        sections = _of_remedy(registered)
    else:
        sections = _of_check(registered, for_terminal=for_terminal)
    source = registered.guide.source
    sections.append(("Source", source if for_terminal else DOI.sub(r"[doi:\1](https://doi.org/\1)", source)))
    parts = [f"## {heading}\n\n{text}" for heading, text in sections if text]
    return "\n\n".join([GENERATED, _head(registered), *parts]) + "\n"


def index_of_checks(checks: Mapping[str, Check]) -> str:
    """The page that lists all checks."""
    rows = [(f"[`{name}`]({name}.md)", one.title, one.disclosure_type.value) for name, one in sorted(checks.items())]
    return f"""{GENERATED}

# Checks

Every check that a policy may expect; `tcdp-audit explain CHECK` shows the same page.

{_table(("check", "title", "disclosure"), rows)}

What the auditor asks of every release by itself: [structure](../structure.md).
"""


def index_of_remedies(remedies: Mapping[str, Remedy[Any]]) -> str:
    """The page that lists all remedies."""
    rows = [(f"[`{name}`]({name}.md)", one.title, one.summary) for name, one in sorted(remedies.items())]
    return f"""{GENERATED}

# Remedies

Every remedy that a [policy](../policy.md#remedies) may name; `tcdp-audit explain REMEDY` shows the same page.

{_table(("remedy", "title", "what it changes"), rows)}

None of them judges itself: after each the whole release is audited again.
"""


def _head(registered: Check | Remedy[Any]) -> str:
    if isinstance(registered, Remedy):
        return f"# {registered.title}\n\nRemedy `{registered.name}`. {registered.summary}"
    return f"# {registered.title}\n\nCheck `{registered.name}`. Disclosure: {registered.disclosure_type.value}."


def _of_check(check: Check, *, for_terminal: bool) -> list[tuple[str, str]]:
    guide = check.guide
    parameters = _parameters(check, [limit.parameter for limit in check.limits])
    demands = " and ".join(limit.demand for limit in check.limits)
    return [
        (
            "In plain words",
            f"{guide.question}\n\nWhere nobody asks it: {guide.risk}" if guide.question and guide.risk else "",
        ),
        ("Definition", f"{guide.definition}\n\n{_formula(guide, for_terminal=for_terminal)}"),
        (
            "Parameters",
            f"{parameters}\n\n{check.passes_if} {demands}.",
        ),
        ("How to read it", guide.reading),
        ("How to choose a threshold", guide.choosing),
        ("Limits", guide.limits),
        ("In a policy", _in_a_policy("expect", guide.example)),
    ]


def _formula(guide: Guide, *, for_terminal: bool) -> str:
    """A formula as LaTeX, each line of it by itself; as text on terminals, and where it has no LaTeX."""
    if for_terminal or not guide.latex:
        return _code("text", guide.formula.split(";  "))
    return "\n\n".join(_code("math", [line]) for line in guide.latex.splitlines())


def _of_remedy(remedy: Remedy[Any]) -> list[tuple[str, str]]:
    guide = remedy.guide
    notes = [(f"`{name}`", meaning) for name, meaning in guide.notes.items()]
    return [
        ("Method", "\n\n".join([guide.method, *([RANDOM] * remedy.random), *([ONCE] * remedy.once)])),
        ("Parameters", _parameters(remedy) if remedy.parameters.model_fields else "None."),
        ("When to use it", guide.choosing),
        ("What is guaranteed", guide.guarantees),
        ("Who knows how it was done", guide.attack),
        ("What its notes say", _table(("note", "meaning"), notes) if notes else ""),
        ("In a policy", _in_a_policy("remedy", guide.example)),
    ]


def _parameters(registered: Check | Remedy[Any], measured: Sequence[str] = ()) -> str:
    rows = [(f"`{one.name}`", one.kind, one.default, one.description) for one in parameters_of(registered, measured)]
    return _table(("parameter", "type", "default", "meaning"), rows)


def _in_a_policy(section: str, example: str) -> str:
    return _code("yaml", [f"{section}:", *(f"  {line}" for line in example.splitlines())])


def _code(language: str, lines: Sequence[str]) -> str:
    return "\n".join([f"```{language}", *lines, "```"])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines)
