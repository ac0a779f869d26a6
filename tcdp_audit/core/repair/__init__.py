"""Remedies applied to a release, one after another, until it satisfies its policy.

candidate   a release after some remedies, with its opened table; the limits of its loss; the columns that are dropped
pseudonyms  the units behind pseudonyms that a remedy drew anew
loop        suggestions, treatments and their audits
restored_columns    a repaired release in the types of the input, and its audit with dropped columns where needed
attacks     attacks by an intruder who knows the remedies
linked_loop     one of several linked tables as a remedy sees it; what belongs to dropped rows goes with them
linked_pseudonyms   the columns that link several tables, with other pseudonyms in the place of those of the input
linked_release  the folder of several repaired tables, audited before it appears
output      the output file, tested before the repair and audited after it
fixing      `fix`: repair a release and audit the result; the same in memory, for `try_remedies`
figure_trial    changes of tables of figures that would help, each tried in memory; for `try_remedies` as well
session     `open_session`: many policies asked of one release, one at a time
audits      `audit`, `measure`, `failing_records`, `load_policy`; typed has `measure` with a signature a check
"""

from __future__ import annotations
