"""Equivalence classes: the records that agree on every quasi-identifier.

histogram       how often each value of a confidential attribute occurs in each class
joint           several confidential attributes as one
wildcard_rows, wildcard   cells that match several values, so that classes overlap
grouping        records as classes, with entities that count once per class and value
column_risk     what each column that an intruder may know adds to the risk
strength, strength_measures  how well sets of columns distinguish records, exactly or in a sample
shards          classes in parts that fit into memory
rolled_up       a table read once for several sets of columns
"""
