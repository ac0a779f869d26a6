"""Re-identification risk against a prosecutor, a journalist and a marketer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.sentences import Outcome, Sentences
from tcdp_audit_plugins.checks._shared.sampling import covering_population, distribution_of, mean_of_reciprocals
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
    """The size of a class whose records have the highest risk that is allowed; 2 where an average is bounded."""
    bound = {"highest": parameters.at_most, "share_above": parameters.threshold_risk, "average": None}
    return max(2, ceil(1 / (bound[parameters.measure] or 1)))


def _implied(parameters: ReidentificationParameters, _: PolicyDocument) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A highest risk of 1/5 in the release itself is a class size of 5."""
    if parameters.measure == "highest" and parameters.scenario == "prosecutor" and parameters.at_most:
        yield "k_anonymity", {"k": ceil(1 / parameters.at_most)}


def reidentification_risk(view: TableView, parameters: ReidentificationParameters) -> TableFigure:
    """The risk that a record is matched to its person, by scenario.

    Prosecutor: 1/f. Journalist: 1/F. Marketer: the average of 1/F where there is a population, else of 1/f.

    Raises:
        CheckError: a journalist needs a population, of which the release can be a part.

    Cost: O(n log n), with a population O(N log N).

    Source: El Emam, Dankar (2008); Dankar, El Emam (2010).
    """
    among, classes = _risk_classes(view, parameters)
    figures: dict[str, Fraction] = {"highest": classes.highest, "average": classes.average}
    details: dict[str, Any] = {**figures, "classes_are_of": among}
    details |= {} if classes.of_entities is None else {"units": classes.people}
    failing = None
    if parameters.threshold_risk is not None:
        above, people = classes.above(parameters.threshold_risk), classes.people_above(parameters.threshold_risk)
        figures["share_above"] = Fraction(people, classes.people)
        details |= {"records_above": above, "share_above": figures["share_above"]}
        details |= {} if classes.of_entities is None else {"units_above": people}
        failing = above if parameters.measure == "share_above" else None
    if parameters.measure == "highest" and parameters.at_most is not None:
        failing = classes.above(parameters.at_most) if parameters.at_most else view.records
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


def _worst(_: TableFigure, parameters: ReidentificationParameters) -> Fraction:
    """Every record is alone; no risk is above 1, so that a share above 1 is that of no record."""
    return Fraction(0 if parameters.measure == "share_above" and parameters.threshold_risk == 1 else 1)


def _needs(parameters: ReidentificationParameters, document: PolicyDocument) -> set[Need]:
    """Rows, where the population is counted."""
    if parameters.scenario == "journalist":
        return {Need.POPULATION_ITSELF, Need.ROWS}
    return {Need.ROWS} if parameters.scenario == "marketer" and document.population is not None else set()


def _faults(parameters: ReidentificationParameters, _: PolicyDocument) -> Iterator[tuple[str, str]]:
    if parameters.scenario == "marketer" and parameters.measure != "average":
        yield "measure", "a marketer cares for many people and not for one; use `measure: average`"
    if parameters.measure == "share_above" and parameters.threshold_risk is None:
        yield "threshold_risk", "`share_above` needs the risk that records are counted above, such as 0.2"


def _values(outcome: Outcome) -> dict[str, Any]:
    """The number above the risk, and the number of all."""
    details, records = outcome.details, outcome.records
    if "units" in details:
        return {"above": details.get("units_above", 0), "total": details["units"]}
    return {"above": details.get("records_above", 0), "total": 0 if records is None else records.total}


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
        variant=lambda one: f"{one.scenario}, {one.measure.replace('_', ' ')}",
        validate=_faults,
        needs={Need.POPULATION},
        needs_if=_needs,
        sentences=Sentences(
            passed="{risk}, if a {scenario} attacks by {known}[; {allowed}].",
            impact=(
                "{intruder} finds the right record with {highest:chance} at worst, and with {average:chance} on "
                "average."
            ),
            parts={
                "risk": {
                    "by": "measure",
                    "share_above": ("{above/total:{unit}} {above/total:is|are} at a risk above {threshold_risk:%}"),
                    "": "The {measure} risk of {unit:article} is {observed:%}",
                }
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "reidentification_risk.md"),
    )
]
