"""The Adult experiment: seven quasi-identifiers, occupation as the sensitive attribute, six policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

QUASI_IDENTIFIERS = ("age", "education", "marital-status", "race", "sex", "native-country", "workclass")
POLICIES: dict[str, list[dict[str, Any]]] = {
    "k=5": [{"k_anonymity": {"k": 5}}],
    "k=10": [{"k_anonymity": {"k": 10}}],
    "k=5, distinct l=3": [{"k_anonymity": {"k": 5}}, {"distinct_l_diversity": {"l": 3}}],
    "k=5, equal t=0.2": [{"k_anonymity": {"k": 5}}, {"t_closeness": {"t": 0.2, "distance": "equal"}}],
    "k=5, equal t=0.15": [{"k_anonymity": {"k": 5}}, {"t_closeness": {"t": 0.15, "distance": "equal"}}],
    "k=5, entropy l=3, hierarchical t=0.2": [
        {"k_anonymity": {"k": 5}},
        {"entropy_l_diversity": {"l": 3}},
        {"t_closeness": {"t": 0.2, "distance": "hierarchical"}},
    ],
}


def policy(data: Path, expect: list[dict[str, Any]], *remedies: dict[str, Any]) -> dict[str, Any]:
    """A policy of the experiment; age is numeric, the others have hierarchies."""
    hierarchies = data / "adult" / "hierarchies"
    attributes: dict[str, Any] = {
        name: {"role": "quasi_identifier", "scale": "nominal", "hierarchy": str(hierarchies / f"{name}.csv")}
        for name in QUASI_IDENTIFIERS
    }
    attributes["age"]["scale"] = "numeric"
    attributes["occupation"] = {
        "role": "sensitive",
        "scale": "nominal",
        "hierarchy": str(hierarchies / "occupation.csv"),
    }
    attributes["salary-class"] = {"role": "insensitive"}
    document = {"version": 1, "attributes": attributes, "expect": expect}
    return {**document, "remedy": list(remedies)} if remedies else document
