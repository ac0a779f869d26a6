# Written by `python -m tools.generate` from the built-in checks.

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from great_expectations.core.expectation_suite import ExpectationSuite
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.row_conditions import RowConditionType

from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.api import Policy


class IncompleteRunError(TcdpAuditError): ...

def guarded_run(definition: Any, **parameters: Any) -> Any: ...
def load_suite(source: str | Path | Mapping[str, Any]) -> ExpectationSuite: ...
def suite_of(policy: str | Path | Mapping[str, Any] | Policy, name: str | None = None) -> ExpectationSuite: ...
def policy_of(suite: ExpectationSuite) -> dict[str, Any]: ...
def expectation_of(check: str) -> type[BatchExpectation]: ...

_Parameter: TypeAlias = Mapping[str, str]  # {"$PARAMETER": name}, a parameter of the suite

class _Made(BatchExpectation):  # type: ignore[misc]
    def _validate(self, metrics: Any, runtime_configuration: Any = ..., execution_engine: Any = ...) -> Any: ...

class _Host(TypedDict, total=False):
    row_condition: RowConditionType
    condition_parser: str | None
    severity: Literal["critical", "warning", "info"]
    result_format: Any
    meta: dict[str, Any] | None
    notes: str | list[str] | None
    description: str | None
    catch_exceptions: bool
    id: str | None
    batch_id: str | None

class _Table(_Host, total=False):
    conventions: Mapping[str, Any] | _Parameter | None
    unit: str | _Parameter | None
    unit_name: str | _Parameter | None
    unit_released: bool | _Parameter | None
    household: str | _Parameter | None
    household_weight: str | _Parameter | None
    time: str | _Parameter | None
    original: str | Mapping[str, Any] | _Parameter | None
    key: str | _Parameter | None
    keep_key: bool | _Parameter | None
    internal_only: bool | _Parameter | None
    rows_aligned: bool | _Parameter | None
    population: str | Mapping[str, Any] | _Parameter | None
    sampling_fraction: float | str | _Parameter | None
    weight: str | _Parameter | None
    holdout: str | Mapping[str, Any] | _Parameter | None
    registry: str | Mapping[str, Any] | _Parameter | None
    previous: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | _Parameter | None

class _Column(_Table, total=False):
    column: str | _Parameter | None
    scale: Literal["nominal", "ordinal", "numeric"] | _Parameter | None
    order: Sequence[str] | _Parameter | None
    hierarchy: str | Mapping[str, Any] | _Parameter | None
    distribution: str | Mapping[str, Any] | _Parameter | None

class ExpectTableColumnsToBeDeclared(_Made):
    def __init__(
        self,
        *,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableAgeCapToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: int | _Parameter | None = ...,
        at: int | _Parameter | None = ...,
        check_column: str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectColumnToBeAlphaKAnonymous(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        alpha: float | str | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTableAssignmentRecordLinkageToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        weights: Mapping[str, Any] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        limit: int | _Parameter | None = ...,
        seed: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableAttributeInferenceToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        target: str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        confidence: float | str | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        tolerance: float | str | _Parameter | None = ...,
        width: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectColumnBackgroundKnowledgeToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_least: int | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectColumnToBeBasicBetaLike(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        beta: float | str | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTableCategoryFrequencyToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_least: int | _Parameter | None = ...,
        max_size: int | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        count: str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableClosestRecordShareToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        confidence: float | str | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableCompositionAttackToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        sensitive: str | _Parameter | None = ...,
        at_least: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectColumnToBeDeltaDisclosurePrivate(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        delta: float | str | _Parameter | None = ...,
        log_base: Literal["natural"] | float | str | _Parameter | None = ...,
        absent_values: Literal["published", "ignored"] | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTableToSatisfyDeltaPresence(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        delta_max: float | str | _Parameter | None = ...,
        delta_min: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableDirectIdentifiersToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: int | _Parameter | None = ...,
        allowed: Sequence[str] | _Parameter | None = ...,
        share: float | str | _Parameter | None = ...,
        hint_share: float | str | _Parameter | None = ...,
        detectors: Sequence[str] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableDistanceRecordLinkageToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        weights: Mapping[str, Any] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        direction: Literal["masked_to_original", "original_to_masked"] | _Parameter | None = ...,
        known_fraction: float | str | _Parameter | None = ...,
        seed: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableDistanceToClosestRecordToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        weights: Mapping[str, Any] | _Parameter | None = ...,
        at_least: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectColumnToBeDistinctLDiverse(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        l: int | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectColumnToBeEnhancedBetaLike(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        beta: float | str | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectColumnToBeEntropyLDiverse(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        l: float | str | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTableEpsilonIdentifiabilityToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        epsilon: float | str | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        weights: Literal["inverse_entropy", "equal"] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableExactMatchRateToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        weights: Mapping[str, Any] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        measure: Literal["released", "originals"] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableExpectedTClosenessToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        epsilon: float | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        g: Literal["identity", "square_root", "logarithm", "power"] | _Parameter | None = ...,
        exponent: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectColumnHomogeneityToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTableIdentifyingAttributeCountToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableImpliedEpsilonToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        buckets: Mapping[str, Any] | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTableIndividualRiskToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        measure: Literal["highest", "average", "expected", "through_household", "by_composition"] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableJoinabilityToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        contained: float | str | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        keys: int | _Parameter | None = ...,
        seed: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableToBeKAnonymous(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableKConcealmentToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableKConfusionToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        attack: Any | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        probability: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableToSatisfyKMap(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableToBeKkAnonymous(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        kind: Literal["k_k", "one_to_k", "k_to_one"] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableToBeKmAnonymous(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        m: int | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        delimiter: str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableKnownEventsToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        table: str | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        tolerance: Mapping[str, Any] | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        m: int | _Parameter | None = ...,
        C: float | str | _Parameter | None = ...,
        attribute: str | _Parameter | None = ...,
        values: Sequence[str] | _Parameter | None = ...,
        repeats: Literal["counted", "ignored"] | _Parameter | None = ...,
        check_order: Literal["none", "sequence"] | _Parameter | None = ...,
        window: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableLinkabilityToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        other_attributes: Sequence[str] | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        confidence: float | str | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableLkcPrivacyToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attribute: str | _Parameter | None = ...,
        L: int | _Parameter | None = ...,
        K: int | _Parameter | None = ...,
        C: float | str | _Parameter | None = ...,
        values: Sequence[str] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableMInvarianceToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        sensitive: str | _Parameter | None = ...,
        m: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableMembershipInferenceToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        confidence: float | str | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        true_positive_rate: float | str | _Parameter | None = ...,
        calibrated: bool | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableMicroaggregationAttackToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        links: Literal["certain", "expected"] | _Parameter | None = ...,
        closure: bool | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        method: Literal["individual_ranking", "known_groups"] | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        reach: int | _Parameter | None = ...,
        blocks: Sequence[Sequence[str]] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableNearestNeighbourDistanceRatioToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        weights: Mapping[str, Any] | _Parameter | None = ...,
        at_least: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableNoiseAttackToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        direction: Literal["masked_to_original", "original_to_masked"] | _Parameter | None = ...,
        probability: float | str | _Parameter | None = ...,
        limit: int | _Parameter | None = ...,
        sd: float | str | Mapping[str, Any] | _Parameter | None = ...,
        shape: Literal["independent", "correlated"] | _Parameter | None = ...,
        rescaled: bool | _Parameter | None = ...,
        covariance: str | Mapping[str, Any] | _Parameter | None = ...,
        scores: Literal["values", "ranks", "normal"] | _Parameter | None = ...,
        estimate: Literal["covariance", "variances"] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableToBeNtClose(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        n: int | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attribute: str | _Parameter | None = ...,
        t: float | str | _Parameter | None = ...,
        distance: Literal["equal", "ordered", "numeric", "hierarchical", "multiplicative", "kullback_leibler", "jensen_shannon"] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectColumnToBePSensitiveKAnonymous(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        p: int | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTablePopulationUniquenessToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        estimator: Literal["exact", "zayatz", "pitman", "log_linear"] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTablePramAttackToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        direction: Literal["masked_to_original", "original_to_masked"] | _Parameter | None = ...,
        probability: float | str | _Parameter | None = ...,
        limit: int | _Parameter | None = ...,
        retention: float | str | Mapping[str, Any] | _Parameter | None = ...,
        matrix: Mapping[str, Any] | _Parameter | None = ...,
        invariant: bool | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableProbabilisticRecordLinkageToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        tolerance: Mapping[str, Any] | _Parameter | None = ...,
        similarity: Mapping[str, Any] | _Parameter | None = ...,
        comparators: Mapping[str, Any] | _Parameter | None = ...,
        blocking: Sequence[str] | _Parameter | None = ...,
        unconstrained: bool | _Parameter | None = ...,
        smoothing: float | str | _Parameter | None = ...,
        false_link_rate: float | str | _Parameter | None = ...,
        missed_link_rate: float | str | _Parameter | None = ...,
        posteriors: Sequence[float | str] | _Parameter | None = ...,
        convergence: float | str | _Parameter | None = ...,
        iterations: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableQuasiIdentifierStrengthToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        measure: Literal["unique", "distinction", "separation"] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        max_order: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableRankIntervalDisclosureToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        p: Sequence[float | str] | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        aggregate: Literal["average", "joint", "worst"] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableRankSwapAttackToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        links: Literal["certain", "expected"] | _Parameter | None = ...,
        closure: bool | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        p: float | str | _Parameter | None = ...,
        displacement: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableRecordOrderToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectColumnToBeRecursivelyClDiverse(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        l: int | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        c: float | str | _Parameter | None = ...,
        variant: Literal["recursive", "positive_disclosure", "negative_disclosure"] | _Parameter | None = ...,
        dont_care: Sequence[str] | _Parameter | None = ...,
        protected: Sequence[str] | _Parameter | None = ...,
        c2: float | str | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTableRegionPopulationToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_least: int | _Parameter | None = ...,
        check_column: str | _Parameter | None = ...,
        count: str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableReidentificationRiskToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        measure: Literal["highest", "average", "share_above"] | _Parameter | None = ...,
        scenario: Literal["prosecutor", "journalist", "marketer"] | _Parameter | None = ...,
        threshold_risk: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableReleaseDifferencingToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableSafeHarborToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: int | _Parameter | None = ...,
        allowed: Sequence[str] | _Parameter | None = ...,
        share: float | str | _Parameter | None = ...,
        hint_share: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableSampleUniquenessToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableToBeSampledAndKAnonymous(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        beta: float | str | _Parameter,
        k: int | _Parameter,
        epsilon: float | str | _Parameter,
        levels: Literal["without_data"] | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        delta: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableSdIntervalDisclosureToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        p: Sequence[float | str] | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        aggregate: Literal["average", "joint", "worst"] | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectColumnSimilarityToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        level: int | _Parameter | None = ...,
        width: float | str | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTableSinglingOutToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        confidence: float | str | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        size: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectColumnSkewnessToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        sensitive_values: Sequence[str] | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectColumnToBeStochasticallyTClose(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        mechanism: Literal["laplace", "geometric", "gaussian", "randomised_response", "pram", "product"] | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        noise_scale: float | str | _Parameter | None = ...,
        epsilon: float | str | _Parameter | None = ...,
        sensitivity: float | str | _Parameter | None = ...,
        retention: float | str | _Parameter | None = ...,
        matrix: str | Mapping[str, Any] | _Parameter | None = ...,
        rounded_to: float | str | _Parameter | None = ...,
        t: float | str | _Parameter | None = ...,
        deviation: float | str | _Parameter | None = ...,
        delta: float | str | _Parameter | None = ...,
        factors: Mapping[str, Any] | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTableSubsetDifferencingToBeSufficient(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        tables: Sequence[str] | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        k: int | _Parameter | None = ...,
        subset: bool | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableSudaToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        max_size: int | _Parameter | None = ...,
        dis_fraction: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableSupervisedRecordLinkageToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        judged: Literal["worst_case", "held_out"] | _Parameter | None = ...,
        family: Literal["weighted_mean", "owa", "bilinear", "choquet"] | _Parameter | None = ...,
        solver: Literal["surrogate", "milp"] | _Parameter | None = ...,
        time_limit: int | _Parameter | None = ...,
        train_share: float | str | _Parameter | None = ...,
        seed: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectColumnToBeTClose(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        t: float | str | _Parameter | None = ...,
        distance: Literal["equal", "ordered", "numeric", "hierarchical", "multiplicative", "kullback_leibler", "jensen_shannon"] | _Parameter | None = ...,
        **others: Unpack[_Column],
    ) -> None: ...

class ExpectTableTFromEpsilonToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        epsilon: float | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableUnicityToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        table: str | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        tolerance: Mapping[str, Any] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        points: int | Sequence[int] | _Parameter | None = ...,
        short_histories: Literal["all", "leave_out"] | _Parameter | None = ...,
        max_combinations: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...

class ExpectTableUniquenessProfileToBeLimited(_Made):
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] | str | _Parameter,
        declarations: Mapping[str, Mapping[str, Any]] | _Parameter | None = ...,
        known_rows: Literal["all", "one"] | _Parameter | None = ...,
        against: str | Sequence[str] | _Parameter | None = ...,
        knows: Sequence[str] | _Parameter | None = ...,
        at_most: float | str | _Parameter | None = ...,
        t: int | _Parameter | None = ...,
        attributes: Sequence[str] | _Parameter | None = ...,
        max_order: int | _Parameter | None = ...,
        keys: int | _Parameter | None = ...,
        seed: int | _Parameter | None = ...,
        **others: Unpack[_Table],
    ) -> None: ...
