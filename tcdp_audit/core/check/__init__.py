"""Checks: what they declare, and the evidence that they see.

specification   what every check declares
threshold       a threshold as policies, pages and reports know it
parameters      what every check's parameters have in common
guide           what a person needs to know about a check
on_classes      checks that are measured on equivalence classes:
class_check     every class must keep the thresholds
victim_check    an attack, and the share of records in the classes that it succeeds on
table_check     a check on the release as a whole, and on the tables next to it
kinds           all of these
announced       checks that are loaded when they are named
evidence        what a check on classes sees
table_view      what a check on tables sees, read when asked for
exact           figures that compare exactly with a threshold
distribution, by_size, summary   what is kept of a figure over classes; merges
needs           what a check needs of a policy, and what is said where it is missing
sentences       what a check says about an outcome: templates, and what fills them
verdict         what came of a check
estimate        what a sample says of a figure of all pairs
unfailable      demands that nothing can fail
vacuous         those of them that can be decided without a release
undemanded      sensitive columns of which nothing is demanded
"""
