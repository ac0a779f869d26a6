"""Audits as they were written: JSON results, and the HTML reports that hold one, read back.

strict   files as text, and JSON in which nothing is said twice
shape    what every result has, whatever later versions add
audit    the audit that a file holds
"""

from __future__ import annotations

from tcdp_audit.core.results.written.audit import WrittenAudit, read_audit

__all__ = ["WrittenAudit", "read_audit"]
