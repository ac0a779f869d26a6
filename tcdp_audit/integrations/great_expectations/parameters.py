"""Names and parameters of expectations: those of the check, and a policy's declarations of the table.

`k_anonymity` is `ExpectTableToBeKAnonymous`, by rule; a check may name another (`expectation_name`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tcdp_audit.plugin.engine import PluginError

DECLARED_COLUMNS = "ExpectTableColumnsToBeDeclared"  # the core's own outcomes on the columns
ADJECTIVES = {"anonymity": "Anonymous", "diversity": "Diverse", "closeness": "Close", "likeness": "Like"}
COLUMN = ("scale", "order", "hierarchy", "distribution")  # the declarations of a column
TABLE: Mapping[str, str] = MappingProxyType(
    {
        "quasi_identifiers": "The columns that an intruder may know; records are grouped by them.",
        "declarations": "What a policy says of columns, by name: role, scale, order, hierarchy, distribution.",
        "conventions": "What a verdict means, where it differs from the defaults.",
        "unit": "The column that says whose record it is, where a person has several.",
        "unit_name": "What a record is, or whose it is, in the singular: `patient`.",
        "unit_released": "Whether the column of `unit` is handed out; where it is not, its being there only warns.",
        "household": "The column of the group of people who are found together, such as a household.",
        "household_weight": "The column with each household's sampling weight, where its members' differ.",
        "time": "The column that says when a row of a unit was.",
        "original": "The table that the release was made from: a path or a URL.",
        "key": "The column that aligns the release with its original.",
        "keep_key": "Whether the column of `key` stays in the release; where others get it, that is an error.",
        "internal_only": "Whether no one else gets the release, so that its key may stay.",
        "rows_aligned": "Whether release and original are aligned row by row.",
        "population": "The population that the release was drawn from: a path or a URL.",
        "sampling_fraction": "The share of the population that was drawn.",
        "weight": "The column with each record's sampling weight.",
        "holdout": "Originals that had no part in making the release: a path or a URL.",
        "registry": "A table that another party has or could have, such as a registry of voters: a path or a URL.",
        "previous": "Earlier releases of the same people: a path or a URL, or a list of them, the oldest first.",
    }
)
ATTRIBUTE: Mapping[str, str] = MappingProxyType(
    {
        "column": "The sensitive column.",
        "scale": "The scale of the column: nominal, ordinal or numeric.",
        "order": "The values of an ordinal column, lowest first.",
        "hierarchy": "The generalisation hierarchy of the column: a file, or a nested mapping.",
        "distribution": "A declared reference distribution of the column: uniform, or a weight for each value.",
    }
)
_OF_THE_HOST = (
    "id meta notes result_format description catch_exceptions rendered_content severity windows batch_id row_condition "
    "condition_parser copy json dict schema fields construct validate save render configuration version checked is_made"
)
OF_THE_HOST = frozenset(_OF_THE_HOST.split())
HEAD = [name for name in TABLE if name not in ("quasi_identifiers", "declarations")]
TAKEN = OF_THE_HOST | TABLE.keys() | ATTRIBUTE.keys()


def class_name(check: Any) -> str:
    """The name of a check's expectation class; that of a check on one sensitive attribute begins with ExpectColumn."""
    subject = "Column" if check.on_attribute and not check.joint else "Table"
    return f"Expect{subject}{check.expectation_name or _predicate(check)}"


def _predicate(check: Any) -> str:
    """`ToBeKAnonymous` where English has the adjective, and otherwise `SampleUniquenessToBeLimited`."""
    *words, last = str(check.name).split("_")
    if last in ADJECTIVES and words:
        return f"ToBe{_joined(words)}{ADJECTIVES[last]}"
    bounded = "ToBeSufficient" if check.headline.comparison.higher_is_safer else "ToBeLimited"
    return f"{_joined([*words, last])}{bounded}"


def _joined(words: Iterable[str]) -> str:
    return "".join(word.capitalize() for word in words)


def class_names(checks: Mapping[str, Any]) -> dict[str, Any]:
    """Every check on records by the name of its expectation, in the order of the checks' names.

    Raises:
        PluginError: two checks would have one name.
    """
    named: dict[str, Any] = {}
    for check in (one for _, one in sorted(checks.items()) if one.on_records):
        other = named.setdefault(class_name(check), check)
        if other is not check:
            clash = f"{other.name} and {check.name} would both be {class_name(check)}"
            raise PluginError(f"{clash}; give one an `expectation_name`")
    return named


@dataclass(frozen=True)
class Field:
    """One parameter."""

    name: str  # its name in the expectation
    parameter: str  # its name in the check or the policy
    description: str  # its meaning
    required: bool = False  # whether the expectation cannot be made without it


def table_fields(*, grouped: bool) -> list[Field]:
    """Parameters about the table; the columns to group by are required where records are grouped."""
    names = [name for name in TABLE if grouped or name != "quasi_identifiers"]
    return [Field(name, name, TABLE[name], required=name == "quasi_identifiers") for name in names]


def attribute_fields(check: Any = None) -> list[Field]:
    """Parameters about a sensitive column, or about that of a check; none for a check without one."""
    if check is not None and not check.on_attribute:
        return []
    return [Field(name, name, text) for name, text in ATTRIBUTE.items()]


def check_fields(check: Any) -> list[Field]:
    """The check's own parameters; one whose name the host needs is `check_NAME`.

    The sensitive column of a check that measures one is the expectation's `column`, and the unit of a demand is the
    `unit` of its table.
    """
    model = check.parameters.model_fields
    shared = {"severity", "reason", "unit", *(["attribute"] if check.on_attribute else [])}
    return [_field(name, info) for name, info in model.items() if name not in shared]


def _field(name: str, info: Any) -> Field:
    shown = f"check_{name}" if name in TAKEN else name
    return Field(shown, name, info.description or name, required=info.is_required())


def all_fields(check: Any) -> list[Field]:
    """Every parameter of a check's expectation, required ones first."""
    fields = [*table_fields(grouped=True), *attribute_fields(check), *check_fields(check)]
    return sorted(fields, key=lambda one: not one.required)


def columns_fields() -> list[Field]:
    """Every parameter of the expectation on the columns themselves."""
    shared = [one for one in table_fields(grouped=False) if one.name != "declarations"]
    return [Field("declarations", "declarations", "Every column of the table with its role.", required=True), *shared]


def setup_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """The policy, without `expect`, that the parameters of an expectation describe.

    Raises:
        ValueError: a declaration and another parameter contradict each other.
    """
    columns: dict[str, dict[str, Any]] = {
        str(name): dict(one) for name, one in (values.get("declarations") or {}).items()
    }
    for name in values.get("quasi_identifiers") or ():
        _declare(columns, name, "quasi_identifier", {})
    if values.get("column") is not None:
        given = {key: values[key] for key in COLUMN if values.get(key) is not None}
        _declare(columns, values["column"], "sensitive", given)
    head = {name: values[name] for name in HEAD if values.get(name) or values.get(name) is False}
    return {**head, "attributes": columns}


def _declare(columns: dict[str, dict[str, Any]], name: str, role: str, given: Mapping[str, Any]) -> None:
    declared = columns.get(name, {})
    for key, value in {"role": role, **given}.items():
        if declared.get(key, value) != value:
            raise ValueError(f"`declarations` has another {key} for {name!r} than the expectation; say it once")
    columns[name] = {**declared, "role": role, **given}


def names_in(value: Any) -> list[str]:
    """A list of column names, or one name; anything else raises a ValueError."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise ValueError("quasi_identifiers must be a list of column names")  # noqa: TRY004 - pydantic catches it
    listed = list(names)
    if not listed or not all(isinstance(one, str) for one in listed) or len(set(listed)) < len(listed):
        raise ValueError("quasi_identifiers must be a list of column names, each once")
    return listed
