"""Read a project of ARX, and draft a policy that decides as it does.

project      the project's file: its archive, XML, tables and research sample, within bounds
models       each form in which ARX writes a privacy model, and the demands that decide alike
translation  the draft: roles, hierarchies, demands, the remedy, the tables next to it, and what is not taken over
"""

from __future__ import annotations

from tcdp_audit.arx.project import ArxProject, read_project
from tcdp_audit.arx.translation import ProjectDraft, draft_of_project

__all__ = ["ArxProject", "ProjectDraft", "draft_of_project", "read_project"]
