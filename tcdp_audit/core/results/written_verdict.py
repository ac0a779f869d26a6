"""The verdict of a written result, derived again from its outcomes, and contradictions in the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tcdp_audit.core.base.outcome import (
    CELL_DEMANDS,
    CELLS_AGREE,
    COLUMN_DEMANDS,
    CONTENTS,
    FILE_DEMANDS,
    FURTHER_CONTENT,
    LEFT_OUT,
    LINK_DEMANDS,
    LINKABLE_ORDER,
    LINKED_ROWS,
    STRUCTURE,
    UNDECLARED_IDENTIFIERS,
    Comparison,
    Outcome,
    Severity,
    Status,
)
from tcdp_audit.core.base.provenance import tool
from tcdp_audit.core.base.words import visible
from tcdp_audit.core.results.conditions import Condition, JudgedOutcome, Kind, conditions_of
from tcdp_audit.core.results.linked_tables import sentence_of_figures, sentence_of_tables
from tcdp_audit.core.results.tally import status_of, tally_of
from tcdp_audit.core.results.verdict import title_of
from tcdp_audit.core.results.written import Entry, has_records, is_structural, useless_in, verdict_in


def is_approval(result: Mapping[str, Any]) -> bool:
    """Whether a written result approves its file as it is, and not only after a further step."""
    return verdict_in(result) == "passed" and not any(one.kind is Kind.ONCE for one in conditions_in(result))


def title_in(result: Mapping[str, Any]) -> str:
    """The verdict of a written result, derived from its outcomes; its own title is ignored."""
    return title_of(verdict_in(result), useless_in(result), conditions_in(result))


def conditions_in(result: Mapping[str, Any]) -> tuple[Condition, ...]:
    """The conditions under which the release of a written result is fit."""
    return conditions_of(
        JudgedOutcome(str(one["check"]), one["source"], Status(one["status"]), one["details"])
        for one in result["outcomes"]
    )


EXACT = (
    1e-9  # a figure this near to its threshold, relative to it, was decided by exact numbers that JSON does not hold
)
COUNTED = {"passed": "passed", "failed": "failed", "errors": "error", "skipped": "skipped", "measured": "measured"}
FATAL = frozenset(
    {"missing_columns", "undeclared_columns", "present_identifiers", "wrong_scale", "outside_hierarchy", *LINK_DEMANDS}
)


def contradictions(result: Mapping[str, Any]) -> Iterator[str]:
    """The contradictions in a result, as sentences that quote only names of checks.

    Figures are not computed again: a result without a contradiction can still be false.

    Args:
        result: a result in the form of the published JSON contract.
    """
    outcomes: Sequence[Entry] = result["outcomes"]
    if has_records(result):
        if result["release"]["records"] < 1 or result["release"]["columns"] < 1:
            yield "its release has no record or no column"
    elif not any(one["cells"] for one in result.get("tables_of_figures", {}).values()) and not result.get("models"):
        yield "its tables of figures have no cell"
    yield from _of_columns(result, outcomes)
    tables = result["release"].get("tables", {})
    records = max([result["release"]["records"], *(one["records"] for one in tables.values())])
    for number, one in enumerate(outcomes, 1):
        name = f"outcome {number}, {visible(str(one['check']))[:40]},"
        yield from (f"{name} {sentence}" for sentence in _of_outcome(one, records))
    if status_of([_outcome(one) for one in outcomes]) != result["status"]:
        yield "its status is not what its outcomes give"
    yield from _of_words(result, outcomes)


def _of_columns(result: Mapping[str, Any], outcomes: Sequence[Entry]) -> Iterator[str]:
    """Check that there is an outcome for each check of columns and tables; another version may have further ones."""
    named = Counter(str(one["check"]) for one in outcomes if is_structural(one))
    needed: dict[str, tuple[str, ...]] = {"columns": COLUMN_DEMANDS if has_records(result) else ()}
    needed["tables of figures"] = CELL_DEMANDS if result.get("tables_of_figures") else ()
    for what, demands in needed.items():
        missing = [name for name in demands if named[name] != 1]
        if missing and (_is_ours(result) or len(missing) == len(demands)):
            yield f"it does not have one outcome of each demand on {what} ({', '.join(missing)})"
    is_linked = has_records(result) and "tables" in result["release"]
    if _is_ours(result) and is_linked and any(named[name] != 1 for name in LINK_DEMANDS):
        yield f"it does not have one outcome of each demand on links ({', '.join(LINK_DEMANDS)})"
    if _is_ours(result) and set(named) - {
        *needed["columns"],
        *needed["tables of figures"],
        *LINK_DEMANDS,
        *FILE_DEMANDS,
    }:
        yield "it has a demand on columns that there is not"


def _of_outcome(one: Entry, records: int) -> Iterator[str]:
    if is_structural(one):
        yield from _of_cells(one) if one["check"] in CELL_DEMANDS else _of_structure(one)
    for kind in ("classes", "records", "cells"):
        tally = one.get(kind)
        if tally is not None and not 0 <= (tally["failing"] or 0) <= tally["total"]:
            yield f"counts more {kind} that fail than there are"
    if one["records"] is not None and one["records"]["total"] > records and not is_structural(one):
        yield "counts more records than the release has"
    if one["status"] == "passed":
        yield from _of_passed(one)


def _of_cells(one: Entry) -> Iterator[str]:
    """Contradictions of a check of tables of figures: it passes without a finding, and only the last one is skipped."""
    allowed = ("failed", "skipped") if one["check"] == CELLS_AGREE else ("error",)
    if one["status"] == "skipped" and one["check"] == CELLS_AGREE:
        return
    if one["status"] not in ("passed", *allowed) or bool(one["observed"]) is (one["status"] == "passed"):
        yield "does not have the status that its findings give"
    if one["status"] == "failed" and one["severity"] != "error":
        yield "only warns, which this demand never does"


def _of_structure(one: Entry) -> Iterator[str]:
    columns = one["details"].get("columns")
    if one["check"] == UNDECLARED_IDENTIFIERS and one["status"] == "skipped":
        return  # no column was examined, which the verdict states
    if not isinstance(columns, list) or one["status"] not in ("passed", "failed"):
        yield "does not say which columns it is about"
        return
    of_records = one["check"] == LINKABLE_ORDER and one["status"] == "failed"  # the order of records is in no column
    held = one["details"].get(CONTENTS) if one["check"] == FURTHER_CONTENT else ()  # and neither is this
    wrong = len(columns) + of_records + (len(held) if isinstance(held, list) else 0)
    if one["observed"] != wrong or bool(wrong or one["details"].get(LEFT_OUT)) is (one["status"] == "passed"):
        yield "does not have the status that its columns give"
    if one["status"] == "failed" and one["severity"] != "error" and one["check"] in FATAL:
        yield "only warns, which this demand never does"


def _of_passed(one: Entry) -> Iterator[str]:
    """Contradictions of a passed demand."""
    keeps = _keeps(one["observed"], one)
    if keeps is False:
        yield "passed with a figure that does not keep its threshold"
    tallies = [one[kind] for kind in ("classes", "records") if one[kind] is not None]
    if one.get("cells") is not None and one["cells"]["total"] == 0 and not is_structural(one):
        yield "passed without a cell"
    if any(tally["total"] == 0 for tally in tallies if not is_structural(one)):
        yield "passed without a record"
    of_classes = one["classes"] is not None  # a figure of the whole release may pass although some records fail
    failing = [tally for tally in tallies if tally["failing"] and (of_classes or tally["failing"] == tally["total"])]
    if failing and not _allows_some(one):
        yield "passed although records of it fail"


def _allows_some(one: Entry) -> bool:
    """Whether a demand limits the share of failing records: its figure then is about records, not classes."""
    return one["comparison"] in ("<=", "<") and one["threshold"] is not None and "at_most" in one["parameters"]


def _keeps(observed: Any, one: Entry) -> bool | None:
    """Whether a figure satisfies the threshold; None if that cannot be decided."""
    if one["comparison"] is None or one["threshold"] is None or one["source"] == STRUCTURE:
        return None
    if observed is None:
        return False
    figure, threshold = _number(observed), _number(one["threshold"])
    if abs(figure - threshold) <= EXACT * max(1.0, abs(threshold)) or figure == threshold:
        return None
    return bool(Comparison(one["comparison"]).holds(1 if figure > threshold else -1))


def _number(value: Any) -> float:
    """A figure of the contract: a number, or infinity as a text."""
    return float({"infinity": "inf", "-infinity": "-inf"}.get(value, "nan") if isinstance(value, str) else value)


def _of_words(result: Mapping[str, Any], outcomes: Sequence[Entry]) -> Iterator[str]:
    """Check the parts that follow from the outcomes; older results have fewer of them."""
    counted = Counter(str(one["status"]) for one in outcomes)
    if any(result["summary"].get(name, 0) != counted[status] for name, status in COUNTED.items()):
        yield "its summary is not what its outcomes give"
    failing = [number for number, one in enumerate(outcomes) if (one["status"], one["severity"]) == ("failed", "error")]
    exposed = result.get("exposed")
    if isinstance(exposed, Mapping) and exposed and _positions(exposed) != failing:
        yield "the people that it calls exposed are not those of the demands that fail"
    verdict = result.get("verdict")
    if not isinstance(verdict, Mapping):
        return
    if verdict.get("state") != ("failed" if failing else result["status"]) or verdict_in(result) != verdict["state"]:
        yield "its verdict is not what its outcomes give"
    elif _is_ours(result) and verdict.get("title") != title_in(result):
        yield "its verdict has another title than its outcomes give"
    elif _is_ours(result) and result["status"] == "passed" and verdict.get("sentence") != _sentence(result, outcomes):
        yield "its verdict has another sentence than its outcomes give"


def _sentence(result: Mapping[str, Any], outcomes: Sequence[Entry]) -> str:
    """The sentence of a verdict that passes: on several tables, on tables of figures, and on the demands."""
    linked: Mapping[str, Any] = next((one["details"] for one in outcomes if one["check"] == LINKED_ROWS), {})
    try:
        of_tables = sentence_of_tables(linked)
    except (
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
    ):  # the figures that it names are not there, or are no figures
        of_tables = ""
    with_microdata = any(one["check"] == CELLS_AGREE and one["status"] != "skipped" for one in outcomes)
    sizes, models = result.get("tables_of_figures", {}), result.get("models", ())
    of_figures = sentence_of_figures(sizes, models, with_microdata=with_microdata)
    return " ".join(filter(None, (of_tables, of_figures, tally_of(map(_outcome, outcomes)).sentence)))


def _positions(exposed: Mapping[str, Any]) -> list[int]:
    """The failing demands that a number of people refers to."""
    listed = [one for name in ("counted", "left_out") if isinstance(exposed.get(name), list) for one in exposed[name]]
    return sorted(one["outcome"] for one in listed if isinstance(one, Mapping) and isinstance(one.get("outcome"), int))


def _outcome(one: Entry) -> Outcome:
    """An outcome with the fields that the status depends on."""
    status, severity = Status(one["status"]), Severity(one["severity"])
    return Outcome(check=one["check"], status=status, severity=severity, source=one["source"])


def _is_ours(result: Mapping[str, Any]) -> bool:
    """Whether this version wrote a result."""
    return bool(result["tool"]["version"] == tool()["version"])
