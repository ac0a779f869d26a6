"""A table becomes the draft of a policy: roles, scales, missing tokens and ladders, each with its reason.

vocabulary, words             words of columns' names in several languages, and what they speak of
column                        counts, shares and forms of a column; its cells stay inside
missing, scales, ladders      missing tokens; scales; generalisation hierarchies of forms
declarations, declared, tables_in_file  roles that a file declares: how people say it, which form of file it is
declared_pandera, declared_suite, declared_dbt, declared_contract  the forms
roles                         the rules that propose a role
evidence                      what detectors say of the columns
drafting, draft               the table read and judged; the draft with its files
yaml_text                     YAML with comments
"""

from __future__ import annotations

from tcdp_audit.drafting.draft import DraftColumn, PolicyDraft
from tcdp_audit.drafting.drafting import draft_policy

__all__ = ["DraftColumn", "PolicyDraft", "draft_policy"]
