"""What is wrong with a policy that is sound: demands in vain, implied by others, or that no release can keep.

policy_findings   what a policy tells by itself
implied           demands that hold whenever another holds
release_findings  what a policy does to a release: wildcards, exempt records
"""

from __future__ import annotations

from tcdp_audit.cli.linting.policy_findings import policy_findings
from tcdp_audit.cli.linting.release_findings import release_findings

__all__ = ["policy_findings", "release_findings"]
