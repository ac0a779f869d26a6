"""Remedies applied to a release, one after another, until its policy is kept.

candidate   what remedies have made of a release so far, its table opened once; what it may lose, what is not written
loop        suggestions, treatments and their audits
restored_columns    a repaired release in the types that it came in, and its audit with dropped columns where needed
attacks     what an intruder finds who knows what the remedies did
output      the file that it is written to, tried first and proven last
fixing      `fix`: release in, repaired release and its proof out; the same in memory, for an audit that asks
audits      `audit`, `measure`, `failing_records`, `load_policy`; typed has `measure` with a signature a check
"""

from __future__ import annotations
