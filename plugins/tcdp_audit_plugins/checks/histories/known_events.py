"""Known events: an intruder who knows a few events of a person finds enough others who have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tcdp_audit.plugin.check import (
    Check,
    DisclosureType,
    Limit,
    Need,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.histories.combinations import Ordered
from tcdp_audit_plugins.checks.histories.knowledge import KnowledgeOfSize, knowledge_of, known_at
from tcdp_audit_plugins.checks.histories.reading import (
    KnownEventsParameters,
    ReadEvents,
    attribute_faults,
    block_for,
    event_details,
    failing_units,
    known_of_events,
    once_each,
    read_events,
    require_events,
    time_faults,
    tolerance_faults,
)
from tcdp_audit_plugins.checks.histories.sample import known_sample, too_many
from tcdp_audit_plugins.checks.histories.sensitive import SensitiveValues, attribute_of, secret_faults
from tcdp_audit_plugins.checks.histories.windows import known_windows
from tcdp_audit_plugins.guides import built_in_guide


def known_events(view: TableView, parameters: KnownEventsParameters) -> TableFigure:
    """The least number of units that have any at most m events which one of them has.

    An intruder knows what is always known of a unit and m of its events, and not whether there were others. A unit with
    fewer events counts with all of them. With `window`, it is all events of a period, and that there were no others.

    Returns:
        An exact whole number of units; under the further limit `C` the largest share of these units with one value.

    Raises:
        CheckError: there is no event, nothing is known of one, there is no time where one is needed, or combinations
            are more than 10^9 and a sample of them decides nothing.

    Cost: O(combinations of m events that units have) in time, and blocks of them in memory.

    Source: Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008 (sets); Mohammed, Fung, Debbabi, Walking in the crowd, CIKM
    2009 (LKC for trajectories).
    """
    inferring, name = _infers(parameters), attribute_of(parameters.attribute, view.policy.document)
    rows = view.events(parameters.attributes, attribute=name, table=parameters.table)
    order = parameters.order == "sequence"
    require_events(view, rows, at=parameters.tolerance is not None or parameters.window is not None, order=order)
    sensitive = SensitiveValues.of(view, rows, name, parameters.values, needed=inferring)
    if parameters.window is not None:
        return known_windows(rows, parameters, sensitive)
    read = read_events(rows, parameters.tolerance, order=order)
    if parameters.repeats == "ignored":
        read = once_each(read)
    most = min(parameters.m, int(read.events.lengths.max()))
    amounts = [one * _compared_with(read) for one in Ordered.of(read.events, most).amounts(most)]
    if too_many(amounts):
        return known_sample(view, read, parameters, sensitive, amounts)
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
    """The mean number of events near to one, where combinations are compared with these; otherwise 1."""
    return 1.0 if read.nearby is None else float(read.nearby.amounts[read.events.label].mean())


def _figure(
    read: ReadEvents,
    sizes: Sequence[KnowledgeOfSize],
    parameters: KnownEventsParameters,
    sensitive: SensitiveValues,
) -> TableFigure:
    events, last = read.events, sizes[-1]
    details: dict[str, Any] = {
        **event_details(read),
        "sizes": [_of_size(one, parameters) for one in sizes],
        "smallest_knowledge": known_at([*sizes], events.alike),
    }
    confidences = [one.confidence for one in sizes if one.confidence is not None]
    details |= sensitive.details(max(confidences, default=None))
    return TableFigure(
        Fraction(int(last.supports.min())),
        events.units,
        failing_units(last.supports, last.inferred, parameters),
        details=details,
        distribution=distribution_of(last.supports, np.ones(events.units, np.int64)),
        further={"C": max(confidences, default=Fraction(0))},
        violation=sensitive.violation,
    )


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


def _infers(parameters: KnownEventsParameters) -> bool:
    """Whether something is asked about a sensitive attribute."""
    return parameters.C is not None or parameters.values is not None


def _faults(parameters: KnownEventsParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from attribute_faults(parameters, document)
    yield from secret_faults(parameters.attribute, document, is_needed=_infers(parameters))
    yield from tolerance_faults(parameters, parameters.m, "m", document)
    if parameters.order == "sequence" and parameters.tolerance is not None:
        yield "tolerance", "is about times, and with `order: sequence` only their order is known; choose one of them"
    if parameters.order == "sequence":
        yield from time_faults(parameters, "order", document)
    if parameters.window is not None:
        yield from time_faults(parameters, "window", document)
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
        reads_known=known_of_events,
        validate=_faults,
        needs={Need.UNIT, Need.PARTITION, Need.DISTINCT},
        history_reading=lambda parameters: "events" if parameters.m > 1 or parameters.window is not None else "rows",
        sentences=Sentences(
            passed="{finds}[{C?}; at most {certainty} of them have the same value of {sensitive:column}].",
            failed="{intruder_here} {does}; {worst}{certain}.",
            measured="{finds}{certain}.",
            impact=(
                "{intruder_here} narrows them down to {observed:{unit}} where the fewest match; a guess is right with "
                "{guess:chance} there."
            ),
            values=_values,
            parts={
                "intruder_here": (
                    "An intruder who knows {known} of [{window?}all events of {person} in one window of time|"
                    "[{m=1?}one event|any {m} events] of {person}]"
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
