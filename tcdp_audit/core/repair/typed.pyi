# Written by `python -m tools.generate` from the parameters of the checks themselves.

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, overload

from tcdp_audit.plugin.sentences import Outcome, Severity

_Number: TypeAlias = float | str | Decimal | Fraction  # 0.2, "1/5"
_Value: TypeAlias = str | float  # a name, or a cell as text

@overload
def measure(
    check: Literal["age_cap"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: int | None = None,
    at: int = 89,
    column: _Value | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["alpha_k_anonymity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    alpha: _Number | None = None,
    k: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["assignment_record_linkage"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    weights: Mapping[str, _Number] | None = None,
    at_most: _Number | None = None,
    limit: int = 2000,
    seed: int = 0,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["attribute_inference"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    confidence: _Number = ...,
    target: _Value,
    at_most: _Number | None = None,
    tolerance: _Number = ...,
    width: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["background_knowledge"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_least: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["basic_beta_likeness"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    beta: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["category_frequency"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_least: int | None = None,
    max_size: int = 1,
    attributes: Sequence[_Value] | None = None,
    count: _Value | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["closest_record_share"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    confidence: _Number = ...,
    at_most: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "warning",
) -> Outcome: ...
@overload
def measure(
    check: Literal["composition_attack"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    sensitive: _Value | None = None,
    at_least: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["delta_disclosure"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    delta: _Number | None = None,
    log_base: Literal["natural"] | _Number = ...,
    absent_values: Literal["published", "ignored"] = "published",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["delta_presence"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    delta_max: _Number | None = None,
    delta_min: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["direct_identifiers"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: int | None = None,
    allowed: Sequence[_Value] | None = None,
    share: _Number = ...,
    hint_share: _Number = ...,
    detectors: Sequence[_Value] | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["distance_record_linkage"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    weights: Mapping[str, _Number] | None = None,
    at_most: _Number | None = None,
    direction: Literal["masked_to_original", "original_to_masked"] = "masked_to_original",
    known_fraction: _Number | None = None,
    seed: int = 0,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["distance_to_closest_record"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    weights: Mapping[str, _Number] | None = None,
    at_least: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["distinct_l_diversity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    l: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["enhanced_beta_likeness"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    beta: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["entropy_l_diversity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    l: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["epsilon_identifiability"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    epsilon: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    weights: Literal["inverse_entropy", "equal"] = "inverse_entropy",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["exact_match_rate"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    weights: Mapping[str, _Number] | None = None,
    at_most: _Number | None = None,
    measure: Literal["released", "originals"] = "released",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["expected_t_closeness"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    epsilon: _Number,
    at_most: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["homogeneity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["identifying_attribute_count"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["implied_epsilon"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    buckets: Mapping[str, int] | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["individual_risk"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    measure: Literal["highest", "average", "expected", "through_household", "by_composition"] = "highest",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["joinability"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    contained: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    keys: int = 65536,
    seed: int = 0,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["k_anonymity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    k: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["k_concealment"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    k: int | None = None,
    attributes: Sequence[_Value] | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["k_confusion"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attack: Mapping[str, Any],
    k: int | None = None,
    probability: _Number = ...,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["k_map"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    k: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["kk_anonymity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    k: int | None = None,
    attributes: Sequence[_Value] | None = None,
    kind: Literal["k_k", "one_to_k", "k_to_one"] = "k_k",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["km_anonymity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    k: int | None = None,
    m: int = 2,
    attributes: Sequence[_Value] | None = None,
    delimiter: _Value = ";",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["known_events"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    table: _Value | None = None,
    attributes: Sequence[_Value] | None = None,
    tolerance: Mapping[str, _Number] | None = None,
    k: int | None = None,
    m: int = 3,
    C: _Number | None = None,
    values: Sequence[_Value] | None = None,
    repeats: Literal["counted", "ignored"] = "counted",
    window: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["linkability"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    confidence: _Number = ...,
    other_attributes: Sequence[_Value],
    at_most: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["lkc_privacy"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    L: int = 2,
    K: int | None = None,
    C: _Number | None = None,
    values: Sequence[_Value] | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["m_invariance"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    sensitive: _Value | None = None,
    m: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["membership_inference"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    confidence: _Number = ...,
    at_most: _Number | None = None,
    true_positive_rate: _Number | None = None,
    calibrated: bool = False,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["microaggregation_attack"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    links: Literal["certain", "expected"] = "certain",
    closure: bool = True,
    attributes: Sequence[_Value] | None = None,
    method: Literal["individual_ranking", "known_groups"] = "individual_ranking",
    k: int | None = None,
    reach: int = 1,
    blocks: Sequence[Sequence[_Value]] | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["nearest_neighbour_distance_ratio"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    weights: Mapping[str, _Number] | None = None,
    at_least: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["noise_attack"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    direction: Literal["masked_to_original", "original_to_masked"] = "masked_to_original",
    probability: _Number = ...,
    limit: int = 100000,
    sd: _Number | Mapping[str, _Number] | None = None,
    shape: Literal["independent", "correlated"] = "independent",
    rescaled: bool = False,
    covariance: str | Mapping[str, Mapping[str, _Number]] | None = None,
    scores: Literal["values", "ranks", "normal"] = "values",
    estimate: Literal["covariance", "variances"] = "covariance",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["nt_closeness"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    t: _Number | None = None,
    distance: Literal[
        "equal", "ordered", "numeric", "hierarchical", "multiplicative", "kullback_leibler", "jensen_shannon"
    ] = "equal",
    n: int,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["p_sensitive_k_anonymity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    p: int | None = None,
    k: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["population_uniqueness"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    estimator: Literal["exact", "zayatz", "pitman", "log_linear"] = "exact",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["pram_attack"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    direction: Literal["masked_to_original", "original_to_masked"] = "masked_to_original",
    probability: _Number = ...,
    limit: int = 100000,
    retention: _Number | Mapping[str, _Number] | None = None,
    matrix: Mapping[str, str | Mapping[str, Mapping[str, _Number]]] | None = None,
    invariant: bool = False,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["probabilistic_record_linkage"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    tolerance: Mapping[str, _Number] | None = None,
    similarity: Mapping[str, _Number] | None = None,
    unconstrained: bool = False,
    smoothing: _Number = ...,
    false_link_rate: _Number = ...,
    missed_link_rate: _Number = ...,
    posteriors: Sequence[_Number] = ...,
    convergence: _Number = ...,
    iterations: int = 10000,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["quasi_identifier_strength"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    measure: Literal["unique", "distinction", "separation"] = "unique",
    attributes: Sequence[_Value] | None = None,
    max_order: int = 3,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["rank_interval_disclosure"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    p: _Number | Sequence[_Number],
    at_most: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    aggregate: Literal["average", "joint", "worst"] = "average",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["rank_swap_attack"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    links: Literal["certain", "expected"] = "certain",
    closure: bool = True,
    attributes: Sequence[_Value] | None = None,
    p: _Number | None = None,
    displacement: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["record_order"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["recursive_cl_diversity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    c: _Number | None = None,
    l: int,
    variant: Literal["recursive", "positive_disclosure", "negative_disclosure"] = "recursive",
    dont_care: Sequence[_Value] | None = None,
    protected: Sequence[_Value] | None = None,
    c2: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["region_population"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_least: int | None = None,
    column: _Value | None = None,
    count: _Value | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["reidentification_risk"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    measure: Literal["highest", "average", "share_above"] = "highest",
    scenario: Literal["prosecutor", "journalist", "marketer"] = "prosecutor",
    threshold_risk: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["release_differencing"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    k: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["safe_harbor"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: int | None = None,
    allowed: Sequence[_Value] | None = None,
    share: _Number = ...,
    hint_share: _Number = ...,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["sample_uniqueness"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["sd_interval_disclosure"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    p: _Number | Sequence[_Number],
    at_most: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    aggregate: Literal["average", "joint", "worst"] = "average",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["similarity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    level: int | None = None,
    width: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["singling_out"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    confidence: _Number = ...,
    at_most: _Number | None = None,
    size: int | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["skewness"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    sensitive_values: Sequence[_Value] | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["stochastic_t_closeness"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    t: _Number | None = None,
    mechanism: Literal["laplace", "geometric", "randomised_response"],
    noise_scale: _Number | None = None,
    epsilon: _Number | None = None,
    sensitivity: _Number | None = None,
    retention: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["subset_differencing"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    k: int | None = None,
    tables: Sequence[_Value],
    subset: bool = False,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["suda"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    max_size: int = 3,
    dis_fraction: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["supervised_record_linkage"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    attributes: Sequence[_Value] | None = None,
    at_most: _Number | None = None,
    judged: Literal["worst_case", "held_out"] = "worst_case",
    family: Literal["weighted_mean", "owa", "bilinear", "choquet"] = "weighted_mean",
    solver: Literal["surrogate", "milp"] = "surrogate",
    time_limit: int = 40,
    train_share: _Number = ...,
    seed: int = 0,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["t_closeness"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    t: _Number | None = None,
    distance: Literal[
        "equal", "ordered", "numeric", "hierarchical", "multiplicative", "kullback_leibler", "jensen_shannon"
    ] = "equal",
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["t_from_epsilon"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    epsilon: _Number,
    at_most: _Number | None = None,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["unicity"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    table: _Value | None = None,
    attributes: Sequence[_Value] | None = None,
    tolerance: Mapping[str, _Number] | None = None,
    at_most: _Number | None = None,
    points: int | Sequence[int] = 4,
    short_histories: Literal["all", "leave_out"] = "all",
    max_combinations: int = 100000000,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: Literal["uniqueness_profile"],
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    conventions: Mapping[str, Any] | None = None,
    known_rows: Literal["all", "one"] | None = None,
    reason: _Number | None = None,
    at_most: _Number | None = None,
    t: int = 2,
    attributes: Sequence[_Value] | None = None,
    max_order: int = 3,
    keys: int = 4096,
    seed: int = 0,
    severity: Severity | Literal["error", "warning"] = "error",
) -> Outcome: ...
@overload
def measure(
    check: str,
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: Literal["nominal", "ordinal", "numeric"] | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: Literal["uniform"] | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Outcome: ...
