"""What detectors say of the columns of a table, and what columns add to the records that are alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from tcdp_audit.api import Plugins, Strengths, strengths_of
from tcdp_audit.drafting.roles import Evidence
from tcdp_audit.drafting.words import topic_of
from tcdp_audit.plugin.detector import Detection, Role, detect
from tcdp_audit.plugin.engine import Engine
from tcdp_audit.plugin.sentences import count, listing, share

OF_FORM = ("record_number", "record_code")  # say that values are one a record, which a word of the name explains better


def identified(
    engine: Engine,
    plugins: Plugins,
    tokens: Collection[str],
    columns: Sequence[str],
    progress: Callable[[str, int, int], None],
) -> dict[str, Evidence]:
    """What detectors say of each column, as far as they say anything.

    Args:
        engine: the table.
        plugins: with the detectors.
        tokens: texts that stand for a missing value.
        columns: those to look at.
        progress: called with (step, columns done, in all).
    """
    evidence = {}
    for number, name in enumerate(columns):
        progress("identifiers looked for", number, len(columns))
        evidence[name] = _of(name, engine, plugins, tokens)
    progress("identifiers looked for", len(columns), len(columns))
    return evidence


def _of(name: str, engine: Engine, plugins: Plugins, tokens: Collection[str]) -> Evidence:
    found = detect(engine, plugins.detectors.values(), [name], missing=tokens)
    direct = found.of_role(Role.IDENTIFIER).get(name)
    known = found.of_role(Role.QUASI_IDENTIFIER).get(name)
    return Evidence(
        detected="" if direct is None or not _counts(direct) else direct.reason,
        known="" if known is None else known.reason,
        open_question=next((one.reason for one in found.undecided), ""),
    )


def _counts(detection: Detection) -> bool:
    """Whether a detection says more than the name of a column that speaks of something else."""
    topic = topic_of(detection.column)
    named_otherwise = topic is not None and topic.role is not Role.IDENTIFIER and not detection.is_named
    return not (named_otherwise and detection.detector.name in OF_FORM)


def strengths_among(
    engine: Engine, columns: Sequence[str], tokens: Collection[str], progress: Callable[[str, int, int], None]
) -> Strengths | None:
    """How well columns that somebody may know tell records apart; None where there is none.

    Args:
        engine: the table.
        columns: those that may count.
        tokens: texts that stand for a missing value.
        progress: called with (step, columns done, in all).
    """
    if not columns:
        return None
    progress("combinations of columns", 0, len(columns))
    found = strengths_of(engine, columns, tokens)
    progress("combinations of columns", len(columns), len(columns))
    return found


def with_strength(name: str, evidence: Evidence, found: Strengths | None) -> Evidence:
    """Evidence with the column's part of the share of records that are alone, by its Shapley value."""
    own = next((one for one in found.contributions if one.attribute == name), None) if found else None
    if found is None or own is None or not found.whole.unique:
        return evidence
    part = max(0.0, min(1.0, float(own.shapley / float(found.whole.unique))))
    return replace(evidence, strength=part, strength_note=_sampled(found))


def strength_note(found: Strengths) -> str:
    """What all columns together tell, and which few tell most."""
    columns = count(len(found.contributions), "quasi-identifier or undecided column")
    alone = f"{columns} together leave {share(float(found.whole.unique), 1)} of the records alone"
    sets = [one for one in found.sets if len(one.attributes) < len(found.contributions)]
    if not sets or not found.whole.unique:
        return f"{alone}."
    best = max(sets, key=lambda one: float(one.unique))
    names = listing([repr(one) for one in best.attributes])
    return f"{alone}; of up to {len(best.attributes)}, {names} most: {share(float(best.unique), 1)}{_sampled(found)}."


def _sampled(found: Strengths) -> str:
    return "" if found.sample is None else ", estimated from a sample"
