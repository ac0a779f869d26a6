"""Remedies applied to a release, one after another, until its policy is kept.

dropped     the columns that are not written
open_table  a table in memory, opened once
limits      what remedies may cost
loop        plans, treatments and their audits
own_types   a repaired release in the types that it came in
restored_columns    its audit, with dropped columns beside it where demands need them
attacks     what somebody finds who knows what the remedies did
output      the file that it is written to, tried first and proven last
fixing      `fix`: release in, repaired release and its proof out
audits      `audit`, `measure`, `failing_records`, `load_policy`; typed has `measure` with a signature a check
trial       the same in memory, for an audit that asks what remedies would cost
"""

from __future__ import annotations
