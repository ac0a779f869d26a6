"""Re-identification risk against a prosecutor, a journalist and a marketer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.sentences import Outcome, Sentences
from tcdp_audit_plugins.checks._shared.sampling import (
    TRIED,
    chances_tried,
    covering_population,
    details_of_attempt,
    distribution_of,
    mean_of_reciprocals,
)
from tcdp_audit_plugins.guides import built_in_guide


class ReidentificationParameters(Parameters):
    """Parameters of `reidentification_risk`."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest risk; for `share_above`, the largest share of records or units."),
    ] = None
    measure: Annotated[
        Literal["highest", "average", "share_above"],
        Field(description="The highest risk of a record, the average one, or the share above `threshold_risk`."),
    ] = "highest"
    scenario: Annotated[
        Literal["prosecutor", "journalist", "marketer"],
        Field(
            description="Who tries: someone who knows the person is in the release, who does not, or who wants many."
        ),
    ] = "prosecutor"
    threshold_risk: Annotated[
        Exact | None, Field(gt=0, le=1, description="The risk above which a record counts for `share_above`.")
    ] = None

    def in_scenario(self, document: PolicyDocument) -> Self:
        """An intruder who does not know who is in the release is a journalist, unless the policy says who it is."""
        own = super().in_scenario(document)
        one = document.scenario
        if one is None or one.in_release == "known" or "scenario" in self.model_fields_set:
            return own
        return own.model_copy(update={"scenario": "journalist"})


@dataclass(frozen=True)
class RiskClasses:
    """Classes whose records have the risk 1/size each."""

    records: Counts  # records of each class of the release. Shape (classes,).
    size: Counts  # the records (or entities) that one of them may be, in the release or in the population
    # where the policy names a unit, the size of the smallest class that each entity has a record in. Shape
    # (entities,).
    of_entities: Counts | None = None

    @property
    def highest(self) -> Fraction:
        """The highest risk of a record, which is that of an entity as well."""
        return Fraction(1, int(self.size.min()))

    @property
    def average(self) -> Fraction:
        """The average over records, or entities, exact; over the release's own classes that is classes/records."""
        if self.of_entities is None:
            return mean_of_reciprocals(self.records, self.size)
        return mean_of_reciprocals(np.ones_like(self.of_entities), self.of_entities)

    @property
    def people(self) -> int:
        """The number of records, or entities where these count once."""
        return int(self.records.sum()) if self.of_entities is None else len(self.of_entities)

    def people_above(self, risk: Fraction) -> int:
        """Records, or entities of which a record has a risk above a threshold, exactly.

        Example:
            >>> import numpy as np
            >>> records, size, of_entities = np.array([50, 2]), np.array([1, 2]), np.array([1, 2, 2])
            >>> RiskClasses(records, size, of_entities).people_above(Fraction("0.5"))
            1
        """
        if self.of_entities is None:
            return self.above(risk)
        return int((self.of_entities < ceil(1 / risk)).sum())

    def above(self, risk: Fraction) -> int:
        """Records with a risk above a threshold, exactly: a class of five is not above 0.2.

        Example:
            >>> import numpy as np
            >>> sizes = np.array([4, 5, 6])
            >>> RiskClasses(sizes, sizes).above(Fraction("0.2"))
            4
        """
        return int(self.records[self.size < ceil(1 / risk)].sum())


def _class_size(parameters: ReidentificationParameters) -> int:
    """The size of a class whose records have the highest risk that is allowed; 2 where fewer records may have more."""
    is_each = parameters.measure == "highest" and parameters.scenario == "prosecutor"
    return max(2, ceil(1 / (parameters.at_most or 1))) if is_each else 2


def _is_for_each(parameters: ReidentificationParameters) -> bool:
    """Whether no record may be above a risk in the release itself."""
    highest = parameters.measure == "highest" or (parameters.measure == "share_above" and parameters.at_most == 0)
    return highest and parameters.scenario == "prosecutor"


def _largest_allowed(parameters: ReidentificationParameters) -> Fraction | None:
    """The risk that no record, or the average of all, may be above; None where every risk but none at all is."""
    return (parameters.threshold_risk if parameters.measure == "share_above" else parameters.at_most) or None


def _required(parameters: ReidentificationParameters, document: PolicyDocument) -> int | None:
    """A prosecutor's risk is 1/f: that of no one is above r where every class has 1/r records."""
    return _sufficient(parameters, document) if _is_for_each(parameters) else None


def _sufficient(parameters: ReidentificationParameters, document: PolicyDocument) -> int | None:
    """Classes of 1/r keep every risk at r, and so the average; of the population no fewer people match.

    Where an attack is tried with a chance a, these are classes of a/r.
    """
    allowed = _largest_allowed(parameters)
    return None if allowed is None else ceil(document.attempt / allowed)


def _implied(
    parameters: ReidentificationParameters, document: PolicyDocument
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A highest risk of 1/5 in the release itself is a class size of 5."""
    size = _required(parameters, document)
    if size is not None:
        yield "k_anonymity", {"k": size}


def reidentification_risk(view: TableView, parameters: ReidentificationParameters) -> TableFigure:
    """The risk that a record is matched to its person, by scenario.

    Prosecutor: 1/f. Journalist: 1/F. Marketer: the average of 1/F where there is a population, else of 1/f.

    Raises:
        CheckError: a journalist needs a population, of which the release can be a part.

    Cost: O(n log n), with a population O(N log N).

    Source: El Emam, Dankar (2008); Dankar, El Emam (2010).
    """
    among, classes = _risk_classes(view, parameters)
    document = view.policy.document
    success: dict[str, Fraction] = {"highest": classes.highest, "average": classes.average}
    figures: dict[str, Fraction] = chances_tried(success, document)
    details: dict[str, Any] = {**figures, "classes_are_of": among, **details_of_attempt(document, success)}
    details |= {} if classes.of_entities is None else {"units": classes.people}
    failing = None
    if parameters.threshold_risk is not None:
        risk = parameters.threshold_risk / document.attempt
        above, people = classes.above(risk), classes.people_above(risk)
        figures["share_above"] = Fraction(people, classes.people)
        details |= {"records_above": above, "share_above": figures["share_above"]}
        details |= {} if classes.of_entities is None else {"units_above": people}
        failing = above if parameters.measure == "share_above" else None
    if parameters.measure == "highest" and parameters.at_most is not None:
        failing = classes.above(parameters.at_most / document.attempt) if parameters.at_most else view.records
    return TableFigure(
        value=figures[parameters.measure],
        records=view.records,
        failing=failing,
        classes=(len(classes.size), None),
        details=details,
        distribution=distribution_of(classes.size, classes.records),
    )


def _risk_classes(view: TableView, parameters: ReidentificationParameters) -> tuple[str, RiskClasses]:
    """The table where classes are counted, and the classes."""
    marketer = parameters.scenario == "marketer" and "population" in view.companions
    if parameters.scenario == "journalist" or marketer:
        classes = covering_population(view)
        return "population", RiskClasses(classes.records, classes.population)
    return "release", RiskClasses(view.classes.records, view.classes.size, view.classes.of_entities)


def _worst(measured: TableFigure, parameters: ReidentificationParameters) -> Fraction:
    """Every record is alone; no risk is above the chance of an attempt, so that a share above that is of no record."""
    attempt = Fraction(measured.details.get("attempt", 1))
    if parameters.measure != "share_above":
        return attempt * (Fraction(measured.details.get("known_fraction", 1)) if parameters.measure == "average" else 1)
    return Fraction(parameters.threshold_risk is None or parameters.threshold_risk < attempt)


def _needs(parameters: ReidentificationParameters, document: PolicyDocument) -> set[Need]:
    """Rows, where the population is counted."""
    if parameters.scenario == "journalist":
        return {Need.POPULATION_ITSELF, Need.ROWS}
    return {Need.ROWS} if parameters.scenario == "marketer" and document.population is not None else set()


def _faults(parameters: ReidentificationParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    one = document.scenario
    if one is not None and one.in_release == "unknown" and parameters.scenario == "prosecutor":
        yield "scenario", "a prosecutor knows who is in the release, and here that is unknown; leave `scenario` out"
    if parameters.scenario == "marketer" and parameters.measure != "average":
        yield "measure", "a marketer cares for many people and not for one; use `measure: average`"
    if parameters.measure == "share_above" and parameters.threshold_risk is None:
        yield "threshold_risk", "`share_above` needs the risk that records are counted above, such as 0.2"


def _values(outcome: Outcome) -> dict[str, Any]:
    """The number above the risk and the number of all; the highest and the mean risk once the attack is tried."""
    details, records = outcome.details, outcome.records
    tried = details.get("success", details)
    risks = {"top": tried["highest"], "mean": tried["average"]}
    if "units" in details:
        return {**risks, "above": details.get("units_above", 0), "total": details["units"]}
    return {**risks, "above": details.get("records_above", 0), "total": 0 if records is None else records.total}


CHECKS = [
    TableCheck(
        name="reidentification_risk",
        history_reading=lambda _: "units",
        title="Re-identification risk",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=ReidentificationParameters,
        measure=reidentification_risk,
        label="re-identification risk",
        worst=_worst,
        implies=_implied,
        class_size=_class_size,
        required_class_size=_required,
        sufficient_class_size=_sufficient,
        variant=lambda one: f"{one.scenario}, {one.measure.replace('_', ' ')}",
        validate=_faults,
        needs={Need.POPULATION},
        needs_if=_needs,
        compares=lambda one: () if one.scenario == "prosecutor" else ("population",),
        sentences=Sentences(
            passed="{risk}, if an intruder {attacks}[; {allowed}].{tried}",
            impact=(
                "{intruder} finds the right record with {top:chance} where the fewest match, and with {mean:chance} "
                "on average[{attempt<1?}, if the attack is tried]."
            ),
            parts={
                "tried": TRIED,
                "attacks": {
                    "by": "scenario",
                    "prosecutor": "knows {known} and who is in the release",
                    "journalist": "knows {known}, but not who is in the release",
                    "marketer": "links as many as possible by {known}",
                },
                "risk": {
                    "by": "measure",
                    "share_above": (
                        "{above/total:{unit}} {above/total:is|are} at a risk[{attempt<1?}, with the chance of an "
                        "attempt,] above {threshold_risk:%}"
                    ),
                    "": (
                        "The {measure} risk of {unit:article}[{attempt<1?}, with the chance of an attempt,] is "
                        "{observed:%}"
                    ),
                },
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "reidentification_risk.md"),
    )
]
