"""Remedies: their declarations, and their view of a release.

remedy      parameters, suggestions and treatment of a remedy; the failing demands that it may help
demands     the demands on equivalence classes
merged      the demands on unions of classes
view        the release as a remedy sees it
unit_cells  the cells of a unit as one
treatment   a treatment applied to the table
"""
