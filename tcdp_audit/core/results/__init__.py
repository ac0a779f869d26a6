"""Results of an audit.

own_files    what is written never takes the place of what was read
change_log   what remedies did
cost         what that costs those who use the release, in sentences
remedy_trial what they would do
varied_demand, setting_trial, frontier, frontier_tables   what other thresholds would cost
reporter     what a report is, and a section of one
audit        outcomes with their provenance
failing_records   which records fail each expectation
frame        an audit as a pandas frame
beside       how a demand can be met on a column on which another one fails
tally        how many demands there are, and what came of them: the one count of every report
conditions   what a release that keeps its policy is fit for, and under which conditions
verdict      an audit in a word and in sentences
written_title   the verdict of a result that was written
contradictions  what a result that was written says against itself
unaudited    a policy of the same run that could not be audited
place        where in the policy something is asked for
findings     what somebody must act on, as a list for other tools
"""

from __future__ import annotations

from tcdp_audit.core.base.errors import ExpectationsFailedError
from tcdp_audit.core.base.provenance import Table
from tcdp_audit.core.results.audit import Audit

__all__ = ["Audit", "ExpectationsFailedError", "Table"]
