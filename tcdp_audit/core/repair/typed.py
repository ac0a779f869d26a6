"""`measure` as type checkers know it: the stub next to this file has a signature for each built-in check.

`python -m tools.generate` writes the stub from the parameters of the checks. A check whose name only the
program knows, or that is a plugin's, takes its parameters as a mapping there:
`measure(name, frame, parameters={"k": 5}, …)`.
"""

from __future__ import annotations

from tcdp_audit.core.repair.audits import measure

__all__ = ["measure"]
