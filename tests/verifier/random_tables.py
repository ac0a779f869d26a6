"""Random tables, and the demands that both implementations compute of them."""

from __future__ import annotations

from random import Random
from typing import Any

TREE = {"*": {"low": {"l1": ["a", "b"], "l2": ["c"]}, "high": {"h1": ["d", "e"], "h2": ["f"]}}}
NOMINAL, ORDERED, NUMERIC = list("abcdef"), ["p", "q", "r", "s", "t"], ["1", "2.0", "2", "-3.25", "1e1", "40"]
MISSING_KNOWN, MISSING_SECRET = ("own_category", "fail"), ("excluded", "own_category", "fail")
SEVERAL = ("per_attribute", "others_as_quasi_identifiers")
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "x": {"role": "quasi_identifier"},
    "y": {"role": "quasi_identifier", "scale": "numeric"},
    "nominal": {"role": "sensitive", "scale": "nominal", "hierarchy": TREE},
    "ordered": {"role": "sensitive", "scale": "ordinal", "order": [*ORDERED, "u"]},
    "numeric": {"role": "sensitive", "scale": "numeric"},
}


def random_rows(random: Random) -> list[dict[str, str]]:
    """A table of 1 to 60 records whose cells are seldom missing or suppressed."""

    def cell(values: list[str], more: str) -> str:
        return random.choices([random.choice(values), "", more], [20, random.randrange(3), random.randrange(2)])[0]

    width, hidden = random.choice([2, 4, 6]), random.random() < 0.3
    rows = [
        {
            "x": cell(NOMINAL[:width], "*" if hidden else "g"),
            "y": random.choice(NUMERIC[: random.choice([2, 6])]),
            "nominal": cell(NOMINAL[:width], "l1"),
            "ordered": cell(ORDERED[:width], "t"),
            "numeric": cell(NUMERIC[:width], "0.5"),
        }
        for _ in range(random.randrange(1, 60))
    ]
    return [dict.fromkeys(one, "*") if hidden and random.random() < 0.1 else one for one in rows]


def random_conventions(random: Random) -> dict[str, str]:
    """Conventions that the verifier computes."""
    return {
        "missing_quasi_identifier": random.choice(MISSING_KNOWN),
        "missing_sensitive": random.choice(MISSING_SECRET),
        "suppressed": random.choice(("counted", "exempt")),
        "multiple_sensitive": random.choice(SEVERAL),
    }


def random_demands(random: Random, *, exempt: bool) -> list[tuple[str, dict[str, Any]]]:
    """Every class check, some with a threshold."""
    share = lambda: random.choice([None, "1/4", "1/3", 0.5, 0.7, 1])  # noqa: E731 - read in the lines below
    whole = lambda: random.choice([None, 1, 2, 3])  # noqa: E731 - likewise
    distances = {"nominal": ["equal", "hierarchical", "multiplicative", "kullback_leibler", "jensen_shannon"]}
    distances["ordered"], distances["numeric"] = ["equal", "ordered", "multiplicative"], ["equal", "ordered", "numeric"]
    of = random.choice(list(distances))
    closeness = [
        ("t_closeness", {"attribute": one, "distance": way, "t": None if way in UNBOUNDED else share()})
        for one, ways in distances.items()
        for way in ways
    ]
    demands = [
        *(("k_anonymity", {"k": whole()}), ("sample_uniqueness", {"at_most": share()})),
        *(("distinct_l_diversity", {"l": whole()}), ("homogeneity", {"at_most": share()})),
        ("entropy_l_diversity", {"l": random.choice([None, 1, 2, 3, "5/2", 1.5])}),
        ("recursive_cl_diversity", {"l": random.choice([2, 3]), "c": random.choice([None, 1, 2, "7/2"])}),
        ("alpha_k_anonymity", {"alpha": share(), "k": whole()}),
        ("p_sensitive_k_anonymity", {"p": random.choice([None, 1, 2]), "k": random.choice([None, 2, 3])}),
        ("delta_disclosure", {"delta": random.choice([None, 1, 0.5]), "log_base": 2}),
        *(
            (name, {"beta": random.choice([None, 1, 2, "1/2"])})
            for name in ("basic_beta_likeness", "enhanced_beta_likeness")
        ),
        ("background_knowledge", {"at_least": whole()}),
    ]
    risk = [{"measure": "highest"}, {"measure": "average"}, {"measure": "share_above", "threshold_risk": "1/3"}]
    return [
        *((name, one if name in ON_RECORDS else {**one, "attribute": of}) for name, one in demands),
        *closeness,
        *(("reidentification_risk", {**one, "at_most": share()}) for one in risk if not exempt),
    ]


UNBOUNDED = ("kullback_leibler", "jensen_shannon", "multiplicative")
ON_RECORDS = ("k_anonymity", "sample_uniqueness", "reidentification_risk")
