"""A table under a policy.

release               its columns with their roles, domains and declared hierarchies, for an audit and for a result
coded                 any table in the domains of the release, whole or as its distinct rows
generalized_matches   which values of the original each generalised cell of the release matches
alignment             values of a table with a schema of its own, as the cells of the release that cover them
pairs                 original records paired with released ones
pairing               all pairs of two tables, or those of a sample
common_parts          what several labels of an attribute have in common
unit_readings         what an intruder reads in the rows of one unit
structure             what is wrong with the table as such, whatever the demands
hidden                cells that count as missing although they distinguish people
"""
