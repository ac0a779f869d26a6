"""The built-in checks: one file, or one folder, a family. What several families share is in `_shared`.

A family is imported when one of its checks is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from tcdp_audit.plugin import LazyCheck, Quarter, ReportSection, hookimpl

if TYPE_CHECKING:
    from tcdp_audit.plugin import Check

FAMILIES = {  # as lists of checks show them
    "k_anonymity": (("k_anonymity", "k-anonymity", Quarter.IDENTITY_MODEL),),
    "alpha_k_anonymity": (("alpha_k_anonymity", "(alpha,k)-anonymity", Quarter.ATTRIBUTE_MODEL),),
    "p_sensitive_k_anonymity": (("p_sensitive_k_anonymity", "p-sensitive k-anonymity", Quarter.ATTRIBUTE_MODEL),),
    "l_diversity": (
        ("distinct_l_diversity", "Distinct l-diversity", Quarter.ATTRIBUTE_MODEL),
        ("entropy_l_diversity", "Entropy l-diversity", Quarter.ATTRIBUTE_MODEL),
    ),
    "recursive_diversity": (("recursive_cl_diversity", "Recursive (c,l)-diversity", Quarter.ATTRIBUTE_MODEL),),
    "t_closeness": (("t_closeness", "t-closeness", Quarter.ATTRIBUTE_MODEL),),
    "delta_disclosure": (("delta_disclosure", "Delta-disclosure privacy", Quarter.ATTRIBUTE_MODEL),),
    "beta_likeness": (
        ("basic_beta_likeness", "Basic beta-likeness", Quarter.ATTRIBUTE_MODEL),
        ("enhanced_beta_likeness", "Enhanced beta-likeness", Quarter.ATTRIBUTE_MODEL),
    ),
    "homogeneity": (("homogeneity", "Homogeneity attack", Quarter.ATTRIBUTE_DEGREE),),
    "background_knowledge": (("background_knowledge", "Background knowledge attack", Quarter.ATTRIBUTE_DEGREE),),
    "skewness": (("skewness", "Skewness attack", Quarter.ATTRIBUTE_DEGREE),),
    "similarity": (("similarity", "Similarity attack", Quarter.ATTRIBUTE_DEGREE),),
    "differential_privacy": (
        ("implied_epsilon", "Implied epsilon", Quarter.ATTRIBUTE_DEGREE),
        ("t_from_epsilon", "t from epsilon", Quarter.ATTRIBUTE_DEGREE),
        ("expected_t_closeness", "Expected t-closeness", Quarter.ATTRIBUTE_DEGREE),
        ("stochastic_t_closeness", "Stochastic t-closeness", Quarter.ATTRIBUTE_MODEL),
    ),
    "interval_disclosure": (
        ("rank_interval_disclosure", "Rank-based interval disclosure", Quarter.ATTRIBUTE_DEGREE),
        ("sd_interval_disclosure", "Standard-deviation interval disclosure", Quarter.ATTRIBUTE_DEGREE),
    ),
    "record_linkage": (
        ("distance_record_linkage", "Distance-based record linkage", Quarter.IDENTITY_DEGREE),
        ("assignment_record_linkage", "Record linkage by optimal assignment", Quarter.IDENTITY_DEGREE),
        ("probabilistic_record_linkage", "Probabilistic record linkage", Quarter.IDENTITY_DEGREE),
        ("exact_match_rate", "Exact-match rate", Quarter.IDENTITY_DEGREE),
        ("distance_to_closest_record", "Distance to closest record", Quarter.IDENTITY_DEGREE),
        ("nearest_neighbour_distance_ratio", "Nearest-neighbour distance ratio", Quarter.IDENTITY_DEGREE),
    ),
    "uniqueness": (
        ("sample_uniqueness", "Sample uniqueness", Quarter.IDENTITY_DEGREE),
        ("population_uniqueness", "Population uniqueness", Quarter.IDENTITY_DEGREE),
    ),
    "population": (
        ("k_map", "k-map", Quarter.IDENTITY_MODEL),
        ("delta_presence", "δ-presence", Quarter.IDENTITY_DEGREE),
    ),
    "individual_risk": (("individual_risk", "Individual risk", Quarter.IDENTITY_DEGREE),),
    "reidentification": (("reidentification_risk", "Re-identification risk", Quarter.IDENTITY_DEGREE),),
    "suda": (("suda", "Special uniques (SUDA)", Quarter.IDENTITY_DEGREE),),
}


@hookimpl
def tcdp_audit_checks() -> Iterator[LazyCheck]:
    """Every built-in check."""
    for family, checks in FAMILIES.items():
        for name, title, quarter in checks:
            yield LazyCheck(name, title, quarter, partial(_of_family, family, name))


@hookimpl
def tcdp_audit_report_sections() -> Iterator[ReportSection]:
    """What reports say of several of these checks together."""
    from tcdp_audit_plugins.sections import SECTIONS  # noqa: PLC0415 - only for reports

    yield from SECTIONS


def _of_family(family: str, name: str) -> Check:
    checks: list[Check] = import_module(f"{__name__}.{family}").CHECKS
    return next(check for check in checks if check.name == name)
