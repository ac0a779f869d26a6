"""What the profiles of a policy leave to a person: outcomes that are skipped and can never pass."""

from __future__ import annotations

from tcdp_audit.outcome import PROFILE, Outcome, Status
from tcdp_audit.policy import Policy
from tcdp_audit.policy.profile import CAVEAT

NEEDS_A_PERSON = "needs_a_person"


def open_questions(policy: Policy) -> tuple[Outcome, ...]:
    """One outcome for each question of a profile that none of the policy's demands answers."""
    return tuple(
        Outcome(
            check=NEEDS_A_PERSON,
            title=f"Needs a person, asks {profile.key}",
            status=Status.SKIPPED,
            message=f"{question.asks} {CAVEAT}",
            source=PROFILE,
            line=policy.profile_line,
        )
        for profile, question in policy.questions
    )
