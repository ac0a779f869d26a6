"""Remedies: what they declare, and the view of a release that they see.

remedy      parameters, suggestions, treatment: what every remedy declares; which failing demands it may help
demands     what equivalence classes must keep
merged      the same, while classes are being merged
view        the release as a remedy sees it
unit_cells  the cells of a unit as one
treatment   a treatment carried out on the table
"""
