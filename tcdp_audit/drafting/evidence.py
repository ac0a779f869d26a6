"""What detectors say of the columns of a table, as evidence for their roles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from tcdp_audit.detection.detecting import Detection, detect
from tcdp_audit.drafting.roles import Evidence
from tcdp_audit.drafting.words import topic_of
from tcdp_audit.engines import Engine
from tcdp_audit.policy import Role
from tcdp_audit.registry import Plugins

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
