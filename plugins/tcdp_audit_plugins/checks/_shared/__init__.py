"""Shared by several checks: distances, logarithms, windows, samples of a population, sentences and guides.

boxes                                    which points lie in which boxes
candidate_sets                           who a person may be, and what a matching of everyone leaves
known_attributes, attribute_sets         which attributes an intruder knows, and sets of them
control_comparison                       how often an attack succeeds, beyond its success on a control
distances                                t-closeness by each distance
certain_values                           what all members of a class have, and shares where a member has several
closeness_guide                          the guide of a closeness check
entropy, logarithms                      irrational figures, compared exactly
frequency_ratios, ranked_counts, windows  shares against the table, commonest values, values close together
sensitive_values                         parameters that name values, and missing ones where they are a failure
sampling, pitman                         the population behind a release
class_risks, households                  risks in an estimated population, and people found through their household
key_sketch                               how many keys there are, from a sample of their hashes
detected_columns                         columns that detectors recognise
minimal_uniques, uniqueness_guide        records that are alone
"""
