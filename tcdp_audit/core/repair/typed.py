"""`measure` for type checkers: the stub next to this file has a signature for each built-in check.

`python -m tools.generate` writes the stub from the parameters of the checks. For a check of a plugin, or a name that is
known only at run time, pass the parameters as a mapping: `measure(name, frame, parameters={"k": 5}, …)`.
"""

from __future__ import annotations

from tcdp_audit.core.repair.audits import measure

__all__ = ["measure"]
