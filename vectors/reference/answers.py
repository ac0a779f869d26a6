"""The answer to a vector's question."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from vectors.reading import Vector, rows
from vectors.reference import other_tables, risks
from vectors.reference.class_measures import CLASS_MEASURES
from vectors.reference.classes import convention, judge
from vectors.reference.risks import TableMeasure
from vectors.reference.values import Value, keeps, written

UNDEFINED: tuple[Any, str] = ("undefined", "fail")
TABLE_MEASURES = {
    "sample_uniqueness": TableMeasure(risks.uniqueness, "at_most"),
    "homogeneity": TableMeasure(risks.homogeneity, "at_most"),
    "reidentification_risk": TableMeasure(risks.reidentification, "at_most"),
    "k_map": TableMeasure(risks.k_map, "k", ">="),
    "delta_presence": TableMeasure(risks.delta_presence, "delta_max"),
    "population_uniqueness": TableMeasure(risks.population_uniqueness, "at_most"),
    "individual_risk": TableMeasure(risks.individual_risk, "at_most"),
    "suda": TableMeasure(risks.suda, "at_most"),
    "suda_score": TableMeasure(risks.suda_score, ""),
    "known_events": TableMeasure(risks.known_events, "k", ">="),
    "unicity": TableMeasure(risks.unicity, "at_most"),
    "sd_interval_disclosure": TableMeasure(other_tables.sd_interval, "at_most"),
    "rank_interval_disclosure": TableMeasure(other_tables.rank_interval, "at_most"),
    "distance_record_linkage": TableMeasure(other_tables.linkage, "at_most"),
    "dominance": TableMeasure(other_tables.dominance, "k"),
    "p_percent": TableMeasure(other_tables.p_percent, "p", ">="),
    "cell_frequency": TableMeasure(other_tables.cell_frequency, "k", ">="),
    "age_cap": TableMeasure(other_tables.ages_above, "at_most"),
    "region_population": TableMeasure(other_tables.region_population, "at_least", ">="),
    "singling_out": TableMeasure(other_tables.singled_out, ""),
}


def answer(vector: Vector) -> tuple[Any, str]:
    """The figure as a file has it, and the verdict (empty without a threshold)."""
    if not rows(vector.path):
        return UNDEFINED
    if vector.measure in CLASS_MEASURES and not _of_histories(vector):
        return _of_classes(vector)
    measure = TABLE_MEASURES.get(vector.measure, TableMeasure(risks.whole_histories, "k", ">="))
    judged = judge(vector) if vector.declared.get("attributes") else None
    if vector.declared.get("attributes") and judged is None:
        return UNDEFINED
    try:
        value = measure.figure(vector)
    except ZeroDivisionError:  # a share of nothing
        return UNDEFINED
    if measure.threshold not in vector.parameters:
        return written(value), ""
    kept = keeps(value, measure.comparison, Fraction(vector.parameters[measure.threshold]))
    if "delta_min" in vector.parameters:
        kept = kept and risks.least_presence(vector) >= Fraction(vector.parameters["delta_min"])
    return written(value), _verdict(kept=kept and not (judged and judged.lacks))


def value_of(vector: Vector) -> Value:
    """The figure itself, of a table that has one."""
    if vector.measure in CLASS_MEASURES and not _of_histories(vector):
        measure, judged = CLASS_MEASURES[vector.measure], judge(vector)
        if judged is None:
            raise ValueError(vector.id)
        return measure.worst(measure.figures(judged, vector))
    return TABLE_MEASURES.get(vector.measure, TableMeasure(risks.whole_histories, "k")).figure(vector)


def threshold_of(measure: str) -> tuple[str, str]:
    """The parameter that a measure is compared with, and how."""
    one = CLASS_MEASURES.get(measure) or TABLE_MEASURES[measure]
    return one.threshold, one.comparison


def _of_histories(vector: Vector) -> bool:
    whole = "unit" in vector.declared and convention(vector, "known_rows", "all") == "all"
    return whole and vector.measure == "k_anonymity"


def _of_classes(vector: Vector) -> tuple[Any, str]:
    measure, judged = CLASS_MEASURES[vector.measure], judge(vector)
    if judged is None:
        return UNDEFINED
    value = measure.worst(measure.figures(judged, vector))
    kept = measure.threshold in vector.parameters and measure.passes(judged, vector, value)
    return written(value), _verdict(kept=kept) if measure.threshold in vector.parameters else ""


def _verdict(*, kept: bool) -> str:
    return "pass" if kept else "fail"
