"""What the profiles of a policy leave to a person: outcomes that wait for an answer, or say who gave which.

No figure decides them. An open question is skipped and passes nothing; one that is answered as the profile wants it
passes; any other answer fails the release. An answer is taken for what it is: the policy's author says who gave it.
"""

from __future__ import annotations

from tcdp_audit.core.base.outcome import PROFILE, Outcome, Status
from tcdp_audit.core.policy import Policy
from tcdp_audit.core.policy.model import Answer
from tcdp_audit.core.policy.profile import CAVEAT, Profile, ProfileQuestion

NEEDS_A_PERSON = "needs_a_person"


def questions_of(policy: Policy) -> tuple[Outcome, ...]:
    """One outcome for each question of a profile that none of the policy's demands answers."""
    answers = policy.document.answers or {}
    return tuple(
        _answered(policy, profile, question, answers[question.key])
        if question.key in answers
        else _open(policy, profile, question)
        for profile, question in policy.questions
    )


def _open(policy: Policy, profile: Profile, question: ProfileQuestion) -> Outcome:
    return Outcome(
        check=NEEDS_A_PERSON,
        title=f"Needs a person, asks {profile.key}",
        status=Status.SKIPPED,
        details={"question": question.key, "fit": question.fit},
        message=f"{question.question} {CAVEAT}",
        source=PROFILE,
        line=policy.profile_line,
    )


def _answered(policy: Policy, profile: Profile, question: ProfileQuestion, given: Answer) -> Outcome:
    is_fit, day = given.answer == question.fit, given.date.isoformat()
    answered = f"Answered {given.answer} by {given.by} on {day}"
    wanted = "" if is_fit else f", where only {question.fit} is fit for release"
    return Outcome(
        check=NEEDS_A_PERSON,
        title=f"Answered by a person, asked by {profile.key}",
        status=Status.PASSED if is_fit else Status.FAILED,
        details={
            "question": question.key,
            "fit": question.fit,
            "answer": given.answer,
            "by": given.by,
            "date": day,
        },
        message=f"{question.question} {answered}{wanted}. {CAVEAT}",
        source=PROFILE,
        line=policy.profile_line,
    )
