"""The policy as given, the verdicts by convention, and the environment with its digests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from tcdp_audit.plugin._internal import Block, verifier_digest
from tcdp_audit.plugin.report import Audit, Definitions, Group, Heading, Lines, Paragraph, Rows, tool
from tcdp_audit.plugin.sentences import Outcome, Severity, Status, figure, say, visible
from tcdp_audit_reports.charts.drawing import figure_table
from tcdp_audit_reports.finding_tables import moves_of
from tcdp_audit_reports.first_screen import by_tool
from tcdp_audit_reports.policy_text import runs, shown_policy
from tcdp_audit_reports.sections.columns import risk_tables
from tcdp_audit_reports.sections.findings import Pairs

UNSUITED = "–"


def conventions_tried(audit: Audit) -> Rows | None:
    """A row a combination, a column an expectation; None where only the policy's own was tried."""
    if not audit.variants:
        return None
    own = audit.variants[0].conventions
    rows, places = [], _places(audit)
    warns = [one.parameters.severity is Severity.WARNING for one in audit.policy.expectations]
    for variant in audit.variants:
        changed = [_convention(name, value) for name, value in variant.conventions.items() if value != own[name]]
        verdicts = [_verdict(one, warns=only) for one, only in zip(variant.verdicts, warns, strict=True)]
        demands = variant.demands or [() for _ in verdicts]
        verdicts = [_which(*each) for each in zip(places, demands, verdicts, strict=True)]
        rows.append((", ".join(changed) or "as in the policy", *verdicts))
    several = any(len(own) > 1 for own in places)
    note = "A column of several demands names those that fail; without numbers all do." if several else ""
    head = ("conventions", *demand_numbers(audit))
    return figure_table("Verdicts by convention; columns are demands", head, rows, note)


def _verdict(status: Status, *, warns: bool) -> str:
    """The verdict on a line of the policy; a failure of one that only warns is a warning."""
    if status is Status.SKIPPED:
        return UNSUITED
    return "warns" if warns and status is Status.FAILED else status.value


def _which(numbers: Sequence[int], statuses: Sequence[Status], verdict: str) -> str:
    """The verdict on several demands, with the numbers of those that fail where not all of them do."""
    if len(numbers) != len(statuses):  # this way of counting makes other demands of the line
        return verdict
    failed = [number for number, status in zip(numbers, statuses, strict=True) if status is Status.FAILED]
    return f"{verdict}: {', '.join(map(str, failed))}" if 0 < len(failed) < len(numbers) else verdict


def changing_demands(audit: Audit) -> list[str]:
    """The numbers of the demands whose result is another under some combination; those that follow each other as one.

    Where a combination makes other demands of a line, such as one on all secrets together, all of the line's count.
    """
    places = _places(audit)
    changing = [number for position in audit.flips or () for number in _changing(audit, position, places[position])]
    return [*runs(changing)] if changing else [UNSUITED for _ in audit.flips or ()]


def _changing(audit: Audit, position: int, numbers: Sequence[int]) -> Sequence[int]:
    suited = [one for one in audit.variants if one.verdicts[position] is not Status.SKIPPED]
    others = [one for one in suited if len(one.demands) <= position or len(one.demands[position]) != len(numbers)]
    if len({one.verdicts[position] for one in (suited[0], *others)}) > 1:
        return numbers
    alike = [one.demands[position] for one in suited if one not in others]
    return [number for number, statuses in zip(numbers, zip(*alike, strict=True), strict=False) if len({*statuses}) > 1]


def demand_numbers(audit: Audit) -> list[str]:
    """The numbers of the demands that each line of the policy makes: `6–9` of one against four intruders."""
    return [f"{own[0]}–{own[-1]}" if len(own) > 1 else "".join(map(str, own)) or UNSUITED for own in _places(audit)]


def _places(audit: Audit) -> list[list[int]]:
    """The numbers of the demands that each line of the policy makes."""
    places: dict[int, list[int]] = {}
    for number, (expectation, _) in enumerate(audit.policy.targets, 1):
        places.setdefault(id(expectation), []).append(number)
    return [places.get(id(one), []) for one in audit.policy.expectations]


WORDS_OF_CONVENTIONS = {  # as keys have them, without underscores
    "missing_quasi_identifier": "missing quasi-identifier",
    "missing_sensitive": "missing sensitive",
    "multiple_sensitive": "multiple sensitive",
    "others_as_quasi_identifiers": "others as quasi-identifiers",
    "own_category": "own category",
    "per_attribute": "per attribute",
    "known_rows": "known rows",
    "suppressed": "suppressed",
    "reference": "reference",
    "release": "this release",
}


def _convention(name: str, value: str) -> str:
    """A convention with its value in words."""
    name, value = (WORDS_OF_CONVENTIONS.get(one, one.replace("_", " ")) for one in (name, value))
    return say("{name:text}: {value:text}", name=name, value=value)


WITHHELD = "Lists of values in the policy are cells of the release; they are counted here, not shown."


def blocks(audit: Audit) -> Iterator[Group]:
    """What a reader looks up, not what they read."""
    policy, withheld = shown_policy(audit.policy.text, show_values=audit.shows_values)
    parts: list[Block] = [Heading("Policy as given")]
    if withheld:
        parts.append(Paragraph(WITHHELD, style="note"))
    parts.append(Lines(policy, audit.policy.name, style="policy"))
    parts += risk_tables(audit)
    if (tried := conventions_tried(audit)) is not None:
        parts += [Heading("Conventions tried"), tried]
    if flows := [block for number, one in enumerate(audit.expectations, 1) for block in flow_of(one, number)]:
        parts += [Heading("How the worst groups differ"), Paragraph(FLOW, style="note"), *flows]
    if audit.has_records:
        parts += [Heading("An independent check"), Paragraph(INDEPENDENT, code=verifier_digest())]
    parts += [Heading("Environment"), Definitions(_environment(audit))]
    yield Group(parts, page_only=True)


INDEPENDENT = (
    "The page that tcdp-audit verifier prints computes the demands again, without this program: save it as "
    "verify.html, open it, choose the release and this report. Its SHA-256 must be"
)
FLOW = (
    "The least work that turns the mix of the worst group into that of the reference. Values have their places in the "
    "order of the attribute, from 1, never their names. Each share times its cost is work; all work is the distance."
)


def flow_of(outcome: Outcome, number: int) -> Iterator[Rows]:
    """The moves of an outcome's worst group in exact fractions; nothing without a flow, or of very many values.

    The number is that of the expectation in the policy.
    """
    moves = moves_of(outcome)
    if moves is None:
        return
    name = f"{number}. {outcome.title or outcome.check}, {visible(outcome.attribute or '')}".rstrip(", ")
    if not moves and outcome.observed:
        return  # its values are too many to list their moves
    work = [(Fraction(one["share"]), Fraction(one["cost"])) for one in moves]
    body = [
        [f"{one['from']} to {one['to']}", str(share), str(cost), str(share * cost)]
        for one, (share, cost) in zip(moves, work, strict=True)
    ]
    total = sum((share * cost for share, cost in work), Fraction(0))
    yield figure_table(
        name, ("places", "share", "cost", "work"), [*body, ["all", "", "", f"{total} ({figure(float(total))})"]]
    )


def _of_digest(name: str) -> str:
    """The label of a digest: `SHA-256 of the hierarchy of 'diagnosis'`."""
    kind, _, column = name.partition(" of ")
    if kind == "hierarchy":
        return say("SHA-256 of the hierarchy of {column}", column=column)
    return f"SHA-256 of the {name}"


def _environment(audit: Audit) -> Pairs:
    about = tool()
    infos = [
        (
            f"plugin {info.name}",
            visible(f"{info.distribution} {info.version}".strip()) + (", not in use" if info.error else ""),
        )
        for info in audit.plugins.infos
        if info.is_external or info.error
    ]
    tables = {**audit.release.tables, **{n: t for n, t in audit.companions.items() if n in audit.figures}}
    of_figures = [(f"table {visible(name)}", table.sha256 or "unknown") for name, table in tables.items()]
    digests = [
        *(of_figures if audit.figures else []),
        *((visible(one.title), one.sha256) for one in audit.files),
    ]
    sums = [(_of_digest(name), digest) for name, digest in digests]
    return [("auditor", by_tool()), ("Python", about["python"]), *about["libraries"].items(), *infos, *sums]
