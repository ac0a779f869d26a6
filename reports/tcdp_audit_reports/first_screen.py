"""The first screen: what was audited, the tally of its demands, and what only people can answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from tcdp_audit.plugin._internal import (
    state_of,
)
from tcdp_audit.plugin.report import Audit, Table, tool
from tcdp_audit.plugin.sentences import (
    count,
    listing,
    prose,
    say,
    sentence_case,
    visible,
)
from tcdp_audit_reports.policy_text import stated

NO_UNITS: Mapping[str, int] = MappingProxyType({})
MOST_TABLES = 8  # named on the first screen
NO_NAME = "no name of who ran it was given: see Run"
NUMBERED = 8  # demands that do not hold, up to which they are named


def particulars(audit: Audit) -> list[tuple[str, list[str]]]:
    """Names with their lines."""
    policy, log = audit.policy, audit.change_log
    repaired = [] if log is None or not log.steps else [("Repaired from", described(log.input))]
    further = {name: table for name, table in audit.companions.items() if name not in audit.figures}
    return [
        *([("Release", _released(audit))] if audit.has_records else []),
        *_figures(audit),
        *repaired,
        *(_companion(audit, name, table) for name, table in further.items()),
        (
            "Policy",
            [
                visible(policy.name) if policy.path else "given by the calling Python program; see annex D",
                _short(policy.sha256),
            ],
        ),
        *((name, [text]) for name, text in stated(audit)),
        ("Audited", [audited_at(audit), *_by(audit), by_tool(), plugins(audit)]),
    ]


def _companion(audit: Audit, name: str, table: Table) -> tuple[str, list[str]]:
    """A further table: `Compared with the register (journalist)`, where only that intruder has it, and whether used."""
    from tcdp_audit_reports.sections.unexamined import unused  # noqa: PLC0415 - it needs modules that need this one

    kind, _, intruder = name.partition(" of ")
    if name in unused(audit):
        tried = any(one.conventions.get("reference") == name for one in audit.variants)
        use = say("used [{tried?}only for other ways of counting (Annex D)|by no demand]", tried=tried)
        return sentence_case(name), [*described(table), use]
    if kind == "microdata":
        return "Records behind", described(table)
    register = say("Compared with the register[{intruder?} ({intruder})]", intruder=visible(intruder))
    return register if kind == "population" else say("Compared with {name}", name=name), described(table)


def _figures(audit: Audit) -> Iterator[tuple[str, list[str]]]:
    """The tables of figures, of many the first, each with its cells and its digest; then the fitted models."""
    tables, sizes = {**audit.companions, **audit.release.tables}, audit.sizes_of_figures
    for name, size in [*sizes.items()][:MOST_TABLES]:
        table = tables.get(name)
        file = "" if table is None else visible(table.name)
        digest = [] if table is None or table.sha256 is None else [_short(table.sha256)]
        in_memory = ["a table in memory"] if table is not None and table.in_memory else []
        place = f"{visible(name)}: {file}" if file and Path(file).stem != name else file or visible(name)
        yield "Table", [place, ", ".join(sizes_in_words(size)), *in_memory, *digest]
    if len(sizes) > MOST_TABLES:
        yield "Tables", [f"{count(len(sizes) - MOST_TABLES)} more"]
    if audit.models:
        yield "Models", [listing([visible(one) for one in audit.models])]


def sizes_in_words(size: Mapping[str, int]) -> list[str]:
    """The cells of a table of figures, how many figures are hidden, and how many cells it lacks, in words."""
    rest = [say("{n} {word:text}", n=size[name], word=name) for name in ("hidden", "absent") if size[name]]
    return [count(size["cells"], "cell"), *rest]


def described(table: Table) -> list[str]:
    """A table's name, size and digest."""
    if table.tables:
        return _described_tables(table)
    return [
        visible(table.name),
        table.size,
        *(["a table in memory"] if table.in_memory else []),
        *([_short(table.sha256)] if table.sha256 else []),
        *([table.comparison] if table.comparison else []),
    ]


def _released(audit: Audit) -> list[str]:
    """The release's name, size and digest; of linked tables those with rows in each as well."""
    tables = audit.linked_tables
    return (
        described(audit.release) if tables is None else _described_tables(audit.release, tables.with_rows, tables.noun)
    )


def _described_tables(table: Table, with_rows: Mapping[str, int] = NO_UNITS, noun: str = "") -> list[str]:
    """The number of tables and the size of each, of many of the first; their digests are where they are verified.

    Args:
        table: the tables.
        with_rows: how many units have a row in each; nothing of a table of which that is not known.
        noun: what the units are called, in the singular.
    """
    sizes = [
        say(
            "{title}: {n:record}[{known?} of {units:{noun}}]",
            title=visible(one.name),
            n=one.records,
            known=name in with_rows,
            units=with_rows.get(name, 0),
            noun=visible(noun) or "unit",
        )
        for name, one in table.tables.items()
    ]
    more = len(sizes) - MOST_TABLES
    return [
        count(len(sizes), "table"),
        *sizes[:MOST_TABLES],
        *([f"{more:,} more"] if more > 0 else []),
        *(["tables in memory"] if table.in_memory else []),
    ]


def written_date(moment: datetime) -> str:
    """A date with its month in words."""
    return say("{moment:date}", moment=moment)


def audited_at(audit: Audit) -> str:
    """The time of the audit."""
    return moment_in_words(audit.audited_at)


def moment_in_words(moment: datetime) -> str:
    """A date and a time."""
    time = f"{moment:%H:%M}"
    return say("{moment:date}, {time} UTC", moment=moment, time=time)


def by_tool() -> str:
    """The auditor and its version."""
    about = tool()
    return f"{about['name']} {about['version']}"


def plugins(audit: Audit) -> str:
    """Whether code of others took part."""
    external = [info for info in audit.plugins.infos if info.is_external]
    return count(len(external), "external plugin") if external else "built-in plugins only"


def _by(audit: Audit) -> list[str]:
    """The person who ran it, or that no name is given."""
    return [say("run by {name}", name=visible(audit.run.by)) if audit.run.by else NO_NAME]


def _short(digest: str) -> str:
    return f"SHA-256 {digest[:12]}…"


@dataclass(frozen=True)
class TallyEntry:
    """The number of demands or checks in a state, in words, and the titles of schema checks that do not hold."""

    state: str
    number: int
    words: str
    names: str = ""


def tally(audit: Audit) -> list[TallyEntry]:
    """An entry for each state that occurs among the demands, then among the schema checks.

    Those that do not hold are named: demands by their numbers, schema checks by their titles.
    """
    demands, columns, tables = audit.tally.demands, audit.tally.columns, audit.tally.figures
    faulty, checks = tables.failed + tables.unchecked, columns.total
    failed, warned, titles = _numbers(audit, "failed"), _numbers(audit, "warning"), _titles_by_state(audit)
    waiting = say("{n:question waits|questions wait} for an answer", n=demands.skipped)
    not_made = say("{n:measurement was|measurements were} not made", n=demands.not_examined)
    entries = [
        TallyEntry(
            "failed",
            demands.failed,
            say(
                "of {total:demand} {n:fails|fail}[{numbers?}: {numbers:names}]",
                total=demands.total,
                n=demands.failed,
                numbers=failed,
            ),
        ),
        TallyEntry(
            "warning",
            demands.warned,
            say("{n:warns|warn}[{numbers?}: {n:demand|demands} {numbers:names}]", n=demands.warned, numbers=warned),
        ),
        TallyEntry("error", demands.unchecked, "could not be checked"),
        TallyEntry("passed", demands.met, say("{n:is met|are met}", n=demands.met)),
        TallyEntry("measured", demands.measured, "measured, without a demand"),
        TallyEntry("skipped", demands.skipped, waiting),
        TallyEntry("skipped", demands.not_examined, not_made),
        TallyEntry(
            "error", faulty, say("of {total:check} of the tables {n:finds|find} a fault", n=faulty, total=tables.total)
        ),
        TallyEntry(
            "failed",
            columns.failed,
            say("of {total:schema check} {n:fails|fail}", total=checks, n=columns.failed),
            titles["failed"],
        ),
        TallyEntry(
            "warning",
            columns.warned,
            say("of {total:schema check} {n:warns|warn}", total=checks, n=columns.warned),
            titles["warning"],
        ),
        TallyEntry("error", columns.unchecked, say("of {total:schema check} could not be made", total=checks)),
    ]
    return [one for one in entries if one.number]


def _numbers(audit: Audit, state: str) -> list[str]:
    """The numbers of the demands in a state; nothing where they are many, or all of them."""
    numbers = [str(number) for number, one in enumerate(audit.expectations, 1) if state_of(one) == state]
    return numbers if len(numbers) <= NUMBERED and len(numbers) < len(audit.expectations) else []


def _titles_by_state(audit: Audit) -> Mapping[str, str]:
    """The titles of the schema checks in each state."""
    titles: dict[str, list[str]] = {"failed": [], "warning": []}
    for one in audit.structure:
        if one.cells is None:
            titles.setdefault(state_of(one), []).append(visible(one.title or one.check))
    return {state: "; ".join(names) for state, names in titles.items()}


def open_questions(audit: Audit) -> list[str]:
    """The questions of the policy's profiles that no person has answered, each once."""
    answered = audit.policy.document.answers or {}
    waiting = {one.key: one.question for _, one in audit.policy.questions if one.key not in answered}
    return [visible(prose(one)) for one in waiting.values()]
