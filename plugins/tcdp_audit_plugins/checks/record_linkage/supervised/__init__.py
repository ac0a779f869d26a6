"""Supervised record linkage, from the check down to the numbers.

supervised_record_linkage, its parameters and guide; search and held_out; surrogate and coordinate_search, or
exact_optimum with its regions, mixed_integer and solver_process; families, links and paired_points.
"""
