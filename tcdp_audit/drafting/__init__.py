"""Draft a policy for a table, or for linked ones: roles, scales, missing tokens, hierarchies and links, with reasons.

vocabulary        words of column names in several languages, and their meanings
column            counts, shares and forms of a column, its scale and missing tokens; its cells stay inside
hierarchies       generalization hierarchies of forms
declarations      roles that a file declares, and how people say them
declared, declared_pandera  the forms of such files
roles             the rules that propose a role, and what detectors say of the columns; intruders by kinds of columns
common_columns    what two tables say of a link between them, value by value
links             the rules that propose the links of tables, and the unit
drafting          `draft_policy`: reads and judges tables
draft             the draft, its files, and YAML with comments
yaml_edits        a YAML text that says something else, with all the rest to the letter
editor            `PolicyEditor`: changes of a policy as decisions, undone and made again
"""

from __future__ import annotations

from tcdp_audit.drafting.draft import DraftColumn, PolicyDraft
from tcdp_audit.drafting.drafting import draft_policy
from tcdp_audit.drafting.editor import Decision, PolicyEditor

__all__ = ["Decision", "DraftColumn", "PolicyDraft", "PolicyEditor", "draft_policy"]
