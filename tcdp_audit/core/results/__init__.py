"""Results of audits, repairs and frontiers as objects, sentences and blocks. Applications may import them.

An audit and its verdict:
audit            `Audit`: outcomes with their provenance; `render_several`
frame            an audit as a pandas frame, and `FailingRecords`: which records fail each expectation
tally            the demands counted by result, for every report
demand_groups    demands of one check as one entry: `DemandGroup`
conditions       the conditions under which a release that passes is fit for use
verdict          an audit in a word and in sentences: `verdict_title`, `verdict_sentence`
linked_tables    the tables of a release of several, and who is alone with them: `TablesOverview`
findings         the findings to act on, as a list for other tools, with their places in the policy: `findings_of`

Repairs and other thresholds:
change_log       `ChangeLog`: what remedies did
cost             the consequences for users of the release, in sentences
setting_trial    `RemedyTrial`, `FigureTrial`: a trial of remedies, or of changes of tables of figures; `VariedDemand`,
                 `SettingTrial`: a demand under other thresholds, and a trial of one setting of them
frontier         `Frontier`: the cost of other thresholds, the Pareto-optimal releases, and its tables

Written results:
strict_json      JSON of results, read strictly, and the form of the contract
verifier         the digest that a result holds of itself, and the page that confirms a result without this program
written          `WrittenAudit`: the audit in a JSON result or a report; `read_audit`
written_verdict  its verdict derived again from its outcomes, and its contradictions
change           `Change`: one expectation in two audits
comparison       `AuditComparison`: two audits compared; `compare`

Reports:
document         the blocks that every format renders: paragraphs, lists, tables, charts
reporter         `Reporter`, `ReportSection`: formats and sections; `Unaudited`: a policy without an audit
protected_files  refusal to overwrite files that were read: `require_own_files`
"""
