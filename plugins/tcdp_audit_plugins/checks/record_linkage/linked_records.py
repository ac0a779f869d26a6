"""Templates on how many records an intruder links to the right person, shared by all linkage checks."""

from __future__ import annotations

LINKED = (  # ties count 1/t
    "{expected_correct/records:{record}} ({observed:%})[, where {allowed}]; guessing finds {random_baseline:%}"
)


def finds(how: str) -> str:
    """The template of what linkage means for one person: how often they are found, and how often by guessing."""
    return (
        f"{{intruder}} and {how} finds the right record with {{observed:chance}}; "
        "guessing is right with {random_baseline:chance}."
    )
