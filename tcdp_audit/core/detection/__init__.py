"""What the values of a column are: detectors of identifiers, and what came of them on a table.

detector        what a detector is: values of a form, or a whole column
column_words    whether a column's name says what the column is
column          what detectors see of a column: some distinct values, and how many there are
evidence        a share of hits beside that of a random column
detecting       every detector on every column of a table
"""
