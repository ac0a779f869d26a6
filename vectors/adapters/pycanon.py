"""pyCANON: its functions on a data frame. It measures; what a threshold means is left to the caller."""

from __future__ import annotations

from vectors.adapters import LacksError, Reply, digits
from vectors.adapters.frames import frame, quasi, require_plain
from vectors.reading import Vector

PACKAGE = "pycanon"
FUNCTIONS = {
    "k_anonymity": "k_anonymity",
    "alpha_k_anonymity": "alpha_k_anonymity",
    "distinct_l_diversity": "l_diversity",
    "entropy_l_diversity": "entropy_l_diversity",
    "recursive_cl_diversity": "recursive_c_l_diversity",
    "t_closeness_equal": "t_closeness",
    "t_closeness_ordered": "t_closeness",
    "basic_beta_likeness": "basic_beta_likeness",
    "enhanced_beta_likeness": "enhanced_beta_likeness",
    "delta_disclosure": "delta_disclosure",
}
READINGS = {
    "delta_disclosure": "absent values are ignored",
    "entropy_l_diversity": "the whole number below",
    "recursive_cl_diversity": "the least whole c",
    "t_closeness_ordered": "the values that occur are the domain",
}


def answer(vector: Vector) -> Reply:
    """The figure of the function; the documented type of an attribute chooses the distance: numbers are ordered."""
    from pycanon import anonymity  # noqa: PLC0415 - only its own environment has it

    if vector.measure not in FUNCTIONS:
        raise LacksError("no such measure")
    require_plain(vector, others_known=True)
    function = getattr(anonymity, FUNCTIONS[vector.measure])
    if vector.measure == "k_anonymity":
        return Reply(digits(function(frame(vector), quasi(vector))))
    several = {"gen": False} if "multiple_sensitive" in vector.conventions else {}
    secrets = [name for name, one in vector.declared["attributes"].items() if one["role"] == "sensitive"]
    secrets = secrets if several else [vector.parameters["attribute"]]
    if len(secrets) > 1:
        raise LacksError("the figure of several secrets is that of the worst of them")
    figure = function(frame(vector), quasi(vector), secrets, **several)
    if vector.measure == "recursive_cl_diversity":
        c, l = figure
        if l != int(vector.parameters["l"]):
            raise LacksError("c for the table's own l alone")
        figure = c
    return Reply(digits(figure[0] if isinstance(figure, tuple) else figure))
