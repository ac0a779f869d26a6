"""The policy as its author wrote it, and the lines that remedies add, without values that are cells of the release."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from keyword import iskeyword
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.report import Audit, AuditedColumn, ChangeLog
from tcdp_audit.plugin.sentences import count, say, visible

LISTS_OF_CELLS = frozenset({"order", "hierarchy", "distribution", "values"})
LISTS_OF_NAMES = frozenset(  # of columns, plugins and scenarios; any other list of texts names values
    {"attributes", "plugins", "against", "knows", "at_stake"}
)
URL = re.compile(r"""([A-Za-z][A-Za-z0-9+.-]*://)([^\s"']*@)?([^\s"'?]*)(\?[^\s"']*)?""")
SECRET = re.compile(r"(?i)(pass|pwd|secret|token|key|sig|credential)[^=&]*=")
TEXT = "tag:yaml.org,2002:str"


def shown_policy(text: str, *, show_values: bool) -> tuple[str, bool]:
    """The text to show, and whether something was left out of it.

    An ordinal attribute's order, a hierarchy or a distribution written into the policy, and a check's list of texts
    are an attribute's values; a report never shows those unless it was asked to. What lets one in at a URL is never
    shown. Everything else stays as it is, to the letter.
    """
    if show_values:
        return _without_credentials(text), False
    redacted = text
    withheld = sorted(_lists(yaml.compose(text, Loader=yaml.SafeLoader)), key=lambda node: -node.start_mark.index)
    for node in withheld:
        start, end = node.start_mark.index, _end(text, node)
        redacted = f"{redacted[:start]}[{count(len(node.value), 'value')} not shown]{redacted[end:]}"
    return _without_credentials(redacted), bool(withheld)


def _without_credentials(text: str) -> str:
    """A text whose URLs have no user and no password, and no signature or token in their queries."""
    return URL.sub(lambda match: f"{match[1]}{'[not shown]@' if match[2] else ''}{match[3]}{_query(match)}", text)


def _query(match: re.Match[str]) -> str:
    query = match[4] or ""
    return "?[not shown]" if query and (match[1].startswith("http") or SECRET.search(query)) else query


def _end(text: str, node: Node) -> int:
    """The end of a list; a block list's mark is after the line's end, which stays."""
    end = int(node.end_mark.index)
    return end - (len(text[:end]) - len(text[:end].rstrip()))


def _holds_cells(key: str, value: Node) -> bool:
    """Whether an entry of the policy lists values of an attribute: by its key, or as a check's list of texts."""
    if key in LISTS_OF_CELLS:
        return not isinstance(value, ScalarNode)
    if key in LISTS_OF_NAMES or not isinstance(value, SequenceNode) or not value.value:
        return False
    return all(isinstance(one, ScalarNode) and one.tag == TEXT for one in value.value)


def _lists(node: Node | None) -> Iterator[Node]:
    seen: set[int] = set()
    stack = [] if node is None else [node]
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, SequenceNode):
            stack += current.value
        if isinstance(current, MappingNode):
            for key, value in current.value:
                if isinstance(key, ScalarNode) and _holds_cells(key.value, value):
                    if id(value) not in seen:
                        yield value
                    seen.add(id(value))
                else:
                    stack.append(value)


@dataclass(frozen=True)
class PolicyLines:
    """Lines of a policy, and what to do with them."""

    sentence: str
    policy: str


def lines_to_paste(log: ChangeLog, audit: Audit | None = None, *, command: bool = False) -> PolicyLines | None:
    """The lines as far as they hold no cell; None where they cannot be read, and so not be cleared of cells.

    `audit` has the policy that lines of remedies belong into, which may be JSON; `command`: a command follows them.
    """
    is_json = audit is not None and audit.policy.text.lstrip().startswith("{")
    try:
        text, withheld = shown_policy(log.lines, show_values=False)
        lines = [*_as_json(yaml.safe_load(text), log)] if is_json else text.splitlines()
    except yaml.YAMLError:
        return None
    sentence = _what_to_do(log, audit, command=command, withheld=withheld, is_json=is_json)
    return PolicyLines(sentence, "\n".join(map(visible, lines)))


def _as_json(lines: Mapping[str, Any], log: ChangeLog) -> Iterator[str]:
    """Lines of a policy that is JSON: its remedies, a further entry if it has none, and demands to add to its list."""
    yield f'{", " if log.planned else ""}"remedy": {json.dumps(lines["remedy"])}'
    yield from (f", {json.dumps(one)}" for one in lines.get("expect") or ())


def _what_to_do(log: ChangeLog, audit: Audit | None, *, command: bool, withheld: bool, is_json: bool) -> str:
    name = visible(audit.policy.name) if audit is not None and audit.policy.path else ""
    if not log.planned:
        sentence = "The remedies that made the release, as the policy names them."
    elif is_json:
        sentence = say(
            "Put this before the last brace of [{file?}{file}|the policy (annex D; save it as POLICY.json)]"
            "[{command?}, then run the command| to repair a later release alike].",
            file=name,
            command=command,
        )
    else:
        sentence = say(
            "Add these lines to [{file?}{file}|the policy][{command?}, then run the command| to repair a later release "
            "alike].",
            file=name,
            command=command,
        )
    if any(one.lines for one in log.steps):
        sentence += (
            " Add the other lines to the list of expect before you audit this release."
            if is_json
            else " Add the lines under expect to the policy before you audit this release."
        )
    return f"{sentence} Lists of values are counted here, not shown." if withheld else sentence


ROLES = {
    Role.QUASI_IDENTIFIER: "an intruder may know it",
    Role.SENSITIVE: "must stay secret",
    Role.IDENTIFIER: "names a person: should not be here",
    Role.INSENSITIVE: "taken to be harmless",
}


def role_of(column: AuditedColumn, links: Collection[str] = ()) -> str:
    """The role in everyday words; `links` are the columns that link tables."""
    if column.name in links:
        return "links the tables" if column.is_present else "links the tables; is missing from the file"
    if column.is_key and column.is_present:
        harmless = column.role is Role.INSENSITIVE
        return say(
            "[{harmless?}taken to be harmless, but ]links records to another table: should not be published",
            harmless=harmless,
        )
    if column.role is None:
        return "not declared: its role is unknown"
    if column.role is Role.IDENTIFIER and not column.is_present:
        return "names a person: is not in the file"
    if column.is_unit:
        return "names the person whom records belong to"
    return ROLES[column.role] if column.is_present else f"{ROLES[column.role]}; is missing from the file"


def known(audit: Audit) -> list[str]:
    """The name of the columns that a neighbour may know."""
    return _with_role(audit, Role.QUASI_IDENTIFIER)


def secret(audit: Audit) -> list[str]:
    """The name of the columns that must stay secret."""
    return _with_role(audit, Role.SENSITIVE)


def unwanted(audit: Audit) -> list[str]:
    """The name of the columns that should not be in the published file."""
    document = audit.policy.document
    unit = [one for one in audit.columns if one.is_unit and one.is_present and not document.unit_released]
    links = () if audit.linked_tables is None else audit.linked_tables.links
    return [
        name_of(one)
        for one in audit.columns
        if one.name not in links
        if one in unit or (_is_unwanted(one) and not (document.internal_only and one.is_key))
    ]


def _is_unwanted(column: AuditedColumn) -> bool:
    return column.is_present and (column.role in (Role.IDENTIFIER, None) or column.is_key)


def _with_role(audit: Audit, role: Role) -> list[str]:
    return [name_of(one) for one in audit.columns if one.role is role and one.is_present]


def name_of(column: AuditedColumn) -> str:
    """A column's label, or its name."""
    return visible(column.label or column.name)


def stated(audit: Audit) -> list[tuple[str, str]]:
    """The policy's statements on its release, by name: purpose, recipients, and who approved it; only those it has."""
    document, approval = audit.policy.document, approved_by(audit)
    pairs = (("Purpose", document.purpose), ("Recipients", document.recipients), ("Policy approved by", approval))
    return [(name, one_line(text)) for name, text in pairs if text]


ENTRIES = {"Purpose": "purpose:", "Recipients": "recipients:", "Policy approved by": "approved_by:"}  # of a policy


def signed_for(audit: Audit) -> list[tuple[str, str]]:
    """The same for a sign-off, where what the policy does not state is said, too."""
    texts = dict(stated(audit))
    return [
        (name, texts.get(name) or say("The policy does not say (its line {key}).", key=key))
        for name, key in ENTRIES.items()
    ]


def policy_argument(audit: Audit) -> str:
    """The policy's file on a command line; a name to save it by where a program gave it."""
    return "POLICY.json" if audit.policy.path is None else visible(audit.policy.name)


def tables_argument(audit: Audit) -> str:
    """The release as an argument of Python where it was in memory: a variable, or a mapping of them by table.

    A table is taken to be in a variable of its own name, if that can be one.
    """
    if not audit.release.tables:
        return "RELEASE"
    named = [
        (json.dumps(visible(name)), name if name.isidentifier() and not iskeyword(name) else f"TABLE_{number}")
        for number, name in enumerate(audit.release.tables, 1)
    ]
    return f"{{{', '.join(f'{name}: {variable}' for name, variable in named)}}}"


def approved_by(audit: Audit) -> str:
    """The name of the person or office that approved the policy, and the date; empty where it does not say."""
    approval = audit.policy.document.approval
    if approval is None:
        return ""
    return approval.by if approval.date is None else f"{approval.by}, {approval.date.isoformat()}"


def one_line(reason: str) -> str:
    """A reason of the policy's author as plain text on one line."""
    return visible(" ".join(reason.split()))


def named(names: list[str], most: int = 8) -> str:
    """Some names in a sentence; of many the first, and how many more there are."""
    return say("{names:names}", names=first_names(names, most)) if names else "none"


def first_names(names: list[str], most: int = 8) -> list[str]:
    """Names for a sentence; of many the first, and how many more there are."""
    return names if len(names) <= most else [*names[: most - 1], say("{n} more", n=len(names) - most + 1)]


def runs(numbers: Iterable[int]) -> Iterator[str]:
    """Ascending numbers, those that follow each other as one: `1–6`."""
    for _, each in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in each]
        yield f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0])
