"""Kinds of values of a column: detectors of identifiers, and their answers on a table.

column          what detectors see of a column: its name, some distinct values, how many there are; a share of hits
detector        what a detector is: values of a form, or a whole column
detecting       every detector on every column of a table
"""
