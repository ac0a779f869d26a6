"""The base of all expectation classes: from parameters to a demand, and from what came of it to a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Union

from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.row_conditions import RowConditionType
from pydantic.v1 import root_validator

from tcdp_audit.api import PolicyError, has_secret
from tcdp_audit.integrations.great_expectations.demands import STRUCTURE, Demand
from tcdp_audit.integrations.great_expectations.metric import METRIC, metric_of
from tcdp_audit.integrations.great_expectations.parameters import check_fields, names_in, setup_of
from tcdp_audit.integrations.great_expectations.rendering import Rendered
from tcdp_audit.integrations.great_expectations.results import result_of, structure_result

MEASURED_ONLY = "info"  # the severity of an expectation that demands nothing


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
        """Whether it is not to be registered."""
        return not cls.is_made

    @root_validator(skip_on_failure=True)
    def _is_sound(cls, values: dict[str, Any]) -> dict[str, Any]:  # noqa: N805 - pydantic gives the class
        """Refuse what a policy would refuse, as soon as no parameter of the suite is left to be filled in."""
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
        """What success depends on; Great Expectations' own makes a configuration for each of the parameters."""
        given = self.configuration.kwargs
        return {name: given.get(name) for name in (*self.domain_keys, *self.success_keys)}

    def _get_domain_kwargs(self) -> dict[str, Any]:
        given = self.configuration.kwargs
        return {name: given.get(name) for name in self.domain_keys}

    def get_validation_dependencies(self, execution_engine: Any = None, runtime_configuration: Any = None) -> Any:
        """The shared metric; the run remembers what this expectation asks of it."""
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
        nothing_demanded = not demanded(self.checked, self.__dict__)
        return result_of(metrics[METRIC], level, measured_only=nothing_demanded)


def demand_of(check: Any, values: Mapping[str, Any]) -> Demand:
    """What an expectation with these values demands.

    Raises:
        PolicyError: it is not sound.
    """
    setup = _plain(setup_of(values))
    _require_no_secret(setup)
    if check is None:
        return Demand.of(STRUCTURE, {}, setup)
    own = {one.parameter: _plain(values[one.name]) for one in check_fields(check) if values.get(one.name) is not None}
    if values.get("column") is not None:
        own["attribute"] = values["column"]
    if _severity(values) != "critical" and demanded(check, values):
        own["severity"] = "warning"
    return Demand.of(check.name, own, setup)


def _require_no_secret(setup: Mapping[str, Any]) -> None:
    """Insist that no address has a password: a suite is stored as text, and so is what came of it.

    Raises:
        PolicyError: one has.
    """
    for name in ("original", "population", "holdout", "registry", "previous"):
        given = setup.get(name) or ()
        if any(has_secret(one) for one in ([given] if isinstance(given, str) else given) if isinstance(one, str)):
            raise PolicyError(
                f"{name}: its address holds a password or a token, and Great Expectations stores suites as text; give "
                "it as the driver takes it, for example in PGPASSWORD or a password file"
            )


def _severity(values: Mapping[str, Any]) -> str:
    given = values.get("severity", "critical")
    return str(getattr(given, "value", given))


def demanded(check: Any, values: Mapping[str, Any]) -> list[str]:
    """The parameters with a threshold that are given."""
    thresholds = {limit.parameter for limit in check.limits}
    return [one.name for one in check_fields(check) if one.parameter in thresholds and values.get(one.name) is not None]


def _require_a_demand(check: Any, values: Mapping[str, Any]) -> None:
    if check is None or demanded(check, values) or _severity(values) == MEASURED_ONLY:
        return
    thresholds = {limit.parameter for limit in check.limits}
    names = " or ".join(one.name for one in check_fields(check) if one.parameter in thresholds)
    raise ValueError(f"nothing is demanded; give {names}, or severity={MEASURED_ONLY!r} to have the figure measured")


def _has_suite_parameter(value: Any) -> bool:
    if isinstance(value, Mapping):
        return "$PARAMETER" in value or _has_suite_parameter(list(value.values()))
    return isinstance(value, list | tuple) and any(map(_has_suite_parameter, value))


def _plain(value: Any) -> Any:
    """Mappings and sequences as JSON has them."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return getattr(value, "value", value)  # an enumeration by its value
