"""Checks: what they declare, and the evidence that they see.

specification   what every check declares
threshold       a threshold, parameters, and figures that compare exactly with it
class_check     checks on equivalence classes: thresholds that every class keeps, attacks, and the share they succeed on
table_check     a check on the release as a whole, and on the tables next to it; figures estimated from a sample
aggregate_check a check on released tables of figures, which have cells and no records
kinds           all of these, and checks that are loaded when they are named
evidence        what a check on classes sees, the distribution it compares with, and demands that nothing can fail
table_view      what a check on tables sees, read when asked for
by_size, summary   what is kept of a figure over classes; merges
needs           what a check needs of a policy, and what is said where it is missing
missing_values  classes in which no record has a value: what is said of them, and of all others
sentences       what a check says about an outcome: templates, and what fills them
translation     the same in the language of a report; `say`, which makes a sentence of a report
demands         thresholds that a demand may have, and whether one demands at least what another does
strictness      demands that are laxer than usual, and demands that others imply
vacuous         demands that no release can fail; sensitive columns of which nothing is demanded
"""
