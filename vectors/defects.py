"""Known defects of other tools, each with the vector that shows it, or with the place that says it."""

from __future__ import annotations

from typing import NamedTuple


class Defect(NamedTuple):
    """A defect.

    Args:
        tool: and its version.
        sentence: what the tool does.
        vector: that tells right from wrong: its measure, and its table or mistake.
        source: where it is said, for tools that were not run; empty for those that were.
    """

    tool: str
    sentence: str
    vector: str
    source: str = ""


WHY = (
    Defect("pycanon", "leaves out records that lack a quasi-identifier: of one that is missing, the record alone in "
           "its class is not seen", "k_anonymity missing_in_the_only_column"),
    Defect("pycanon", "truncates entropy l-diversity: three equally frequent values count as 2",
           "entropy_l_diversity li07_table4"),
    Defect("pycanon", "computes c of recursive (c,l)-diversity from counts in the wrong order",
           "recursive_cl_diversity almost_homogeneous"),
)  # fmt: skip
OTHERS = (
    Defect("pycanon", "gives a finite β where no β satisfies enhanced β-likeness", "enhanced_beta_likeness all_alone"),
    Defect("pycanon", "counts a missing sensitive value as one more value",
           "distinct_l_diversity missing_all_of_a_class"),
    Defect("anjana", "judges by pyCANON's figures, so that a table at the threshold fails: entropy l = 3",
           "entropy_l_diversity li07_table4"),
    Defect("anonypy", "writes the last share over the threshold of t-closeness, so that nearly every table passes",
           "t_closeness_equal suppressed_ward"),
    Defect("anonypy", "passes a table without a record", "k_anonymity no_record"),
    Defect("acro", "fails a cell in which everyone contributes 0, which its own comment calls safe",
           "p_percent sums_zero"),
    Defect("anonymeter", "removes equal records before it singles out: ten alike count as one person alone",
           "singling_out single_none_alone"),
    Defect("arx", "refuses a distance exactly at the threshold", "t_closeness_equal ds15_figure2"),
    Defect("arx", "reads a text without its leading blanks, so that two values become one",
           "k_anonymity text_leading_blank"),
    Defect("arx", "answers that a table without a record has no unique record", "sample_uniqueness no_record"),
    Defect("sdcMicro", "`recordLinkage` takes the order of the records for the truth, where no identifier is named",
           "distance_record_linkage masked_six_shuffled", "validation.md"),
    Defect("sdcMicro", "`dRisk` counts a missing value as inside", "sd_interval_disclosure masked_missing",
           "validation.md"),
)  # fmt: skip
