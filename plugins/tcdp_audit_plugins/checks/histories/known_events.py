"""Known events: an intruder who knows a few events of a person finds enough others who have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import (
    Check,
    DisclosureType,
    Limit,
    Need,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences, count
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.histories.combinations import Ordered
from tcdp_audit_plugins.checks.histories.events import Flags, UnitRows, events_of
from tcdp_audit_plugins.checks.histories.knowledge import NONE, KnowledgeOfSize, knowledge_of, known_at
from tcdp_audit_plugins.checks.histories.reading import (
    EventParameters,
    ReadEvents,
    block_for,
    event_details,
    generator_of,
    once_each,
    read_events,
    require_events,
    table_faults,
    tolerance_faults,
)
from tcdp_audit_plugins.checks.histories.sample import SampledKnowledge, sampled_knowledge
from tcdp_audit_plugins.checks.histories.sensitive import SensitiveValues, attribute_of
from tcdp_audit_plugins.checks.histories.windows import in_windows
from tcdp_audit_plugins.guides import built_in_guide

MOST = 10**9  # combinations, or comparisons of them with units, up to which all are looked at


class KnownEventsParameters(EventParameters):
    """Parameters of `known_events`."""

    k: Annotated[
        int | None, Field(ge=1, description="The least number of units that have any events that one of them has.")
    ] = None
    m: Annotated[int, Field(ge=1, description="How many events of a unit an intruder knows, at the most.")] = 3
    C: Annotated[
        Exact | None,
        Field(gt=0, le=1, description="The largest share of the units with some known events that have one value."),
    ] = None
    attribute: Annotated[
        Text | None,
        Field(description="The sensitive attribute that may be inferred; by default the only one that there is."),
    ] = None
    values: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The values of `attribute` that must not be inferred; by default every one."),
    ] = None
    repeats: Annotated[
        Literal["counted", "ignored"],
        Field(description="Whether an intruder knows how often equal events occurred, or only that they did."),
    ] = "counted"
    order: Annotated[
        Literal["none", "sequence"],
        Field(description="With `sequence`, the order of the events is known in the place of their times."),
    ] = "none"
    window: Annotated[
        Exact | None,
        Field(
            gt=0, description="All events of a period of this length are known (in days for dates), whatever `m` is."
        ),
    ] = None


def known_events(view: TableView, parameters: KnownEventsParameters) -> TableFigure:
    """The least number of units that have any at most m events which one of them has.

    An intruder knows what is always known of a unit and m of its events, and not whether there were others. A unit with
    fewer events counts with all of them. With `window`, it is all events of a period, and that there were no others.

    Returns:
        An exact whole number of units; under the further limit `C` the largest share of these units with one value.

    Raises:
        CheckError: there is no event, no time where one is needed, or combinations are more than 10^9 and a sample of
            them decides nothing.

    Cost: O(combinations of m events that units have) in time, and blocks of them in memory.

    Source: Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008 (sets); Mohammed, Fung, Debbabi, Walking in the crowd, CIKM
    2009 (LKC for trajectories).
    """
    inferring = parameters.C is not None or parameters.values is not None
    name = attribute_of(view, parameters.attribute, needed=inferring)
    rows = view.events(parameters.attributes, attribute=name, table=parameters.table)
    require_events(view, rows)
    sensitive = SensitiveValues.of(view, rows, name, parameters.values, needed=inferring)
    if parameters.window is not None:
        return _in_windows(rows, parameters, sensitive)
    read = read_events(rows, parameters.tolerance, order=parameters.order == "sequence")
    if parameters.repeats == "ignored":
        read = once_each(read)
    most = max(min(parameters.m, int(read.events.lengths.max(initial=0))), 1)
    amounts = np.array(Ordered.of(read.events, most).amounts(most)) * _compared_with(read)
    if amounts.sum() > MOST:
        return _of_sample(view, read, parameters, sensitive, amounts.tolist())
    sizes = knowledge_of(
        read.events,
        parameters.m,
        secrets=sensitive.secrets,
        confidence=parameters.C,
        nearby=read.nearby,
        block=block_for(view, most),
    )
    return _figure(read, sizes, parameters, sensitive)


def _compared_with(read: ReadEvents) -> float:
    """How many events are near to one in the mean, where combinations are compared with these; otherwise 1."""
    return 1.0 if read.nearby is None else float(read.nearby.amounts[read.events.label].mean())


def _figure(
    read: ReadEvents,
    sizes: Sequence[KnowledgeOfSize],
    parameters: KnownEventsParameters,
    sensitive: SensitiveValues,
) -> TableFigure:
    events, last = read.events, sizes[-1] if sizes else None
    supports = events.alike if last is None else last.supports
    details: dict[str, Any] = {
        **event_details(read),
        "sizes": [_of_size(one, parameters) for one in sizes],
        "smallest_knowledge": known_at([*sizes], events.alike),
    }
    confidences = [one.confidence for one in sizes if one.confidence is not None]
    details |= sensitive.details(max(confidences, default=None))
    inferred = np.zeros(events.units, bool) if last is None else last.inferred
    return TableFigure(
        Fraction(int(supports.min())),
        events.units,
        _failing(supports, inferred, parameters),
        details=details,
        distribution=distribution_of(supports, np.ones(events.units, np.int64)),
        further={"C": max(confidences, default=Fraction(0))},
        violation=sensitive.violation,
    )


def _failing(supports: Counts, inferred: Flags, parameters: KnownEventsParameters) -> int | None:
    if parameters.k is None and parameters.C is None:
        return None
    return int(((supports < (parameters.k or 0)) | inferred).sum())


def _of_size(one: KnowledgeOfSize, parameters: KnownEventsParameters) -> dict[str, Any]:
    """The figures of a size, by documented names."""
    figures: dict[str, Any] = {
        "size": one.size,
        "combinations": one.combinations,
        "smallest_support": int(one.supports.min()),
        "alone": int((one.supports == 1).sum()),
    }
    if parameters.k is not None:
        figures["exposed"] = int((one.supports < parameters.k).sum())
    if one.confidence is not None:
        figures["confidence"] = one.confidence
    if parameters.C is not None:
        figures["inferred"] = int(one.inferred.sum())
    return figures


def _in_windows(rows: UnitRows, parameters: KnownEventsParameters, sensitive: SensitiveValues) -> TableFigure:
    """What all events of one window reveal."""
    if rows.time is None:
        raise CheckError("`window` needs the times of events; name their column in the policy as `time:`")
    events = events_of(rows, timed=True)
    assert parameters.window is not None and events.without_time is not None  # noqa: S101, PT018
    if events.without_time.all():
        raise CheckError("no event has a time, so that none is in a window")
    if parameters.repeats == "ignored":
        events = events.once_each()
    of_windows, windows = in_windows(events, parameters.window / rows.step, sensitive.secrets, parameters.C)
    has = of_windows.supports < NONE
    missing = int(rows.without_time.sum())
    details: dict[str, Any] = {
        **event_details(ReadEvents(events, None, missing, rows)),
        "windows": windows,
        "alone": int((of_windows.supports == 1).sum()),
    }
    details |= sensitive.details(of_windows.confidence)
    return TableFigure(
        Fraction(int(of_windows.supports.min())),
        rows.units,
        _failing(of_windows.supports, of_windows.inferred, parameters),
        details=details,
        distribution=distribution_of(of_windows.supports[has], np.ones(int(has.sum()), np.int64)),
        further={"C": of_windows.confidence or Fraction(0)},
        violation=sensitive.violation,
    )


def _of_sample(
    view: TableView,
    read: ReadEvents,
    parameters: KnownEventsParameters,
    sensitive: SensitiveValues,
    amounts: Sequence[float],
) -> TableFigure:
    """A failure that a sample proves, or a pass that whole histories prove.

    Raises:
        CheckError: neither proves anything.
    """
    events, nearby = read.untimed
    k, size = parameters.k, len(amounts)
    sample = sampled_knowledge(
        events, size, nearby, generator_of(view), k=k or 0, secrets=sensitive.secrets, most=parameters.C
    )
    bound = _bound(read, parameters)
    fails = (k is not None and sample.support < k) or (
        parameters.C is not None and sample.confidence is not None and sample.confidence > parameters.C
    )
    if not fails and (k is None or parameters.C is not None or bound < k):
        raise CheckError(_undecided(sample, bound, amounts, compared=read.nearby is not None))
    details = {
        **event_details(read),
        "sampled": True,
        "combinations": round(sum(amounts)),
        "sampled_units": sample.units,
        "sampled_combinations": sample.combinations,
        "smallest_support_sampled": sample.support,
        "smallest_class": bound,
        "seed": view.policy.document.seed,
        **sensitive.details(sample.confidence),
    }
    return TableFigure(
        Fraction(sample.support if fails else bound),
        events.units,
        sample.exposed if fails else 0,
        details=details,
        further={"C": sample.confidence or Fraction(0)},
        violation=sensitive.violation,
    )


def _bound(read: ReadEvents, parameters: KnownEventsParameters) -> int:
    """A lower bound of the figure: equal whole histories have equal parts.

    Where times are used that are no part of a history, equal histories may have other ones, and nothing is known.
    """
    rows = read.rows
    used = parameters.order == "sequence" or parameters.tolerance is not None
    return 1 if used and rows.time_column not in rows.codes else int(rows.least_class)


def _undecided(sample: SampledKnowledge, bound: int, amounts: Sequence[float], *, compared: bool) -> str:
    """What was looked at, why that decides nothing, and what would."""
    sums = np.cumsum(amounts).tolist()
    fits = [size for size, amount in enumerate(sums, 1) if amount <= MOST]
    number = f"{round(sums[-1]):,}" if sums[-1] < 10**15 else f"{sums[-1]:.2g}"
    what = "comparisons with combinations" if compared else "combinations"
    return (
        f"{number} {what} of at most {count(len(amounts), 'event')} are too many to look at all of them ({MOST:,} at "
        f"the most); the rarest of {sample.combinations:,} in a sample occurs in {sample.support:,} histories, and the "
        f"smallest class of equal whole histories is of {bound:,}, which decides nothing; "
        + (f"lower `m` to {max(fits)}" if fits else "make the events coarser, or histories shorter")
    )


def _faults(parameters: KnownEventsParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from table_faults(parameters, document)
    yield from tolerance_faults(parameters, parameters.m, "m", document)
    if parameters.order == "sequence" and parameters.tolerance is not None:
        yield "tolerance", "is about times, and with `order: sequence` only their order is known; choose one of them"
    if parameters.window is not None:
        if parameters.order == "sequence":
            yield "order", "a `window` is known by what it holds, not by the order of it; choose one of them"
        if parameters.tolerance is not None:
            yield "tolerance", "the events of a `window` are known without an error; choose one of them"


def _values(outcome: Outcome) -> Mapping[str, Any]:
    """The units that are alone by the most events that may be known, and by how many events no one is."""
    sizes = outcome.details.get("sizes", [])
    safe = [one["size"] for one in sizes if not one["alone"]]
    alone = outcome.details.get("alone", sizes[-1]["alone"] if sizes else 0)
    return {"alone": alone, "safe": max(safe, default=0)}


CHECKS: list[Check] = [
    TableCheck(
        name="known_events",
        title="Known events",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=KnownEventsParameters,
        measure=known_events,
        threshold="k",
        comparison=Comparison.AT_LEAST,
        label="least number of units with the same few events",
        worst=lambda _, __: Fraction(1),
        further=(Limit("C", Comparison.AT_MOST, "largest share of one sensitive value among such units"),),
        needs_quasi_identifiers=False,
        validate=_faults,
        needs={Need.PARTITION, Need.DISTINCT},
        sentences=Sentences(
            passed="{finds}[{C?}; at most {certainty} of them have the same value of {sensitive:column}].",
            failed="{intruder_here} {does}; {worst}{certain}.",
            measured="{finds}{certain}.",
            impact=(
                "{intruder_here} narrows them down to {observed:{unit}} at worst; a guess is right with {guess:chance}."
            ),
            values=_values,
            parts={
                "intruder_here": (
                    "An intruder who knows {known} of [{window?}all events of {person} in one window of time|[{m=1?}one "
                    "event|any {m} events] of {person}]"
                ),
                "finds": (
                    "{intruder_here} finds at least {observed:{unit}} with the same"
                    "[{sampled?}, because no fewer have the same whole history]"
                ),
                "does": (
                    "[{k?}narrows {of_all} down to fewer than {k:{unit}}[{C?}, or infers {sensitive:column} with more "
                    "than {C:%} confidence]|infers {sensitive:column} of {of_all} with more than {C:%} confidence]"
                ),
                "of_all": "[{sampled?}at least ]{failing/records:{unit}}",
                "worst": "the least is {observed:{unit}}[{C?}, the largest share of a value {certainty}]",
                "certain": (
                    "[{alone>0?}; {alone:{unit}} {alone:is|are} found for certain[{safe>0?}, and no one by "
                    "{safe:event}]]"
                ),
                "certainty": "{details.confidence:% against C}",
            },
        ),
        guide=built_in_guide(__file__, "known_events.md"),
    )
]
