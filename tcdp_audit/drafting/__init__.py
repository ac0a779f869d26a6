"""Draft a policy for a table, or for linked ones: roles, scales, missing tokens, hierarchies and links, with reasons.

vocabulary        words of column names in several languages, and their meanings
abbreviations     abbreviations in names of columns, and names divided into words
notation          numbers with a decimal comma, and encodings
column            counts, shares and forms of a column, its scale and missing tokens; its cells stay inside
hierarchies       generalization hierarchies of forms
hierarchy_builder hierarchies that a person asks for, and the groups that each level has
code_lists        known lists of countries and their parts
declarations      roles that a file declares, and how people say them
declared, declared_pandera  the forms of such files
relations         what columns of one table say of each other
roles             the rules that propose a role, and what detectors say of the columns
scenarios         intruders by kinds of columns
common_columns    what two tables say of a link between them, value by value
figures           tables of figures: labels, measures, totals found by addition, texts that hide figures
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
