"""The policy's own models: attributes, conventions, and the document that holds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date as Date  # noqa: N812 - `date` is a key of answers
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticKnownError

from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.policy.aggregates import AggregateDeclaration, Microdata, ModelDeclaration
from tcdp_audit.core.policy.scalars import (
    NUMBER,
    Exact,
    Label,
    Model,
    Noun,
    Plural,
    ReadAs,
    Reason,
    ScenarioName,
    Text,
    as_date,
    as_text,
    as_version,
    as_yes_or_no,
)


class Role(StrEnum):
    """The part of an attribute in identifying or harming a person."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi_identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


class Scale(StrEnum):
    """The relation of an attribute's values: by equality, by rank, or by difference."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    NUMERIC = "numeric"


TABLES = "tables"  # the key of tables of figures, and of several linked tables of records
AGGREGATES = "aggregates"  # the key of the tables of figures among them, when a policy is read
FIGURES = (AGGREGATES, "models")  # keys of what is released without records
SEPARATOR = "."  # between a table and a column
MEMBERS = "members"  # what a check calls the rows of households
OF_SCENARIO = " of "  # between what a table is and the name of the scenario whose table it is
PREVIOUS = "previous"  # what results call an earlier release, with its number where there are several

# The roles of columns that the intruder of a scenario neither knows nor is after
_UNKNOWN = {Role.QUASI_IDENTIFIER: Role.INSENSITIVE, Role.SENSITIVE: Role.INSENSITIVE}


# What says nothing about how the cells of a column are read
FOR_READERS = ("role", "label", "measured_in", "of", "reason", "acknowledged")


class AttributeDeclaration(Model):
    """One column: its role, its scale, and for an ordinal one its order."""

    role: Annotated[Role, Field(strict=False, description="What the attribute can do to a person.")]
    scale: Annotated[Scale | None, Field(strict=False, description="How its values relate to each other.")] = None
    order: Annotated[list[Text] | None, Field(min_length=1, description="An ordinal domain, lowest first.")] = None
    hierarchy: Annotated[
        str | dict[str, Any] | None,
        Field(description="A generalisation hierarchy: a CSV file (leaf to root), a YAML file, or a nested mapping."),
    ] = None
    distribution: Annotated[
        Literal["uniform"] | dict[Text, Exact] | None,
        Field(description="A declared reference distribution: uniform, or a weight for each value."),
    ] = None
    label: Annotated[
        Label | None,
        Field(
            description="What the column means, in the words of those who read a report; sentences say it in place of "
            "the name."
        ),
    ] = None
    measured_in: Annotated[
        Plural | None,
        Field(
            description="The unit of its numbers as a noun in the plural, such as days or euros; sentences give "
            "distances in it."
        ),
    ] = None
    of: Annotated[
        Literal["unit"] | None,
        Field(description="`unit` asserts that all rows of a unit have the same value, which is then always known."),
    ] = None
    reason: Annotated[
        Reason | None, Field(description="Why the column is declared so; results and reports quote it.")
    ] = None
    acknowledged: Annotated[
        Reason | None,
        Field(
            description="Why a column that looks like an identifier, or differs in nearly every record, is none: the "
            "schema check no longer warns of it, and results and reports quote the reason."
        ),
    ] = None

    @property
    def is_ordered(self) -> bool:
        """Whether its values are numbers, or ranks of a declared order."""
        return self.scale is Scale.NUMERIC or self.order is not None

    @property
    def has_numbers(self) -> bool:
        """Whether its scale is numeric, or its order is one of numbers."""
        return self.scale is Scale.NUMERIC or bool(self.order and all(map(NUMBER.fullmatch, self.order)))

    @property
    def of_no_one(self) -> AttributeDeclaration:
        """The same of a column that no intruder knows or is after."""
        return self.model_copy(update={"role": _UNKNOWN.get(self.role, self.role)})

    @property
    def reading(self) -> str:
        """The text of all that decides how cells are read: all but the role and what is written for people."""
        return repr([(name, value) for name, value in self if name not in FOR_READERS])

    @model_validator(mode="after")
    def _order_belongs_to_ordinal(self) -> AttributeDeclaration:
        if self.order is not None and self.scale is not Scale.ORDINAL:
            raise ValueError("an order needs `scale: ordinal`")
        if self.order is not None and len(set(self.order)) < len(self.order):
            raise ValueError("the order names a value twice")
        if isinstance(self.distribution, dict) and (
            min(self.distribution.values(), default=0) < 0 or not sum(self.distribution.values())
        ):
            raise ValueError("the weights of a distribution are at least 0 and not all 0")
        return self

    @model_validator(mode="after")
    def _acknowledged_is_no_identifier(self) -> AttributeDeclaration:
        if self.acknowledged is not None and self.role is Role.IDENTIFIER:
            raise ValueError("acknowledged says why a column is no identifier; the role says that it is one")
        return self

    @model_validator(mode="after")
    def _unit_belongs_to_numbers(self) -> AttributeDeclaration:
        if self.measured_in is not None and not self.has_numbers:
            raise ValueError("measured_in needs numbers: `scale: numeric`, or an order of numbers")
        return self


class Conventions(Model):
    """The meaning of a verdict: DEFINITIONS, section 0. Every outcome carries them."""

    missing_quasi_identifier: Annotated[
        Literal["own_category", "wildcard", "fail"],
        Field(description="A missing quasi-identifier is a value of its own, matches every value, or is an error."),
    ] = "own_category"
    missing_sensitive: Annotated[
        Literal["excluded", "own_category", "fail"],
        Field(description="A missing sensitive value is left out, is a value of its own, or is an error."),
    ] = "excluded"
    suppressed: Annotated[
        Literal["counted", "exempt"],
        Field(
            description="Fully suppressed records are counted, or exempt if their sensitive cells are suppressed too."
        ),
    ] = "counted"
    suppressed_tokens: Annotated[list[Text], Field(description="Cells that mark a suppressed value.")] = ["*"]
    missing_tokens: Annotated[list[Text], Field(description="Text cells that mark a missing value.")] = [""]
    multiple_sensitive: Annotated[
        Literal["per_attribute", "others_as_quasi_identifiers", "joint"],
        Field(
            description="Each sensitive attribute is checked by itself, by itself while an intruder knows the others, "
            "or all of them together as one combination."
        ),
    ] = "per_attribute"
    reference: Annotated[
        Literal["release", "original", "declared"],
        Field(description="The distribution that closeness is measured against."),
    ] = "release"
    known_rows: Annotated[
        Literal["all", "one"],
        Field(
            description="How many rows of a person an intruder knows, where a released unit joins them: all, or one."
        ),
    ] = "all"
    negative: Annotated[
        Literal["refuse", "absolute"],
        Field(
            description="Negative contributions to a figure: concentration is an error, or is measured of their "
            "absolute values."
        ),
    ] = "refuse"
    boundary: Annotated[
        Literal["handbook", "acro"],
        Field(description="Figures at a threshold of concentration exactly: safe, or unsafe as in ACRO."),
    ] = "handbook"
    integers: Annotated[
        Literal["exact", "relaxed"],
        Field(description="Hidden counts are whole numbers, or a bound that holds for any numbers may decide."),
    ] = "exact"

    @property
    def suppressed_token(self) -> str:
        """The cell that a remedy writes for a suppressed value: the first of the tokens."""
        return next(iter(self.suppressed_tokens), "*")


class Answer(Model):
    """The answer of a person to a question that no figure decides."""

    answer: Annotated[
        Literal["yes", "no"],
        BeforeValidator(as_yes_or_no),
        Field(description="The answer.", json_schema_extra={"enum": ["yes", "no", True, False]}),
    ]
    by: Annotated[Label, BeforeValidator(as_text), Field(description="Who answers: a person, or an office.")]
    date: Annotated[Date, BeforeValidator(as_date), Field(description="When, as 2026-11-20; not in the future.")]


class Approval(Model):
    """The person or office that approved a policy, and when."""

    by: Annotated[Label, BeforeValidator(as_text), Field(description="Who approved it: a person, or an office.")]
    date: Annotated[
        Date | None, BeforeValidator(as_date), Field(description="When, as 2026-11-20; not in the future.")
    ] = None


def _form_of_approval(value: Any) -> str:
    """Whether it is a name alone, or a mapping with a date."""
    return "approval" if isinstance(value, Mapping | Approval) else "name"


Approver = Annotated[
    Annotated[Label, BeforeValidator(as_text), Tag("name")] | Annotated[Approval, Tag("approval")],
    Discriminator(_form_of_approval),
]

Code = Annotated[
    Text | Annotated[list[Text], Field(min_length=1)],
    Field(description="The file's code of the value, or a list of codes that all mean it."),
]


class CompanionTable(Model):
    """A table next to the release that has a schema of its own: names and codes that the release does not have."""

    file: Annotated[
        str | None, Field(description="The table, relative to the policy's file; none where each call names it.")
    ] = None
    read_as: Annotated[ReadAs | None, Field(description="How the file is written; by default as UTF-8 text.")] = None
    columns: Annotated[
        dict[Text, Text],
        Field(description="The file's name of a column, by our attribute, where the two differ."),
    ] = {}
    codes: Annotated[
        dict[Text, Annotated[dict[Text, Code], Field(min_length=1)]],
        Field(description="The file's codes of our values, by our attribute; a value without a code stays as it is."),
    ] = {}

    @property
    def codes_of_values(self) -> dict[str, dict[str, list[str]]]:
        """The codes of each value as a list, by attribute."""
        return {
            attribute: {value: [code] if isinstance(code, str) else list(code) for value, code in values.items()}
            for attribute, values in self.codes.items()
        }


class TableFiles(dict[str, Any]):
    """The file of each of several linked tables, by the table's name. See `tables.joined`, which recognises them."""


def _form_of_companion(value: Any) -> str:
    """Whether a table is named by its place or by a mapping, or several linked ones are by theirs."""
    if isinstance(value, TableFiles):
        return "tables"
    return "table" if isinstance(value, Mapping | CompanionTable) else "place"


def _form_of_companions(value: Any) -> str:
    """The same, or whether several are listed."""
    return "list" if isinstance(value, list | tuple) else _form_of_companion(value)


Files = Annotated[
    dict[Text, str],
    Field(
        min_length=1,
        description="The file of each table, by its name under `tables`.",
        json_schema_extra={"propertyNames": {"not": {"enum": [*CompanionTable.model_fields]}}},
    ),
    Tag("tables"),
]
Companion = Annotated[
    Annotated[str, Tag("place")] | Annotated[CompanionTable, Tag("table")] | Files, Discriminator(_form_of_companion)
]
"""The type of a table next to the release: its place, a mapping that says how its schema differs, or several files."""
Companions = Annotated[
    Annotated[str, Tag("place")]
    | Annotated[CompanionTable, Tag("table")]
    | Files
    | Annotated[list[Companion], Field(min_length=1), Tag("list")],
    Discriminator(_form_of_companions),
]
CompanionEntry = str | CompanionTable | Mapping[str, str]


class Scenario(Model):
    """An intruder: what they know, which tables they have, what they are after, and how likely it is that they try."""

    says: Annotated[
        Label | None,
        Field(description="Who it is, in the words of those who read a report: a neighbour, somebody next door."),
    ] = None
    knows: Annotated[
        list[Text], Field(min_length=1, description="The columns that the intruder knows of a person: the classes.")
    ]
    at_stake: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            description="The sensitive columns that the intruder is after; by default each that they do not know.",
        ),
    ] = None
    original: Annotated[Companion | None, Field(description="The original that this intruder has or could have.")] = (
        None
    )
    population: Annotated[Companion | None, Field(description="The population that this intruder looks in.")] = None
    registry: Annotated[Companion | None, Field(description="The registry that this intruder looks in.")] = None
    known_fraction: Annotated[
        Exact | None,
        Field(gt=0, le=1, description="The share of people of whom the intruder knows this much; by default 1."),
    ] = None
    in_release: Annotated[
        Literal["known", "unknown"],
        Field(description="Whether the intruder knows who is in the release, or has to look in the population."),
    ] = "known"
    attempt: Annotated[
        Exact | None, Field(gt=0, le=1, description="The chance that the attack is tried; by default 1.")
    ] = None

    @property
    def tables(self) -> dict[str, CompanionEntry]:
        """The tables of this scenario alone, by what they are: original, population, registry."""
        named = {"original": self.original, "population": self.population, "registry": self.registry}
        return {name: one for name, one in named.items() if one is not None}


class StoredSuite(Model):
    """A suite in the store of a Great Expectations context."""

    context: Annotated[str, Field(description="The context's folder, the one with great_expectations.yml.")]
    name: Annotated[str, Field(description="The suite's name.")]


class TableDeclaration(Model):
    """One of several linked tables, whose attributes are called `table.column` elsewhere in the policy."""

    file: Annotated[str | None, Field(description="The table's file, relative to the policy's.")] = None
    read_as: Annotated[ReadAs | None, Field(description="How the file is written; by default as UTF-8 text.")] = None
    belongs_to: Annotated[
        str | None,
        Field(description="The table to whose rows its rows belong; none for the table with one row for each unit."),
    ] = None
    by: Annotated[
        str | None, Field(description="The column of both tables that links them; by default the policy's unit.")
    ] = None
    time: Annotated[str | None, Field(description="The column that says when a row was.")] = None
    attributes: Annotated[dict[Text, AttributeDeclaration], Field(description="Every column of the table.")] = {}


Columns = Annotated[list[Text], Field(min_length=1, description="Attributes, each once.")]


class CountedTable(Model):
    """A table of counts that a user of the release would make: every cell of it is a query."""

    by: Annotated[list[Text], Field(min_length=1, max_length=3, description="One to three attributes, each once.")]

    @property
    def columns(self) -> list[str]:
        """Every attribute that it names."""
        return self.by


class Regression(Model):
    """A linear regression that a user of the release would fit."""

    of: Annotated[Text, Field(description="The outcome: numeric, or ordinal with an order.")]
    by: Columns

    @property
    def columns(self) -> list[str]:
        """Every attribute that it names."""
        return [self.of, *self.by]


class PredictiveModel(Model):
    """A model that a user of the release would train."""

    of: Annotated[Text, Field(description="What it predicts.")]
    by: Columns

    @property
    def columns(self) -> list[str]:
        """Every attribute that it names."""
        return [self.of, *self.by]


class Utility(Model):
    """What people would do with a release: losses are measured in their terms. It judges no release."""

    counts: Annotated[
        list[CountedTable], Field(description="Tables of counts, in addition to those of one attribute and of two.")
    ] = []
    regressions: Annotated[
        list[Regression] | None,
        Field(description="Linear regressions; by default each numeric sensitive attribute by the quasi-identifiers."),
    ] = None
    models: Annotated[
        list[PredictiveModel],
        Field(description="Models that are trained on the release and tested on what it was made from."),
    ] = []

    @property
    def named(self) -> list[str]:
        """Every attribute that it names, by name."""
        return sorted({name for entries in self.uses.values() for one in entries for name in one.columns})

    @property
    def uses(self) -> dict[str, Sequence[CountedTable | Regression | PredictiveModel]]:
        """Everything that would be done, by the key that lists it."""
        return {"counts": self.counts, "regressions": self.regressions or [], "models": self.models}

    def among(self, names: Collection[str]) -> Utility:
        """What is done with some columns alone, such as those of one of several tables."""
        regressions = self.regressions
        return Utility(
            counts=[one for one in self.counts if set(one.columns) <= set(names)],
            regressions=None if regressions is None else [one for one in regressions if set(one.columns) <= set(names)],
            models=[one for one in self.models if set(one.columns) <= set(names)],
        )


class PolicyDocument(Model):
    """A policy file as it is written. The parameters of each expectation and remedy are left to the plugin."""

    _scenario: str = PrivateAttr("")

    version: Annotated[Literal[1], BeforeValidator(as_version), Field(description="Version of the policy format.")]
    release: Annotated[str | None, Field(description="The table under audit, relative to this file.")] = None
    read_as: Annotated[
        ReadAs | None, Field(description="How the release is written: encoding, decimal mark, thousands separator.")
    ] = None
    purpose: Annotated[Reason | None, Field(description="What the release is for, as reports quote it.")] = None
    recipients: Annotated[
        Reason | None, Field(description="Who receives the release, and under which terms, as reports quote it.")
    ] = None
    approved_by: Annotated[
        Approver | None, Field(description="Who approved this policy: a name, or `{by: WHO, date: 2026-11-20}`.")
    ] = None
    original: Annotated[Companion | None, Field(description="The table that the release was made from.")] = None
    key: Annotated[str | None, Field(description="The attribute that aligns release and original.")] = None
    rows_aligned: Annotated[bool, Field(description="Release and original are aligned row by row.")] = False
    population: Annotated[Companion | None, Field(description="The population that the release was drawn from.")] = None
    sampling_fraction: Annotated[Exact | None, Field(gt=0, le=1, description="Share sampled.")] = None
    weight: Annotated[str | None, Field(description="The attribute that holds each record's sampling weight.")] = None
    holdout: Annotated[Companion | None, Field(description="Originals that had no part in making the release.")] = None
    registry: Annotated[
        Companion | None, Field(description="A table that an intruder has or could have, such as a registry of voters.")
    ] = None
    previous: Annotated[
        Companions | None,
        Field(description="Earlier releases of the same people: a table, or a list of tables, the oldest first."),
    ] = None
    unit: Annotated[str | None, Field(description="The entity column: whose records are one person's.")] = None
    unit_released: Annotated[
        bool, Field(description="The entity column is handed out; where it is not, `fix` drops it.")
    ] = True
    unit_name: Annotated[
        Noun | None,
        Field(
            description="What sentences call a record, or what `unit` identifies, in the singular: person, household."
        ),
    ] = None
    household: Annotated[
        str | None,
        Field(description="The column of the group of people who are found together: its composition is judged."),
    ] = None
    household_weight: Annotated[
        str | None,
        Field(description="The attribute that holds each household's sampling weight, where its members' differ."),
    ] = None
    time: Annotated[
        str | None,
        Field(description="The column that says when a row of a unit was: numbers, or dates as 2026-11-20."),
    ] = None
    schema_: Annotated[
        str | None, Field(alias="schema", description="A pandera schema: a YAML file, or package.module:Name.")
    ] = None
    suite: Annotated[
        str | StoredSuite | None,
        Field(description="A Great Expectations suite: a JSON file, or a context's folder and the suite's name."),
    ] = None
    plugins: Annotated[
        list[str] | None, Field(description="The plugins this policy needs; no other external one is used.")
    ] = None
    profile: Annotated[
        Text | list[Text] | None,
        Field(description="Named thresholds that are demanded as well, such as `ema_policy_0070@2017-09`."),
    ] = None
    answers: Annotated[
        dict[Text, Answer] | None,
        Field(min_length=1, description="What people answer to the questions of the profiles, by the question's key."),
    ] = None
    tables: Annotated[
        dict[Text, TableDeclaration] | None,
        Field(
            min_length=1,
            description="Tables of figures, and tables of records in the place of `release` and `attributes`.",
        ),
    ] = None
    aggregates: Annotated[
        dict[Text, AggregateDeclaration] | None,
        Field(min_length=1, description="The tables of figures among `tables`, when a policy is read."),
    ] = None
    models: Annotated[
        dict[Text, ModelDeclaration] | None, Field(min_length=1, description="Fitted models whose output is released.")
    ] = None
    microdata: Annotated[
        Microdata | None, Field(description="The records that the tables of figures were made from; not released.")
    ] = None
    previous_policies: Annotated[
        list[str] | None,
        Field(min_length=1, description="Policies of earlier releases of tables of figures about the same people."),
    ] = None
    attributes: Annotated[
        dict[Text, AttributeDeclaration],
        Field(description="Every column of the release.", json_schema_extra={"minProperties": 1}),
    ]
    conventions: Conventions = Conventions()
    scenarios: Annotated[
        dict[ScenarioName, Scenario] | None,
        Field(
            min_length=1,
            description="Intruders, each with what they know; by default one, who knows every quasi-identifier.",
        ),
    ] = None
    expect: Annotated[list[dict[str, Any]], Field(min_length=1, description="What the release must satisfy.")]
    remedy: Annotated[
        list[dict[str, Any]] | None,
        Field(min_length=1, description="How a release that fails is repaired: remedies, in the order they run."),
    ] = None
    max_loss: Annotated[
        Exact | None, Field(ge=0, le=1, description="The most that remedies may lose: the mean loss of a cell, 0 to 1.")
    ] = None
    min_utility: Annotated[
        dict[Text, Annotated[Exact, Field(ge=0, le=1)]] | None,
        Field(min_length=1, description="What remedies must leave of single columns: 1 less the mean loss of a cell."),
    ] = None
    keep_key: Annotated[
        bool, Field(description="Leave the key in what `fix` writes; the release then fails, unless it stays inside.")
    ] = False
    keep_links: Annotated[
        bool, Field(description="Leave the columns that link several tables as they are in what `fix` writes.")
    ] = False
    internal_only: Annotated[
        bool, Field(description="The file is given to no one who could link its records by key or order.")
    ] = False
    utility: Annotated[Utility, Field(description="What people would do with the release.")] = Utility()
    seed: Annotated[
        int, Field(ge=0, description="Seed of all random choices of remedies, and of samples of pairs.")
    ] = 0

    @field_validator("attributes")
    @classmethod
    def _are_some(cls, value: Any, read: ValidationInfo) -> Any:
        """Columns are declared, unless nothing but tables of figures and models is released."""
        if not value and not any(read.data.get(key, True) for key in FIGURES):
            raise PydanticKnownError("too_short", {"field_type": "Dictionary", "min_length": 1, "actual_length": 0})
        return value

    @property
    def applied_conventions(self) -> dict[str, Any]:
        """The conventions by name, without those of units and of figures where the policy has none."""
        left_out = {"known_rows"} if self.unit is None else set[str]()
        left_out |= set[str]() if self.has_figures else {"negative", "boundary", "integers"}
        return self.conventions.model_dump(exclude=left_out)

    @property
    def approval(self) -> Approval | None:
        """The person or office that approved it, and when; None where it does not say."""
        return Approval(by=self.approved_by) if isinstance(self.approved_by, str) else self.approved_by

    @property
    def figure_files(self) -> Iterator[tuple[str, str | None, str]]:
        """The files next to tables of figures: what each is, what it is of, and its path as it is written.

        Further records are among them, since the figures were made from them; tables of figures are not.
        """
        for table, declared in (self.aggregates or {}).items():
            for dimension, one in declared.dimensions.items():
                if isinstance(one.hierarchy, str):
                    yield "hierarchy", f"{table}{SEPARATOR}{dimension}", one.hierarchy
        for model, fitted in (self.models or {}).items():
            for kind, file in (("coefficients", fitted.file), ("design", fitted.design)):
                if file is not None:
                    yield kind, model, file
        if self.microdata is not None:
            if self.microdata.file is not None:
                yield "microdata", None, self.microdata.file
            for dimension, bands in self.microdata.band_files:
                yield "bands", dimension, bands
        yield from (("previous policy", None, path) for path in self.previous_policies or ())

    @property
    def has_figures(self) -> bool:
        """Whether tables of figures or output of models is released."""
        return bool(self.aggregates or self.models)

    @property
    def has_records(self) -> bool:
        """Whether records are released: not where it is tables of figures and models alone."""
        return bool(self.attributes) or not self.has_figures

    def with_role(self, role: Role) -> list[str]:
        """The attributes of a role, by name."""
        return sorted(name for name, declaration in self.attributes.items() if declaration.role is role)

    @property
    def drops_unit(self) -> bool:
        """Whether the entity column is dropped before release: as declared, as an identifier, or as a key."""
        if self.unit is None or (self.keep_key and self.unit == self.key):
            return False
        return not self.unit_released or self.unit in (*self.with_role(Role.IDENTIFIER), self.key)

    @property
    def root_weight(self) -> str | None:
        """The column of sampling weights of what is judged as a whole: that of households, or else of records."""
        return self.household_weight or self.weight

    @property
    def unit_column(self) -> str | None:
        """The name of the unit's column in every table that has it."""
        if self.unit is None or self.tables is None:
            return self.unit
        return self.unit.partition(SEPARATOR)[2] or self.unit

    @property
    def unit_table(self) -> str:
        """The table that has a row for each unit, where there are several tables; empty where there are not."""
        return "" if self.unit is None or self.tables is None else self.unit.partition(SEPARATOR)[0]

    @property
    def event_tables(self) -> list[str]:
        """The tables whose rows are events of units: those that belong to another one, or the only one of rows."""
        return [name for name, one in (self.tables or {}).items() if one.belongs_to is not None]

    @property
    def is_unlinked(self) -> bool:
        """Whether the policy has tables that nothing links: no unit, and no table that belongs to another."""
        joined = self.unit is not None or self.household is not None or self.event_tables
        return self.tables is not None and not joined

    def table_of_events(self, table: str | None) -> str:
        """The table whose rows are events: as a parameter names it, or the only one; of people of households theirs.

        Empty where it is open which, or there is no such table.
        """
        possible = self.event_tables
        if table is None:
            return possible[0] if len(possible) == 1 else ""
        if table == MEMBERS and table not in possible:
            return (self.household or "").partition(SEPARATOR)[0] if self.tables else ""
        return table if table in possible else ""

    def lineage(self, table: str) -> list[str]:
        """A table, then the one that its rows belong to, and so on up to the table of units."""
        tables, line, at = self.tables or {}, list[str](), table
        while at in tables and at not in line:
            line.append(at)
            at = tables[at].belongs_to or ""
        return line

    @property
    def root(self) -> str | None:
        """The column that joins rows to what is judged as a whole: the household, or else the unit."""
        return self.household or self.unit

    @property
    def companions(self) -> dict[str, str | Mapping[str, str]]:
        """The places of further tables, by what results call them: original, population, holdout, registry, previous.

        Of several earlier releases the first one is `previous 1`. Of several linked tables each has its place.
        """
        entries = {name: one for name, _, one in self.companion_entries()}
        tables = {name: one.file if isinstance(one, CompanionTable) else one for name, one in entries.items()}
        return {name: place for name, place in tables.items() if place is not None}

    def companion_entries(self) -> Iterator[tuple[str, tuple[str | int, ...], CompanionEntry]]:
        """Each further table: what results call it, its location in the document, and what is said there."""
        for name in ("original", "population", "holdout", "registry"):
            one = getattr(self, name)
            if one is not None:
                yield name, (name,), one
        earlier = self.previous
        if isinstance(earlier, str | CompanionTable | Mapping):
            yield PREVIOUS, (PREVIOUS,), earlier
        elif earlier is not None and len(earlier) == 1:
            yield PREVIOUS, (PREVIOUS, 0), earlier[0]
        else:
            yield from (
                (f"{PREVIOUS} {number + 1}", (PREVIOUS, number), one) for number, one in enumerate(earlier or ())
            )
        for scenario, own in (self.scenarios or {}).items():
            for table, one in own.tables.items():
                yield f"{table}{OF_SCENARIO}{scenario}", ("scenarios", scenario, table), one

    def with_attributes(self, attributes: Mapping[str, AttributeDeclaration], attempt: Fraction) -> PolicyDocument:
        """The same document with other declarations and one intruder, who attacks with a chance."""
        copy = self.model_copy(update={"attributes": FrozenDict(attributes), "scenarios": None})
        known = copy.with_role(Role.QUASI_IDENTIFIER)
        return (
            copy
            if attempt == 1
            else copy.model_copy(update={"scenarios": {"any": Scenario(knows=known, attempt=attempt)}}).in_scenario(
                "any"
            )
        )

    @property
    def attempt(self) -> Fraction:
        """The chance that the attack of the scenario is tried; 1 where the policy is of no single one that says it."""
        return Fraction(1 if self.scenario is None or self.scenario.attempt is None else self.scenario.attempt)

    @property
    def known_fraction(self) -> Fraction:
        """The share of people whom the intruder of the scenario knows; 1 likewise."""
        known = None if self.scenario is None else self.scenario.known_fraction
        return Fraction(1 if known is None else known)

    @property
    def scenario(self) -> Scenario | None:
        """The scenario in which the demands are judged; None where there is none, or where there are several."""
        return self.scenarios[self._scenario] if self._scenario and self.scenarios is not None else None

    @property
    def scenario_name(self) -> str:
        """The name of the scenario in which the demands are judged; empty where there is none."""
        return self._scenario

    def of_unit(self, column: str) -> PolicyDocument:
        """The same document with another column that joins what is judged as a whole: a unit, or in tables a household.

        Tables stay linked by the policy's unit. The unit itself is a choice where the policy has a household.
        """
        changed: dict[str, Any] = {"household": None, "household_weight": None}
        if column != self.unit and self.tables is not None:
            changed["household"] = column
        elif column != self.unit:
            asserted = {name: one.model_copy(update={"of": None}) for name, one in self.attributes.items()}
            changed |= {"unit": column, "unit_name": None, "unit_released": True, "attributes": FrozenDict(asserted)}
        return self.model_copy(update=changed)

    def in_scenario(self, name: str, knows: Sequence[str] = ()) -> PolicyDocument:
        """The same document as one scenario has it: what its intruder knows are the quasi-identifiers.

        Its sensitive columns are those at stake; other columns that are known or at stake elsewhere are insensitive.

        Args:
            name: the name of a declared scenario, or that of one without a declaration.
            knows: what its intruder knows, where it is not declared. Unknown columns are left out; see `faults`.
        """
        one = Scenario(knows=list(knows)) if knows else (self.scenarios or {})[name]
        known = {*one.knows}
        at_stake = {*(self.with_role(Role.SENSITIVE) if one.at_stake is None else one.at_stake)} - known
        roles = {**dict.fromkeys(at_stake, Role.SENSITIVE), **dict.fromkeys(known, Role.QUASI_IDENTIFIER)}
        attributes = {
            column: declared.model_copy(update={"role": roles[column]}) if column in roles else declared.of_no_one
            for column, declared in self.attributes.items()
        }
        copy = self.model_copy(
            update={"attributes": FrozenDict(attributes), "scenarios": FrozenDict({name: one}), **one.tables}
        )
        copy._scenario = name  # noqa: SLF001 - made here
        return copy
