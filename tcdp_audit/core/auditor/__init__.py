"""Evaluation of a release under a policy.

views             the tables in which demands are judged: rows, units with their histories, rows with histories
linked_rows       what an audit says of a unit that joins rows
summed_units      whether histories are compared where the table is
history_figures   what an intruder learns of a unit, whichever of its rows a value is in; what each column adds
tasks             one expectation on one attribute, and its outcome; classes of one record, measured by value
class_tasks       an expectation measured on equivalence classes shard by shard
worst_values      the values of the worst class without their names; a number is one value in all outcomes
table_tasks       an expectation measured on whole tables
figures           the outcomes of released tables of figures: what is wrong with them, and expectations on cells
expectations      the tasks of a policy's expectations
exposure          which records failing demands expose, each counted once; which records fail an expectation
measuring         all tasks on one shard, on the machine of the shard; with disjoint or overlapping classes
evaluation        all expectations, scenario by scenario
view_evaluation   the expectations of one scenario on one table over all shards; records exposed in several scenarios
identifying_columns  columns that look like identifiers or differ in nearly every record
column_warnings   warnings of columns that no demand examines, and questions of profiles to a person
unit_columns      attributes that differ within units, columns that join rows
conventions       the audit under every combination of conventions
"""
