"""What a check's expectation is called: `k_anonymity` is `ExpectTableToBeKAnonymous`, by rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

DECLARED_COLUMNS = "ExpectTableColumnsToBeDeclared"  # the core's own outcomes on the columns
ADJECTIVES = {"anonymity": "Anonymous", "diversity": "Diverse", "closeness": "Close", "likeness": "Like"}
IRREGULAR = {
    "recursive_cl_diversity": "ToBeRecursivelyClDiverse",
    "delta_disclosure": "ToBeDeltaDisclosurePrivate",
    "stochastic_t_closeness": "ToBeStochasticallyTClose",
    "expected_t_closeness": "ExpectedTClosenessToBeLimited",
    "background_knowledge": "BackgroundKnowledgeToBeLimited",
    "k_map": "ToSatisfyKMap",
    "delta_presence": "ToSatisfyDeltaPresence",
}


def class_name(check: Any) -> str:
    """The name of a check's expectation class.

    Args:
        check: a registered check; one that measures one sensitive attribute is an expectation on a column.
    """
    subject = "Column" if check.on_attribute and not check.joint else "Table"
    return f"Expect{subject}{IRREGULAR.get(check.name) or _predicate(check)}"


def _predicate(check: Any) -> str:
    """`ToBeKAnonymous` where English has the adjective, and else `SampleUniquenessToBeLimited`."""
    *words, last = str(check.name).split("_")
    if last in ADJECTIVES and words:
        return f"ToBe{_joined(words)}{ADJECTIVES[last]}"
    bounded = "ToBeSufficient" if check.headline.comparison.higher_is_safer else "ToBeLimited"
    return f"{_joined([*words, last])}{bounded}"


def _joined(words: Iterable[str]) -> str:
    return "".join(word.capitalize() for word in words)


def class_names(checks: Mapping[str, Any]) -> dict[str, Any]:
    """Every check by the name of its expectation, in the order of the checks' names."""
    return {class_name(check): check for _, check in sorted(checks.items())}
