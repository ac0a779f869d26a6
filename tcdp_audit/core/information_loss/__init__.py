"""Measures of information loss: a repaired release beside the release that it was made from.

penalty                          how much a value leaves open
columns                          what became of each value, in how many records
numeric, ordered, hierarchical, nominal   the measures of each scale
scales, coverage                 an attribute under its scale; losses whatever the scale
mutual                           what a column tells of itself, and of sensitive attributes
counting                         errors of counts of one column and of two
class_sizes                      loss of equivalence classes
features                         a column as numbers that a model takes
least_squares, student, regression   coefficients, and how far their intervals overlap
prediction                       accuracy of a model that is trained on the release
logistic, propensity             how well a model tells the two releases apart
loss                             every measure, computed when it is asked for
"""

from tcdp_audit.core.information_loss.loss import InformationLoss, information_loss
from tcdp_audit.core.information_loss.prediction import require_scikit_learn

__all__ = ["InformationLoss", "information_loss", "require_scikit_learn"]
