"""Results of an audit, and what reports are made of. Applications may import this room.

audit, frame     outcomes with their provenance; which records fail, and an audit as a pandas frame
conditions, verdict, written_verdict  the verdict in a word and in sentences, and the conditions that it has
tally            counts of demands and of their outcomes: the one count of every report
change_log, cost what remedies did, and what that costs those who use the release
remedy_trial, setting_trial, frontier  what remedies would do, at the policy's thresholds and at others
document         paragraphs, tables, charts and lists that every format renders
reporter         the kinds of reports and of their sections
findings         what a reader must act on, with its place in the policy, for other tools
written, strict_json     audits read back from the files that they were written to
comparison, change       two written audits compared
protected_files  no output takes the place of an input
"""
