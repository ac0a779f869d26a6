"""A policy and a release become outcomes.

reference      the distribution that classes are compared with
expectations   what each expectation asks of which attribute
tasks          one expectation on one attribute, and the outcome of it
noted          which records fail an expectation
exposure       which records failing demands expose, each counted once
singles        classes of one record each, measured by value
worst_values   the values of the worst class beside the reference
class_tasks    the same, measured on equivalence classes shard by shard
matched        the same where classes overlap
table_tasks    the same, measured on whole tables
measuring      all tasks on one shard, where the shard is
evaluation     all expectations over all shards
column_warnings   what no demand looks at: hidden people, undeclared identifiers, secrets without a demand
questions      what profiles leave to a person
conventions    the same audit under every convention
"""

from __future__ import annotations

from tcdp_audit.core.auditor.evaluation import Options, evaluate

__all__ = ["Options", "evaluate"]
