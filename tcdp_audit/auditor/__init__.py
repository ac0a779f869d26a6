"""A policy and a release become outcomes.

reference      the distribution that classes are compared with
expectations   what each expectation asks of which attribute
tasks          the work of one expectation, shard by shard
matched        the same where classes overlap
evaluation     all expectations over all shards
conventions    the same audit under every convention
"""

from __future__ import annotations

from tcdp_audit.auditor.evaluation import Options, evaluate

__all__ = ["Options", "evaluate"]
