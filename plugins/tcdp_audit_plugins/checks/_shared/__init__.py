"""Shared by several checks: distances, logarithms, windows, samples of a population, sentences and guides.

boxes, lanes                             which points lie in which boxes
candidate_sets                           who a person may be, and what a matching of everyone leaves
distances                                t-closeness by each distance
certain_values                           what all members of a class have, and shares where a member has several
closeness_sentence, closeness_guide      a closeness check in words
entropy, logarithms                      irrational figures, compared exactly
frequency_ratios, ranked_counts, windows  shares against the table, commonest values, values close together
missing_values                           what missing sensitive values mean where they are a failure
named_values                             parameters that name values
sampling, population_estimators, pitman  the population behind a release
minimal_uniques, uniqueness_guide        records that are alone
"""
