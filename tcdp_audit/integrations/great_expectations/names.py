"""What a check's expectation is called: `k_anonymity` is `ExpectTableToBeKAnonymous`, by rule or as it says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tcdp_audit.plugin.engine import PluginError

DECLARED_COLUMNS = "ExpectTableColumnsToBeDeclared"  # the core's own outcomes on the columns
ADJECTIVES = {"anonymity": "Anonymous", "diversity": "Diverse", "closeness": "Close", "likeness": "Like"}


def class_name(check: Any) -> str:
    """The name of a check's expectation class.

    Args:
        check: a registered check; one that measures one sensitive attribute is an expectation on a column.
    """
    subject = "Column" if check.on_attribute and not check.joint else "Table"
    return f"Expect{subject}{check.expectation_name or _predicate(check)}"


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
    """Every check by the name of its expectation, in the order of the checks' names.

    Raises:
        PluginError: two checks would have one name.
    """
    named: dict[str, Any] = {}
    for _, check in sorted(checks.items()):
        other = named.setdefault(class_name(check), check)
        if other is not check:
            raise PluginError(
                f"{other.name} and {check.name} would both be {class_name(check)}; give one an `expectation_name`"
            )
    return named
