"""What `fix` would make of a release, tried in memory while it is audited."""

from __future__ import annotations

from dataclasses import replace

from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.plugin_faults import sentence_about
from tcdp_audit.core.repair.fixing import repaired
from tcdp_audit.core.results.change_log import failing_demands
from tcdp_audit.core.results.remedy_trial import RemedyTrial
from tcdp_audit.core.session.inputs import AuditInputs

OTHERWISE = "the release that comes of the remedies does not pass"


def remedy_trial(inputs: AuditInputs, outcomes: tuple[Outcome, ...]) -> RemedyTrial | None:
    """What `fix` would make of a release that does not pass; None of one against which nothing stands.

    What keeps remedies from being tried at all, such as a table that cannot be held, takes no audit down, which is
    complete by then: it is the reason of the trial.

    Args:
        inputs: the release and what it must satisfy.
        outcomes: what came of its audit.
    """
    if not failing_demands(outcomes):
        return None
    options = replace(inputs.options, samples=False, show_values=False, column_risks=False)  # those of `fix`
    try:
        remediation = repaired(replace(inputs, options=options))
    except Exception as error:  # noqa: BLE001 - whatever it is, the audit stands
        reason = f"remedies could not be tried: {sentence_about(error, 'the trial')}"
        return RemedyTrial(log=None, passes=False, reason=reason)
    reason = "" if remediation.passed else remediation.log.reason or OTHERWISE
    after = remediation.after.outcomes
    return RemedyTrial(log=remediation.log, passes=remediation.passed, reason=reason, outcomes=after)
