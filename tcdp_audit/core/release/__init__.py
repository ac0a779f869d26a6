"""A table under a policy.

release               its columns with their roles, the domains of their values, and declared hierarchies
coded                 any table in the domains of the release: the original, the population
generalized_matches   which values of the original each generalised cell of the release matches
pairs                 original records paired with released ones
pairing               all pairs of two tables, or those of a sample
distinct              tables larger than the memory as their distinct rows, whole or part by part
common_parts          what several labels of an attribute have in common
unit_readings         what an intruder reads in the rows of one unit
structure             what is wrong with the table as such, whatever the demands
hidden                cells that count as missing although they tell people apart
columns               what policy and table say of each column, for a result
"""
