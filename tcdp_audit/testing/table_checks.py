"""The properties of a check on tables: its specification, its figures, and its audits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Any

from tcdp_audit.plugin.check import Parameters, TableCheck
from tcdp_audit.testing.conformance import Subject, Suite
from tcdp_audit.testing.specification import examinations_of, example_of, parameters_of
from tcdp_audit.testing.table_cases import table_cases
from tcdp_audit.testing.table_trials import BESIDE, TableTrial
from tcdp_audit.testing.unfailable import PROPERTY
from tcdp_audit.testing.variants import variants, with_threshold


class TableCheckSuite(Suite):
    """A check on tables, under every parameter to try, on generated releases with all that they compare with."""

    def __init__(self, check: TableCheck[Any], given: Mapping[str, Any]) -> None:
        self.subject, self.check, self.given = Subject("check", check.name), check, given

    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """What holds the check against each property."""
        return {
            **examinations_of(self.subject, self.check),
            "tables": self._tables_conform,
            "figure": lambda: self._every(TableTrial.is_sound),
            "refusal": self._refusals_conform,
            "determinism": lambda: self._every(TableTrial.repeats),
            "inputs are left alone": lambda: self._every(TableTrial.leaves_inputs_alone),
            PROPERTY: self._unfailable_conforms,
            "end to end": lambda: self._every(TableTrial.is_measured),
            "order of records": lambda: self._every(TableTrial.ignores_order),
            "names of values": lambda: self._every(TableTrial.ignores_names_of_values),
            "message": lambda: self._every(TableTrial.has_a_message),
            "no cell in evidence": lambda: self._every(TableTrial.tells_no_cell),
            "at the threshold": self._decides_at_the_threshold,
            "stricter demands": lambda: self._every(TableTrial.keeps_order_of_demands),
        }

    def _tables_conform(self) -> None:
        sentence = "a check on tables is not told an attribute: leave `on_attribute` as it is, and take `attributes`"
        self.subject.require(not self.check.on_attribute, "tables", sentence)

    def _refusals_conform(self) -> None:
        self._every(TableTrial.says_why_not)
        for parameters, trials in self._by_parameters:
            where = "".join(f"; {name}={value}" for name, value in parameters.figures().items())
            answered = any(trial.figure is not None for trial in trials)
            self.subject.require(answered, "refusal", f"it refused all tables of the suite{where}")

    def _decides_at_the_threshold(self) -> None:
        self._every(TableTrial.decides_at_the_threshold)
        admissible = sum(trial.admissible for trial in self._trials)
        sentence = "none of the observed figures is accepted as a threshold; let the parameter take exact numbers"
        self.subject.require(admissible, "at the threshold", sentence)

    def _unfailable_conforms(self) -> None:
        """What nothing is said to fail, no other release of as many records fails."""
        for parameters, trials in self._by_parameters:
            figures = [trial.figure for trial in trials if trial.figure is not None]
            for demanding, name in self._demands(parameters, [one.value for one in figures]):
                for said in figures:
                    if name in self.check.unfailable(said, demanding):
                        others = (one for one in figures if one.records == said.records)
                        failed = any(self.check.verdict(one, demanding).failed for one in others)
                        sentence = f"no release was said to fail {name}: {getattr(demanding, name)}, and one does"
                        self.subject.require(not failed, PROPERTY, sentence)

    def _demands(self, parameters: Parameters, values: list[Any]) -> Iterator[tuple[Any, str]]:
        """Each threshold by itself, at the ends of a share and at or beside the figures of all releases."""
        exact = {Fraction(one) for one in values if isfinite(one)}
        near = {one * factor for one in exact for factor in (1, 1 + BESIDE, 1 - BESIDE)}
        for limit in self.check.limits:
            for value in sorted({Fraction(0), Fraction(1), *near}):
                demanding = with_threshold(parameters, limit.parameter, value)
                if demanding is not None:
                    yield demanding, limit.parameter

    def _every(self, examine: Callable[[TableTrial], None]) -> None:
        for trial in self._trials:
            examine(trial)

    @property
    def _trials(self) -> list[TableTrial]:
        return [trial for _, trials in self._by_parameters for trial in trials]

    @cached_property
    def _by_parameters(self) -> list[tuple[Parameters, list[TableTrial]]]:
        """The trials under each set of parameters that the policies of the suite take."""
        example = parameters_of(
            self.subject, self.check, {**example_of(self.subject, self.check), **self.given}, "example"
        )
        cases = list(table_cases())
        document = cases[0].document(self.check.name)
        self._require_sound(example, document)
        chosen = [
            one for one in variants(self.subject, self.check, self.given) if not any(self.check.faults(one, document))
        ]
        self.subject.require(chosen, "example", "without a threshold, the policies of the suite take no parameters")
        return [(one, [TableTrial(self.subject, self.check, one, example, case) for case in cases]) for one in chosen]

    def _require_sound(self, example: Parameters, document: Any) -> None:
        faults = "; ".join(f"{name}: {sentence}" for name, sentence in self.check.faults(example, document))
        attributes = f"the suite's releases have {', '.join(document.attributes)}"
        self.subject.require(not faults, "example", f"a policy refuses it: {faults} ({attributes})")
