"""The expectation suite that a policy names: found, read, and refused where it demands nothing or is not known here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from great_expectations.exceptions.exceptions import (
    ExpectationNotFoundError,
    GreatExpectationsError,
    SuiteParameterError,
)
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.policy.model import StoredSuite
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.quality import read_json

CONFIGURATION = "great_expectations.yml"
FILES = "TupleFilesystemStoreBackend"  # the store of suites that is a folder of JSON files

DEMANDED_BY = {  # the parameter without which an expectation holds for everything
    "expect_column_values_to_be_in_type_list": "type_list",
    "expect_column_values_to_not_be_in_set": "value_set",
    "expect_column_distinct_values_to_contain_set": "value_set",
    "expect_column_kl_divergence_to_be_less_than": "threshold",
    "expect_table_columns_to_match_ordered_list": "column_list",
    "expect_table_columns_to_match_set": "column_set",
}


@dataclass(frozen=True)
class Suite:
    """A suite whose expectations are all known and sound."""

    name: str  # what messages call it
    configurations: Sequence[Any]  # its expectations, as Great Expectations evaluates them


def suite_in(policy: Policy) -> Suite:
    """The policy's suite.

    Raises:
        PolicyError: it cannot be read, is empty, or has an expectation that is not known here, is not sound, or cannot
            fail.
    """
    named = policy.document.suite
    shown = f"{named.name} in {named.context}" if isinstance(named, StoredSuite) else str(named)
    try:
        path = _in_store(policy, named) if isinstance(named, StoredSuite) else Path(policy.resolve(str(named)))
        content = _content(path)
        entries = _entries(content)
        parameters = content.get("suite_parameters") or {}
        configurations = [_configuration(number, one, parameters) for number, one in enumerate(entries, 1)]
    except _Fault as fault:
        raise PolicyError(f"{policy.name}: suite: {shown}: {fault}") from None
    return Suite(shown, configurations)


def stored_file(policy: Policy, named: StoredSuite) -> Path | None:
    """The file of a suite in a context's store; None where there is none, which `suite_in` explains."""
    try:
        return _in_store(policy, named)
    except _Fault:
        return None


class _Fault(Exception):  # noqa: N818 - it becomes a PolicyError
    """Reason why a suite cannot be used."""


def _in_store(policy: Policy, named: StoredSuite) -> Path:
    """The file of a suite in a context's store. The context is only read; to start it would write into its folder."""
    folder = Path(policy.resolve(named.context))
    home = next((one for one in (folder, folder / "gx") if (one / CONFIGURATION).is_file()), None)
    if home is None:
        raise _Fault(f"the folder has no {CONFIGURATION}; name that of the context")
    backend = _backend(home / CONFIGURATION)
    if backend.get("class_name") != FILES:
        raise _Fault("the context does not keep its suites in files; save the suite as JSON, and name that file")
    return home / str(backend.get("base_directory", "expectations/")) / f"{named.name}.json"


def _backend(path: Path) -> Mapping[str, Any]:
    """Store of a context's suites, by its configuration."""
    try:
        configuration = yaml.safe_load(path.read_text(encoding="utf-8"))
        store = configuration["stores"][configuration["expectations_store_name"]]
        return dict(store["store_backend"])
    except OSError as error:
        raise _Fault(f"{CONFIGURATION} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError, ValueError):
        raise _Fault(f"{CONFIGURATION} does not say where the suites are") from None


def _content(path: Path) -> Mapping[str, Any]:
    try:
        content = read_json(path)
    except ValueError as error:
        raise _Fault(str(error)) from None
    if not isinstance(content, dict) or not isinstance(content.get("expectations"), list):
        raise _Fault("is no expectation suite: it must be a mapping with a list of `expectations`")
    return content


def _entries(content: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    entries: list[Mapping[str, Any]] = content["expectations"]
    if not entries:
        raise _Fault("it demands nothing: it has no expectation")
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
            raise _Fault(f"expectation {number} has no `type`")
    return entries


def _configuration(number: int, entry: Mapping[str, Any], parameters: Mapping[str, Any]) -> Any:
    """An expectation that is known, sound and able to fail, in the form in which it is evaluated."""
    where = f"expectation {number}, {entry['type']},"
    try:
        configuration = ExpectationConfiguration(**{"kwargs": {}, **entry, "id": str(number)})
        configuration.process_suite_parameters(dict(parameters))
        expectation = configuration.to_domain_obj()
    except SuiteParameterError:
        raise _Fault(f"{where} has a parameter without a value; give it in `suite_parameters`") from None
    except ExpectationNotFoundError:
        raise _Fault(f"{where} is not known here; import what defines it, or leave it out") from None
    except (GreatExpectationsError, TypeError, ValueError, KeyError) as error:
        raise _Fault(f"{where} is not sound: {_reason(error)}") from None
    if getattr(expectation, "mostly", 1) == 0:
        raise _Fault(f"{where} cannot fail: `mostly` is 0")
    bounds = _bounds(expectation)
    if bounds and all(_is_nothing(getattr(expectation, name)) for name in bounds):
        raise _Fault(f"{where} demands nothing: it has {' and '.join(f'no `{one}`' for one in bounds)}")
    return configuration


def _bounds(expectation: Any) -> Sequence[str]:
    """Parameters of one of Great Expectations' own, which demands nothing where it has none of them."""
    if expectation.expectation_type in DEMANDED_BY:
        return [DEMANDED_BY[expectation.expectation_type]]
    is_theirs = type(expectation).__module__.startswith("great_expectations.")
    has_range = hasattr(expectation, "min_value") and hasattr(expectation, "max_value")
    return ["min_value", "max_value"] if is_theirs and has_range else []


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, list | tuple | set) and not value)


def _reason(error: Exception) -> str:
    """Faults of the parameters of an expectation, by their names; of any other error its kind."""
    errors: Any = getattr(error, "errors", None)
    if not callable(errors):
        return f"Great Expectations raised {type(error).__name__}"
    faults: Any = errors()
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in faults)
