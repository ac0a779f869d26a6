"""Results: what audits, repairs and frontiers say, in objects, sentences and blocks. Applications may import them.

An audit and what is said of it:
audit            `Audit`: outcomes with their provenance; `render_several`
frame            an audit as a pandas frame, and `FailingRecords`: which records fail each expectation
tally            the demands counted by what came of them, once for every report
conditions       what a release that keeps its policy is fit for, and under which conditions
verdict          an audit in a word and in sentences: `verdict_title`, `verdict_sentence`
findings         what has to be acted on, as a list for other tools, with its place in the policy: `findings_of`

Repairs and other thresholds:
change_log       `ChangeLog`: what remedies did
cost             what that costs those who use the release, in sentences
remedy_trial     `RemedyTrial`: what remedies would do
setting_trial    `VariedDemand`, `SettingTrial`: a demand under other thresholds, and what came of a setting of them
frontier         `Frontier`: what other thresholds cost, the Pareto-optimal releases, and its tables

Results that were written:
strict_json      JSON of results, read strictly, and the form of the contract
written          `WrittenAudit`: the audit in a JSON result or a report; `read_audit`
written_verdict  its verdict put together anew, and its contradictions
change           `Change`: one expectation in two audits
comparison       `AuditComparison`: two audits compared; `compare`

Reports:
document         the blocks that every format renders: paragraphs, lists, tables, charts
reporter         `Reporter`, `ReportSection`: formats and sections; `Unaudited`: a policy without an audit
protected_files  what is written never takes the place of what was read: `require_own_files`
"""
