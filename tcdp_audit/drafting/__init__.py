"""Draft a policy for a table: roles, scales, missing tokens and hierarchies, each with its reason.

vocabulary        words of column names in several languages, and their meanings
column            counts, shares and forms of a column, its scale and missing tokens; its cells stay inside
ladders           generalisation hierarchies of forms
declarations      roles that a file declares, and how people say them
declared, declared_pandera  the forms of such files
roles             the rules that propose a role, and what detectors say of the columns
drafting          `draft_policy`: reads and judges the table
draft             the draft, its files, and YAML with comments
"""

from __future__ import annotations

from tcdp_audit.drafting.draft import DraftColumn, PolicyDraft
from tcdp_audit.drafting.drafting import draft_policy

__all__ = ["DraftColumn", "PolicyDraft", "draft_policy"]
