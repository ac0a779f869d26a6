"""A policy and a release become outcomes.

reference         the distribution that classes are compared with
tasks             one expectation on one attribute, and its outcome
singles           classes of one record each, measured by value
class_tasks       an expectation measured on equivalence classes shard by shard
table_tasks       an expectation measured on whole tables
expectations      what each expectation asks of which attribute
exposure          which records failing demands expose, each counted once
failing_records   which records fail an expectation
measuring         all tasks on one shard, where the shard is, whether or not classes overlap
evaluation        all expectations over all shards
column_warnings   what no demand looks at, and what profiles leave to a person
conventions       the same audit under every convention
"""
