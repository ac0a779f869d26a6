"""Privacy models of ARX, and the demands that decide as they do.

ARX writes a model as a sentence. Each form that any version since 2.0 has written is one entry of a table: either the
demands of a policy that hold exactly where the model does, or a sentence that says why there are none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tcdp_audit.drafting.draft import flow, scalar

NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:E-?[0-9]+)?"
PARTS = {"attribute": ".*", "rest": ".*", "derived": r"[0-9]+|unknown", "used": "[0-9]+", "k": "[0-9]+", "l": NUMBER}


@dataclass(frozen=True)
class ModelContext:
    """The part of a project that the meaning of its models depends on.

    Args:
        sensitive: the names of sensitive attributes.
        ordered: those of them whose values have a declared order.
        in_hierarchies: those of them that have a hierarchy.
        has_population: whether the whole table was read as the population of a research sample.
    """

    sensitive: Collection[str]
    ordered: Collection[str] = ()
    in_hierarchies: Collection[str] = ()
    has_population: bool = False


@dataclass(frozen=True)
class Demand:
    """An expectation of a policy, with its parameters in YAML."""

    check: str
    parameters: Sequence[tuple[str, str]]

    @property
    def line(self) -> str:
        """The expectation as an entry of `expect`."""
        return f"{self.check}: {flow(self.parameters)}"


@dataclass(frozen=True)
class ModelTranslation:
    """A model in the words of a policy.

    Args:
        model: as ARX writes it.
        demands: the expectations that decide as it does; empty where there are none.
        reason: why there are none, or what they leave out.
        is_demand: whether it demands anything of the released table.
        compares: whether it compares classes with the distribution of the whole table.
    """

    model: str
    demands: Sequence[Demand] = ()
    reason: str = ""
    is_demand: bool = True
    compares: bool = False


def translate(model: str, context: ModelContext) -> ModelTranslation:
    """Translate a privacy model as ARX writes it.

    Example:
        >>> translate("5-anonymity", ModelContext(())).demands[0].line
        'k_anonymity: {k: 5}'
        >>> translate("distinct-3-diversity for attribute 'pay'", ModelContext(["pay"])).demands[0].line
        'distinct_l_diversity: {l: 3, attribute: pay}'
    """
    for form, rule in FORMS:
        match = re.fullmatch(form, model, re.DOTALL)
        if match is not None:
            return rule(match, context)
    return ModelTranslation(model, reason="This model of ARX is not known here.")


def plain(number: str) -> str:
    """A number of Java as YAML reads it.

    Example:
        >>> plain("5.0"), plain("1.0E-4"), plain("0.20")
        ('5', '0.0001', '0.2')
    """
    return f"{Decimal(number).normalize():f}"


Rule = Callable[[re.Match[str], ModelContext], ModelTranslation]
Fault = Callable[[str, ModelContext], str]


def _demand(check: str, *parameters: tuple[str, str]) -> Rule:
    """A rule for a model with numbers: each group of the form is a number, put into a parameter."""

    def rule(match: re.Match[str], _: ModelContext) -> ModelTranslation:
        values = [(name, plain(match[value]) if value in match.re.groupindex else value) for name, value in parameters]
        return ModelTranslation(match.string, [Demand(check, values)])

    return rule


def _on_attribute(check: str, *parameters: tuple[str, str], compares: bool = False, fault: Fault | None = None) -> Rule:
    """A rule for a model on a sensitive attribute, which is the group `attribute` of the form."""

    def rule(match: re.Match[str], context: ModelContext) -> ModelTranslation:
        name = match["attribute"]
        if name not in context.sensitive:
            return ModelTranslation(match.string, reason="It names an attribute that is not sensitive in the project.")
        if fault is not None and (problem := fault(name, context)):
            return ModelTranslation(match.string, reason=problem)
        values = [(one, plain(match[value]) if value in match.re.groupindex else value) for one, value in parameters]
        values.insert(len(match.groupdict()) - 1, ("attribute", scalar(name)))
        return ModelTranslation(match.string, [Demand(check, values)], compares=compares)

    return rule


def _without(reason: str, *, is_demand: bool = True) -> Rule:
    return lambda match, _: ModelTranslation(match.string, reason=reason, is_demand=is_demand)


def _needs_order(name: str, context: ModelContext) -> str:
    if name in context.ordered:
        return ""
    return (
        "ARX orders the values by their data type. Declare the attribute with `scale: ordinal` and its `order`, then "
        "write `t_closeness` with `distance: ordered`."
    )


def _needs_hierarchy(name: str, context: ModelContext) -> str:
    if name in context.in_hierarchies:
        return ""
    return "The hierarchy that it measures along could not be taken over; declare one, then write `t_closeness`."


def _inclusion(match: re.Match[str], context: ModelContext) -> ModelTranslation:
    """The research sample demands nothing: it says which records are released."""
    if context.has_population:
        said = "The research sample: the table of this policy has these records alone."
        return ModelTranslation(match.string, reason=said, is_demand=False)
    return ModelTranslation(match.string, reason=UNREAD_SAMPLE)


UNREAD_SAMPLE = (
    "ARX releases a research sample of its table, and which records are in it could not be read. Export them from ARX, "
    "and name that file as the table, as in `tcdp-audit init TABLE --from PROJECT`."
)


def _of_population(check: str, *parameters: tuple[str, str]) -> Rule:
    """A rule for a model that compares the research sample with the whole table."""
    known = _demand(check, *parameters)

    def rule(match: re.Match[str], context: ModelContext) -> ModelTranslation:
        return known(match, context) if context.has_population else ModelTranslation(match.string, reason=UNREAD_SAMPLE)

    return rule


def _average(match: re.Match[str], _: ModelContext) -> ModelTranslation:
    """The average risk, and since version 3.6 also the share of records above another risk."""
    said = {name: plain(number) for name, number in match.groupdict().items()}
    demands = [Demand("reidentification_risk", [("measure", "average"), ("at_most", said["average"])])]
    if "highest" in said:
        above = [("threshold_risk", f"1/{_smallest_size(float(said['highest']))}"), ("at_most", said["share"])]
        demands.append(Demand("reidentification_risk", [("measure", "share_above"), *above]))
    return ModelTranslation(match.string, demands)


def _smallest_size(risk: float) -> int:
    """The size below which ARX counts a class as above a risk: it lets a class exceed the risk by 1 %."""
    floor = math.floor(1 / risk)
    return floor + (1 / floor - risk >= 0.01 * risk)


def _estimated_map(match: re.Match[str], _: ModelContext) -> ModelTranslation:
    """ARX estimates which class size is enough for k-map, and then demands that size."""
    groups = match.groupdict()
    derived = groups.get("derived") or groups["used"]
    if derived == "unknown":
        reason = (
            "ARX estimates from the size of a population which class size is enough, and the project does not say "
            "which. Anonymize once in ARX and save, or demand `k_anonymity` with the k that ARX shows, or `k_map` with "
            "a `population`."
        )
        return ModelTranslation(match.string, reason=reason)
    return ModelTranslation(match.string, [Demand("k_anonymity", [("k", derived)])])


UNIQUES = (
    "ARX compares estimated population uniques with the size of the population, and `population_uniqueness` compares "
    "those of the release with the sample uniques. `k_anonymity` with k = 2 implies it: without sample uniques the "
    "estimate of ARX is 0. Otherwise choose a bound for `population_uniqueness`, and state `sampling_fraction`."
)
PROFIT = (
    "No check weighs what a publisher gains against what an attacker pays. `reidentification_risk` limits the risk "
    "that ARX derives from these amounts."
)
PRIVATE = (
    "Differential privacy is a property of how ARX samples and generalises, and no released table shows it. "
    "`sampled_k_anonymity` checks the k and the sampling that it rests on."
)
GRASSBERGER = (
    "ARX corrects the entropy of small classes upwards here (Grassberger), and so accepts more than the definition "
    "does. `entropy_l_diversity` with the same l is stricter."
)
OF = "for attribute '{attribute}'"


def _form(text: str) -> str:
    """The pattern of a sentence whose parts in braces differ; they are numbers unless `PARTS` says otherwise."""
    pieces = re.split(r"\{(\w+)\}", text)
    return "".join(
        f"(?P<{one}>{PARTS.get(one, NUMBER)})" if place % 2 else re.escape(one) for place, one in enumerate(pieces)
    )


_EQUAL = _on_attribute("t_closeness", ("t", "t"), ("distance", "equal"), compares=True)
_HIERARCHICAL = _on_attribute(
    "t_closeness", ("t", "t"), ("distance", "hierarchical"), compares=True, fault=_needs_hierarchy
)
_BASIC = _on_attribute("basic_beta_likeness", ("beta", "beta"), compares=True)
_SHANNON = _on_attribute("entropy_l_diversity", ("l", "l"))
_UNIQUE = _demand("sample_uniqueness", ("at_most", "risk"))
_MAP = _of_population("k_map", ("k", "k"))
FORMS: Sequence[tuple[str, Rule]] = [
    (_form(text), rule)
    for text, rule in (
        ("{k}-anonymity", _demand("k_anonymity", ("k", "k"))),
        (f"distinct-{{l}}-diversity {OF}", _on_attribute("distinct_l_diversity", ("l", "l"))),
        (f"shannon-entropy-{{l}}-diversity {OF}", _SHANNON),
        (f"entropy-{{l}}-diversity {OF}", _SHANNON),  # before 3.5
        (f"grassberger-entropy-{{l}}-diversity {OF}", _without(GRASSBERGER)),
        (f"recursive-({{c}},{{l}})-diversity {OF}", _on_attribute("recursive_cl_diversity", ("c", "c"), ("l", "l"))),
        (f"{{t}}-closeness with equal ground-distance {OF}", _EQUAL),
        (f"{{t}}-closeness with equal distance {OF}", _EQUAL),  # before 2.1, as the next but one
        (f"{{t}}-closeness with hierarchical ground-distance {OF}", _HIERARCHICAL),
        (f"{{t}}-closeness with hierarchical distance {OF}", _HIERARCHICAL),
        (
            f"{{t}}-closeness with ordered distance {OF}",
            _on_attribute("t_closeness", ("t", "t"), ("distance", "ordered"), compares=True, fault=_needs_order),
        ),
        (
            f"{{delta}}-disclosure privacy {OF}",
            _on_attribute(
                "delta_disclosure", ("delta", "delta"), ("log_base", "2"), ("absent_values", "ignored"), compares=True
            ),
        ),
        (f"basic-{{beta}}-likeness {OF}", _BASIC),
        (f"{{beta}}-basic likeness {OF}", _BASIC),
        (
            f"enhanced-{{beta}}-likeness {OF}",
            _on_attribute("enhanced_beta_likeness", ("beta", "beta"), compares=True),
        ),
        ("Inclusion", _inclusion),
        (
            "({low},{high})-presence",
            _of_population("delta_presence", ("delta_min", "low"), ("delta_max", "high")),
        ),
        ("({k})-map", _MAP),
        ("({k})-map estimated as ({derived})-anonymity ({rest})", _estimated_map),
        ("({k})-mapestimated as ({derived})-anonymity ({rest})", _estimated_map),
        ("({k})-map ({used}-anonymity used {rest})", _estimated_map),
        ("({risk})-sample-uniqueness", _UNIQUE),
        ("({risk})-sample-uniques", _UNIQUE),
        ("(<{risk})-sample-uniques", _UNIQUE),
        ("({average})-avg-reidentification-risk", _average),
        ("(<{average})-avg-reidentification-risk", _average),
        ("({average}, {highest}, {share})-avg-reidentification-risk", _average),
        ("({average}, {effective} ({highest}), {share})-avg-reidentification-risk", _average),
        ("({risk})-population-uniqueness ({rest})", _without(UNIQUES)),
        ("({risk})-population-uniques ({rest})", _without(UNIQUES)),
        ("(<{risk}-population-uniques ({rest})", _without(UNIQUES)),
        ("(<{risk})-population-uniques", _without(UNIQUES)),
        ("({epsilon},{delta})-DP{rest}", _without(PRIVATE)),
        ("profitability ({rest}", _without(PROFIT)),
        ("no-attack-profitability ({rest}", _without(PROFIT)),
    )
]
