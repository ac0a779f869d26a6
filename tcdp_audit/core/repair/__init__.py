"""Remedies applied to a release, one after another, until its policy is kept.

dropped     the columns that are not written
open_table  a table in memory, opened once
limits      what remedies may cost
loop        plans, treatments and their audits
own_types   a repaired release in the types that it came in
put_back    its audit, with dropped columns beside it where demands need them
attacks     what somebody finds who knows what the remedies did
output      the file that it is written to, tried first and proven last
fixing      the call: release in, repaired release and its proof out
trial       the same in memory, for an audit that asks what remedies would cost
"""

from __future__ import annotations
