"""The tables that papers print, and the figures that they print of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vectors.make.tables import PAPERS, QUASI, Case

LI, DS, TORRA = (
    "Li, Li, Venkatasubramanian, t-Closeness, ICDE 2007",
    "Domingo-Ferrer, Soria-Comas, Knowledge-Based Systems 74, 2015",
    "Torra, Privacy models and disclosure risk, 2020",
)


class Printed(NamedTuple):
    """A question about a printed table.

    Args:
        case: the table.
        attribute: that is asked about; None for none.
        attributes: what is declared of the sensitive columns.
        measures: that are asked.
        place: in the paper.
        conventions: of the question.
        parameters: of the question.
    """

    case: str
    attribute: str | None
    attributes: Mapping[str, Any]
    measures: str
    place: str
    conventions: Mapping[str, Any] = {}
    parameters: Mapping[str, Any] = {}


def tree(file: str) -> dict[str, Any]:
    """A hierarchy file, leaf first, as the nested mapping of a vector."""
    nested: dict[str, Any] = {}
    for line in (PAPERS / file).read_text(encoding="utf-8").splitlines():
        leaf, *above = line.split(";")
        node = nested
        for name in reversed(above[1:]):
            node = node.setdefault(name, {})
        node.setdefault(above[0], []).append(leaf)
    return nested


def cases() -> dict[str, Case]:
    """The tables."""
    quasi = {
        **{f"li07_table{n}": ["zip", "age"] for n in (1, 2, 3, 4, 5)},
        "ds15_figure2": ["equivalence_class"],
        "ds15_table1": ["equivalence_class"],
        "t20_release": ["city", "age"],
        "t20_enfield": ["town", "degree"],
    }
    return {
        name: Case(name, (PAPERS / f"{name}.csv").read_text(encoding="utf-8"), known, secrets=())
        for name, known in quasi.items()
    }


def printed() -> list[Printed]:
    """The questions, those with the papers' own figures first."""
    disease = {"disease": {"role": "sensitive", "scale": "nominal"}}
    salary = {"salary": {"role": "sensitive", "scale": "numeric"}}
    taxonomy = {"disease": {**disease["disease"], "hierarchy": tree("li07_disease_hierarchy.csv")}}
    six = {table: _six(table) for table in ("li07_table4", "li07_table5")}
    questions = [
        Printed("li07_table1", None, disease, "k_anonymity sample_uniqueness reidentification_risk", "table 1"),
        Printed("li07_table2", "disease", disease, "homogeneity background_knowledge distinct_l_diversity", "table 2"),
        Printed("li07_table2", "disease", disease, "alpha_k_anonymity p_sensitive_k_anonymity", "table 2"),
    ]
    for n in (4, 5):
        name, place = f"li07_table{n}", f"table {n}"
        questions += [
            Printed(name, "salary", salary, "t_closeness_ordered t_closeness_numeric", f"{place}, salary"),
            Printed(name, "disease", taxonomy, "t_closeness_hierarchical", f"{place}, disease, by definition 1"),
            Printed(name, "disease", disease, "t_closeness_equal entropy_l_diversity recursive_cl_diversity", place),
            Printed(name, "disease", disease, "distinct_l_diversity k_anonymity basic_beta_likeness", place),
            Printed(name, "disease", disease, "enhanced_beta_likeness t_closeness_multiplicative skewness", place),
            Printed(
                name,
                "disease",
                {"disease": {**taxonomy["disease"], "distribution": six[name]}},
                "t_closeness_hierarchical",
                f"{place}, disease, as printed: its reference is uniform over the six diseases",
                {"reference": "declared"},
            ),
        ]
    bucket = {"bucket": {"role": "sensitive", "scale": "nominal"}}
    measures = "t_closeness_multiplicative delta_disclosure t_closeness_equal basic_beta_likeness"
    questions += [
        Printed("ds15_figure2", "bucket", bucket, measures, "figure 2"),
        Printed("ds15_table1", "bucket", bucket, measures, "table 1"),
        Printed("ds15_figure2", "bucket", bucket, "entropy_l_diversity recursive_cl_diversity", "figure 2"),
        Printed("t20_release", "illness", {"illness": disease["disease"]}, "k_anonymity homogeneity", "five records"),
        Printed("t20_release", "illness", {"illness": disease["disease"]}, "background_knowledge", "HYU and CIO"),
        Printed("t20_release", "illness", {"illness": disease["disease"]}, "p_sensitive_k_anonymity", "five records"),
        Printed("t20_enfield", None, {}, "k_anonymity sample_uniqueness", "Enfield"),
    ]
    return questions


def paper(case: str) -> str:
    """Whose table it is."""
    return {"li": LI, "ds": DS, "t2": TORRA}[case[:2]]


def attributes(case: Case, sensitive: Mapping[str, Any]) -> dict[str, Any]:
    """What is declared of every column."""
    rest = {"role": "insensitive", "scale": "nominal"}
    return {name: QUASI if name in case.quasi_identifiers else sensitive.get(name, rest) for name in case.columns}


def _six(table: str) -> dict[str, str]:
    lines = (PAPERS / f"{table}.csv").read_text(encoding="utf-8").splitlines()
    place = lines[0].split(",").index("disease")
    return dict.fromkeys(sorted({line.split(",")[place] for line in lines[1:]}), "1")
