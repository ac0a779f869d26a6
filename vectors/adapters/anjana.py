"""ANJANA: it anonymises to a threshold; a table that it returns whole, without generalising, keeps the threshold."""

from __future__ import annotations

import contextlib
import io
from fractions import Fraction

from vectors.adapters import LacksError, Reply
from vectors.adapters.frames import frame, quasi, require_plain
from vectors.reading import Vector

PACKAGE = "anjana"
WHOLE = {"k", "l", "c"}
MEASURES = {  # the function, and its parameter for our threshold
    "k_anonymity": ("k_anonymity", "k", "k"),
    "alpha_k_anonymity": ("alpha_k_anonymity", "alpha", "alpha"),
    "distinct_l_diversity": ("l_diversity", "l", "l_div"),
    "entropy_l_diversity": ("entropy_l_diversity", "l", "l_div"),
    "recursive_cl_diversity": ("recursive_c_l_diversity", "c", "c"),
    "t_closeness_equal": ("t_closeness", "t", "t"),
    "t_closeness_ordered": ("t_closeness", "t", "t"),
    "basic_beta_likeness": ("basic_beta_likeness", "beta", "beta"),
    "enhanced_beta_likeness": ("enhanced_beta_likeness", "beta", "beta"),
    "delta_disclosure": ("delta_disclosure", "delta", "delta"),
}
READINGS = {
    "delta_disclosure": "absent values are ignored",
    "t_closeness_ordered": "the values that occur are the domain",
}


def answer(vector: Vector) -> Reply:
    """Whether the table comes back as it is, with no suppression allowed and no hierarchy to generalise by."""
    from anjana import anonymity  # noqa: PLC0415 - only its own environment has it

    if vector.measure not in MEASURES:
        raise LacksError("no such measure")
    require_plain(vector)
    name, ours, theirs = MEASURES[vector.measure]
    if ours not in vector.parameters:
        raise LacksError("no figure, only whether a threshold is kept")
    threshold = Fraction(vector.parameters[ours])
    if ours in WHOLE and threshold.denominator != 1:
        raise LacksError(f"whole {ours} alone")
    given = {theirs: int(threshold) if ours in WHOLE else float(threshold)}
    table = frame(vector)
    if vector.measure == "recursive_cl_diversity":
        given["l_div"] = int(vector.parameters["l"])
    if vector.measure != "k_anonymity":
        given |= {"k": 1, "sens_att": vector.parameters["attribute"]}
    levels = {one: {0: table[one].to_numpy()} for one in quasi(vector)}
    with contextlib.redirect_stdout(io.StringIO()):
        kept = getattr(anonymity, name)(data=table, ident=[], quasi_ident=quasi(vector), supp_level=0,
                                        hierarchies=levels, **given)  # fmt: skip
    return Reply(verdict="pass" if len(kept) == len(table) else "fail")
