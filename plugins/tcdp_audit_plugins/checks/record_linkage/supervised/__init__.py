"""Supervised record linkage, from the check down to the numbers.

supervised_record_linkage, its parameters and guide; search; surrogate, or exact_optimum with mixed_integer and
solver_process; families, links and paired_points.
"""
