"""The base of all expectation classes: parameters become a demand, and its outcomes a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Union

from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.row_conditions import RowConditionType
from pydantic.v1 import Field as PydanticField, root_validator

from tcdp_audit.api import PolicyError
from tcdp_audit.integrations.great_expectations.demands import MEASURED_ONLY, demand_of, demanded, severity_of
from tcdp_audit.integrations.great_expectations.metric import METRIC, metric_of
from tcdp_audit.integrations.great_expectations.parameters import (
    DECLARED_COLUMNS,
    Field,
    all_fields,
    check_fields,
    class_names,
    columns_fields,
    names_in,
)
from tcdp_audit.integrations.great_expectations.rendering import Rendered
from tcdp_audit.integrations.host import Answer, Fault, plugins
from tcdp_audit.plugin.sentences import Outcome, Status

LEVELS = ("BOOLEAN_ONLY", "BASIC", "SUMMARY", "COMPLETE")
SHORT = ("check", "attribute", "status", "threshold", "comparison", "classes", "records", "message")
LONGER = ("parameters", "conventions", "source")
WHOLE = ("details", "worst")  # with distributions, which are long lists
PACKAGE = __name__.rpartition(".")[0]  # where the classes are attributes, so that they can be pickled
COLUMNS = "The core's own demands on the columns: each is declared and there, none identifies, values keep their scale."


class DisclosureExpectation(Rendered, BatchExpectation):  # type: ignore[misc]
    """An expectation of a check, made by `classes`; one without a check is abstract."""

    row_condition: RowConditionType = None
    condition_parser: Union[str, None] = None  # noqa: UP007 - pydantic 1 reads it

    checked: ClassVar[Any] = None
    is_made: ClassVar[bool] = False
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id", "row_condition", "condition_parser")
    metric_dependencies: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def is_abstract(cls) -> bool:
        """True if it is not to be registered."""
        return not cls.is_made

    @root_validator(skip_on_failure=True)
    def _is_sound(cls, values: dict[str, Any]) -> dict[str, Any]:  # noqa: N805 - pydantic gives the class
        """Refuse what a policy would refuse, as soon as every parameter of the suite has a value."""
        if cls.is_made and not _has_suite_parameter(list(values.values())):
            if values.get("quasi_identifiers") is not None:
                values["quasi_identifiers"] = names_in(values["quasi_identifiers"])
            _require_a_demand(cls.checked, values)
            try:
                demand_of(cls.checked, values)
            except PolicyError as error:
                raise ValueError(str(error)) from None
        return values

    def _get_success_kwargs(self) -> dict[str, Any]:
        """Parameters that success depends on; Great Expectations' own method makes a configuration for each."""
        given = self.configuration.kwargs
        return {name: given.get(name) for name in (*self.domain_keys, *self.success_keys)}

    def _get_domain_kwargs(self) -> dict[str, Any]:
        given = self.configuration.kwargs
        return {name: given.get(name) for name in self.domain_keys}

    def get_validation_dependencies(self, execution_engine: Any = None, runtime_configuration: Any = None) -> Any:
        """The shared metric; the run records the demand of this expectation."""
        dependencies = super().get_validation_dependencies(execution_engine, runtime_configuration)
        demand = demand_of(self.checked, self.__dict__)
        metric = metric_of(demand, self._get_domain_kwargs(), runtime_configuration)
        dependencies.set_metric_configuration(METRIC, metric)
        return dependencies

    def _validate(
        self,
        metrics: Mapping[str, Any],
        runtime_configuration: Any = None,
        execution_engine: Any = None,  # noqa: ARG002 - the signature is Great Expectations'
    ) -> dict[str, Any]:
        asked: Any = self._get_result_format(runtime_configuration)
        level = str(asked["result_format"])
        if self.checked is None:
            return structure_result(metrics[METRIC], level)
        return result_of(metrics[METRIC], level, measured_only=not demanded(self.checked, self.__dict__))


def _require_a_demand(check: Any, values: Mapping[str, Any]) -> None:
    if check is None or demanded(check, values) or severity_of(values) == MEASURED_ONLY:
        return
    thresholds = {limit.parameter for limit in check.limits}
    names = " or ".join(one.name for one in check_fields(check) if one.parameter in thresholds)
    raise ValueError(f"nothing is demanded; give {names}, or severity={MEASURED_ONLY!r} to have the figure measured")


def _has_suite_parameter(value: Any) -> bool:
    if isinstance(value, Mapping):
        return "$PARAMETER" in value or _has_suite_parameter(list(value.values()))
    return isinstance(value, list | tuple) and any(map(_has_suite_parameter, value))


def result_of(answer: Answer, level: str, *, measured_only: bool = False) -> dict[str, Any]:
    """The result of an expectation: success, figures, and the fault, if there is one.

    Args:
        answer: one outcome, or a fault.
        level: how much the result shows, one of `LEVELS`.
        measured_only: whether nothing was demanded on purpose.
    """
    if isinstance(answer, Fault):
        return _not_judged(answer.sentence)
    (outcome,) = answer
    if outcome.status is Status.ERROR:
        return _not_judged(outcome.message)
    success = outcome.status is Status.PASSED or (measured_only and outcome.status is Status.MEASURED)
    return {"success": success, "result": {} if level == LEVELS[0] else _figures(outcome, level)}


def structure_result(answer: Answer, level: str) -> dict[str, Any]:
    """The result of the expectation on the columns, from all structural outcomes."""
    if isinstance(answer, Fault):
        return _not_judged(answer.sentence)
    broken = [one for one in answer if one.blocks]
    success = bool(answer) and not broken
    if level == LEVELS[0]:
        return {"success": success, "result": {}}
    details = {"status": "passed" if success else "failed", "message": _sentences(answer), "demands": _each(answer)}
    return {"success": success, "result": {"observed_value": len(broken), "details": details}}


def _sentences(outcomes: Sequence[Outcome]) -> str:
    sentences = [one.message[:1].upper() + one.message[1:].rstrip(".") for one in outcomes if one.message]
    return "".join(f"{one}. " for one in sentences).rstrip()


def _each(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    shown = ("check", "severity", "status", "details", "message")
    return [{name: one.as_json()[name] for name in shown} for one in outcomes]


def _not_judged(sentence: str) -> dict[str, Any]:
    """A failure with its reason in the place of an exception; it has no traceback."""
    return {
        "success": False,
        "result": {"details": {"status": Status.ERROR.value, "message": sentence}},
        "exception_info": {"raised_exception": True, "exception_message": sentence, "exception_traceback": ""},
    }


def _figures(outcome: Outcome, level: str) -> dict[str, Any]:
    whole = outcome.as_json()
    names = SHORT + (LONGER if level in LEVELS[2:] else ()) + (WHOLE if level == LEVELS[3] else ())
    counts = {} if outcome.records is None else _counts(outcome.records.total, outcome.records.failing)
    return {"observed_value": whole["observed"], **counts, "details": {name: whole[name] for name in names}}


def _counts(total: int, failing: int | None) -> dict[str, Any]:
    """Records as Great Expectations counts elements; without a threshold no record fails or passes."""
    if failing is None:
        return {"element_count": total}
    percent = 100 * failing / total if total else 0.0
    return {"element_count": total, "unexpected_count": failing, "unexpected_percent": percent}


def fields_of(check: Any) -> list[Field]:
    """Every parameter of an expectation, required ones first; of the demands on the columns for None."""
    return columns_fields() if check is None else all_fields(check)


def _made(name: str, check: Any) -> type[DisclosureExpectation]:
    fields = fields_of(check)
    namespace: dict[str, Any] = {
        one.name: PydanticField(... if one.required else None, description=one.description) for one in fields
    }
    names = tuple(one.name for one in fields)
    namespace |= {
        "__module__": PACKAGE,
        "__qualname__": name,
        "__doc__": COLUMNS if check is None else f"{check.title}. {check.guide.definition}",
        "__annotations__": {**dict.fromkeys(names, Any), "checked": ClassVar[Any], "is_made": ClassVar[bool],
                            "success_keys": ClassVar[Any], "args_keys": ClassVar[Any]},
        "checked": check,
        "is_made": True,
        "success_keys": names,
        "args_keys": names,
    }  # fmt: skip
    metaclass: Any = type(DisclosureExpectation)  # it registers what it makes
    made: type[DisclosureExpectation] = metaclass(name, (DisclosureExpectation,), namespace)
    return made


CLASSES: Mapping[str, Any] = MappingProxyType(
    {name: _made(name, check) for name, check in {DECLARED_COLUMNS: None, **class_names(plugins().checks)}.items()}
)


BY_TYPE: Mapping[str, Any] = MappingProxyType({one.expectation_type: one for one in CLASSES.values()})


def expectation_of(check: str) -> Any:
    """The class of a check's name.

    Raises:
        KeyError: no such check is registered.
    """
    return {one.checked.name: one for one in CLASSES.values() if one.checked is not None}[check]
