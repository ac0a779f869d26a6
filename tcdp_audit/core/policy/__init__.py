"""The policy: what a release must satisfy, read from YAML with every fault at its line.

scalars, source       types of fields, as they were typed, and the place of each in the file or the mapping
model                 attributes, conventions, the document
aggregates            tables of figures, models, and the records behind them
aggregate_faults      their faults
faults                faults as sentences; the faults of scenarios
mending               what an unsound value may have been intended to be; parts of a document that contradict each other
scenarios             intruders, each with what it knows, and their faults
reading, loading      a document, a text or a mapping becomes a policy, or all of its faults
tables                tables of figures apart, and linked tables with their columns as one list of attributes
policy                a policy that is sound, and profiles: named thresholds with their sources
schema                what a policy may name, and its JSON Schema
discovery             the policy when none is named
"""
