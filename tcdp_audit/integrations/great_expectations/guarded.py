"""Runs of Great Expectations that evaluate every expectation of the suite, or are refused.

A suite silently loses an expectation that is read where its class is unknown: Great Expectations logs a line, evaluates
the others, and calls the result a success.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from great_expectations.core.expectation_suite import ExpectationSuite
from great_expectations.exceptions.exceptions import DataContextRequiredError, InvalidKeyError, StoreBackendError

from tcdp_audit.api import read_json
from tcdp_audit.integrations.great_expectations.demands import demanded
from tcdp_audit.integrations.great_expectations.expectation import BY_TYPE, DisclosureExpectation
from tcdp_audit.integrations.great_expectations.suites import META
from tcdp_audit.plugin.engine import TcdpAuditError, UsageError
from tcdp_audit.plugin.sentences import count


class IncompleteRunError(TcdpAuditError):
    """Fewer expectations were evaluated than asked for, or none of them demands anything."""


def guarded_run(definition: Any, **parameters: Any) -> Any:
    """Run a validation definition or a checkpoint, and require that every expectation is evaluated.

    Args:
        definition: a `ValidationDefinition` or a `Checkpoint`.
        **parameters: of its `run`, such as `batch_parameters` or `expectation_parameters`.

    Returns:
        What its `run` returns.

    Raises:
        IncompleteRunError: before anything runs, where a suite has lost expectations since it was saved, or judges
            disclosure under a row condition; after it, where fewer were evaluated than it has, or where disclosure was
            only measured.
        UsageError: it is neither.
    """
    definitions = _definitions(definition)
    asked = [_asked(one.suite) for one in definitions]
    for one in definitions:
        _require_whole_table(one.suite)
    result = definition.run(**parameters)
    results = list(result.run_results.values()) if hasattr(result, "run_results") else [result]
    if len(results) != len(definitions):
        raise IncompleteRunError(
            f"{count(len(results), 'suite')} of {len(definitions):,} were run; nothing may be concluded"
        )
    for one, expected in zip(results, asked, strict=True):
        _require_all(one, expected)
    return result


def _definitions(definition: Any) -> Sequence[Any]:
    if hasattr(definition, "validation_definitions"):
        return list(definition.validation_definitions)
    if hasattr(definition, "suite") and hasattr(definition, "run"):
        return [definition]
    raise UsageError(f"a {type(definition).__name__} is no ValidationDefinition and no Checkpoint")


def _require_whole_table(suite: ExpectationSuite) -> None:
    """Require that disclosure is judged on all records: a condition can leave out those that fail."""
    limited = [
        one.expectation_type
        for one in suite.expectations
        if isinstance(one, DisclosureExpectation) and one.row_condition is not None
    ]
    if limited:
        raise IncompleteRunError(
            f"the suite {suite.name!r} has a row condition in {count(len(limited), 'expectation')} of disclosure, such "
            f"as {limited[0]}; drop it, since a condition can leave out the records that fail"
        )


def _asked(suite: ExpectationSuite) -> int:
    """Count the expectations of a suite; raise an IncompleteRunError for none, or if reading it lost some."""
    present = len(suite.expectations)
    asked = max(present, _stored(suite), int((suite.meta.get(META) or {}).get("expectations", 0)))
    if not asked:
        raise IncompleteRunError(f"the suite {suite.name!r} has no expectation; nothing would be evaluated")
    if asked > present:
        raise IncompleteRunError(
            f"the suite {suite.name!r} was made with {count(asked, 'expectation')}, and {present:,} are known here; "
            "import what defines the others before the suite is read, or make it anew if some were removed on purpose"
        )
    return asked


def _stored(suite: ExpectationSuite) -> int:
    """Count the expectations that the store has for the suite; none for a suite that is in no store."""
    try:
        store = suite._store  # noqa: SLF001 - the only way to what was saved
        saved = store.get(store.get_key(name=suite.name, id=suite.id))
    except (DataContextRequiredError, InvalidKeyError, StoreBackendError):
        return 0
    return len(saved.get("expectations") or ())


def _require_all(result: Any, asked: int) -> None:
    evaluated = len(result.results)
    if evaluated < asked:
        raise IncompleteRunError(
            f"{evaluated:,} of {count(asked, 'expectation')} of the suite {result.suite_name!r} were evaluated; "
            "nothing may be concluded"
        )
    if result.success and _only_measures(result.results):
        raise IncompleteRunError(f"the suite {result.suite_name!r} only measures disclosure; nothing is demanded of it")


def _only_measures(results: Sequence[Any]) -> bool:
    """True if no check has a threshold by the expectations' parameters; at some levels the results lack them.

    The demands of other expectations, such as a number of records, do not concern disclosure.
    """
    ours = [one for one in results if _type(one) in BY_TYPE]
    checks = [(BY_TYPE[_type(one)].checked, one.expectation_config.kwargs) for one in ours]
    demands = [bool(demanded(check, kwargs)) for check, kwargs in checks if check is not None]
    return bool(demands) and not any(demands)


def _type(result: Any) -> str:
    return "" if result.expectation_config is None else str(result.expectation_config.type)


def load_suite(source: str | Path | Mapping[str, Any]) -> ExpectationSuite:
    """A suite from its JSON, whole or not at all.

    Args:
        source: the path of a file, or the JSON as a mapping.

    Raises:
        UsageError: the file cannot be read, or is no suite.
        IncompleteRunError: it has no expectation, or one that is not known here or not sound.
    """
    content = source if isinstance(source, Mapping) else _read(Path(source))
    expectations = content.get("expectations")
    if not isinstance(expectations, list) or not isinstance(content.get("name"), str):
        raise UsageError("this is no expectation suite: it has no `name` and no list of `expectations`")
    try:
        suite = ExpectationSuite(**{str(key): value for key, value in content.items()})
    except Exception as error:  # noqa: BLE001 - Great Expectations raises whatever its parts raise
        raise IncompleteRunError(f"the suite cannot be read: {_reason(error)}") from None
    _require_known(suite, [str(dict(one).get("type")) for one in expectations])
    return suite


def _reason(error: Exception) -> str:
    """The sentences of an invalid expectation; of any other error its kind."""
    errors: Any = getattr(error, "errors", None)
    faults: Any = errors() if callable(errors) else ()
    sentences = [str(one.get("msg", "")) for one in faults]
    return "; ".join(one for one in sentences if one) or f"Great Expectations raised {type(error).__name__}"


def _require_known(suite: ExpectationSuite, asked: Sequence[str]) -> None:
    known = [one.expectation_type for one in suite.expectations]
    if not asked:
        raise IncompleteRunError(f"the suite {suite.name!r} has no expectation; nothing would be evaluated")
    if known != list(asked):
        lost = sorted(set(asked) - set(known)) or sorted(set(asked))
        raise IncompleteRunError(
            f"the suite {suite.name!r} names expectations that are not known here: {', '.join(lost)}"
        )


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = read_json(path)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise UsageError(f"{path}: is no expectation suite")
    return content
