"""Measures of information loss: a repaired release compared with the release that it was made from.

columns                          the change of values, of equivalence classes, and of the rows that a unit joins
coverage                         losses whatever the scale; what a value leaves open; mutual information
scales, ordered                  the measures of each scale: hierarchies and sets; ranks and numbers
counting                         errors of counts of one column and of two
least_squares, regression        coefficients, and how far their intervals overlap
prediction                       columns as numbers; accuracy of a model that is trained on the release
propensity                       how well a logistic model distinguishes the two releases
loss                             every measure, computed when it is asked for
"""
