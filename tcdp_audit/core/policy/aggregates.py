"""Declarations of released aggregates: tables of counts, sums and means, fitted models, and the microdata behind them.

They are under `tables:`, next to tables of microdata: a table with `attributes` is microdata, and one with
`dimensions` and `measures` is an aggregate.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import inf
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from tcdp_audit.core.policy.scalars import Exact, Model, ReadAs, Text

KINDS = ("counts", "sum", "mean", "share", "ratio", "quantile", "minimum", "maximum", "deviation")
"""The keys of a measure of which it has exactly one: what the measure holds, and of which column."""
OF_A_COLUMN = KINDS[1:]


class Dimension(Model):
    """One dimension of a table of figures: its total, the order of its categories, and how they add up."""

    total: Annotated[
        Text | None, Field(description="The label of the total over this dimension; without it, nothing is summed.")
    ] = None
    exhaustive: Annotated[
        bool,
        Field(
            description="The table has no total over this dimension, but its categories are all there are and no one "
            "is in two: a reader can add them up."
        ),
    ] = False
    order: Annotated[
        Literal["by_bounds"] | list[Text] | None,
        Field(description="The order of the categories: by the bounds of their ranges, or a list, lowest first."),
    ] = None
    hierarchy: Annotated[
        str | dict[Text, Any] | None,
        Field(description="Which categories add up to which: a YAML file, or a mapping of each node to its children."),
    ] = None
    complete: Annotated[
        bool, Field(description="The children of a node are all of it; where not, the node is at least their sum.")
    ] = True

    @model_validator(mode="after")
    def _has_one_total(self) -> Dimension:
        if self.exhaustive and self.total is not None:
            raise ValueError("has a `total`, which adds up its categories already; leave out `exhaustive`")
        return self


class Rounding(Model):
    """The method by which the figures of a table were rounded."""

    base: Annotated[Exact, Field(gt=0, description="The base: every rounded figure is a multiple of it.")]
    kind: Annotated[
        Literal["conventional", "random", "controlled", "down", "up", "midpoint"], Field(description="The method.")
    ] = "conventional"
    half: Annotated[
        Literal["up", "even", "unknown"] | None,
        Field(description="Where a half goes; by default it is not known."),
    ] = None
    steps: Annotated[int, Field(ge=0, description="Further bases by which controlled rounding may move a figure.")] = 0
    above: Annotated[int | None, Field(ge=0, description="Figures up to this one are hidden before rounding.")] = None


def require_whole_base(rounding: Rounding | None) -> None:
    """Refuse to round counts to anything but whole numbers. Raises `ValueError`."""
    if rounding is not None and rounding.base.denominator != 1:
        raise ValueError("counts are rounded to a whole number; `base` is none")


class Noise(Model):
    """The noise that was added to the figures of a table."""

    kind: Annotated[Literal["laplace", "geometric", "bounded"], Field(description="The distribution of the noise.")]
    scale: Annotated[Exact | None, Field(gt=0, description="The scale of Laplace noise.")] = None
    alpha: Annotated[Exact | None, Field(gt=0, lt=1, description="The ratio of geometric noise.")] = None
    deviation: Annotated[int | None, Field(ge=0, description="The most by which bounded noise moves a figure.")] = None

    @model_validator(mode="after")
    def _has_its_parameter(self) -> Noise:
        own = {"laplace": "scale", "geometric": "alpha", "bounded": "deviation"}
        for kind, key in own.items():
            if (getattr(self, key) is None) == (self.kind == kind):
                raise ValueError(f"`kind: {self.kind}` needs `{own[self.kind]}:` and no other parameter")
        return self


class Measure(Model):
    """The content of a column of figures: counts of people or of rows, or a statistic of a column over people."""

    counts: Annotated[
        Literal["people", "rows", "TODO"] | None, Field(description="It counts people, or rows such as visits.")
    ] = None
    of: Annotated[Text | None, Field(description="What is counted, in the singular, where it counts rows.")] = None
    per_person: Annotated[
        int | None, Field(ge=1, description="The most rows, or cells of a dimension, that one person has.")
    ] = None
    sum: Annotated[Text | None, Field(description="The column whose sum it is.")] = None
    mean: Annotated[Text | None, Field(description="The column whose mean it is.")] = None
    share: Annotated[Text | None, Field(description="What the share of people has.")] = None
    ratio: Annotated[Text | None, Field(description="What the ratio is of.")] = None
    quantile: Annotated[Text | None, Field(description="The column whose quantile it is, at `at`.")] = None
    minimum: Annotated[Text | None, Field(description="The column whose least value it is.")] = None
    maximum: Annotated[Text | None, Field(description="The column whose largest value it is.")] = None
    deviation: Annotated[Text | None, Field(description="The column whose standard deviation, n - 1, it is.")] = None
    at: Annotated[Exact | None, Field(gt=0, lt=1, description="The quantile: 0.5 for the median.")] = None
    over: Annotated[
        Text | None, Field(description="The measure that counts the people over whom it is, in the same table.")
    ] = None
    decimals: Annotated[
        int | Literal["exact"] | None,
        Field(description="The decimals to which it is rounded, or `exact` where it is the number itself."),
    ] = None
    as_: Annotated[
        Literal["percent", "fraction"], Field(alias="as", description="A share in percent, or from 0 to 1.")
    ] = "percent"
    at_least: Annotated[Exact | None, Field(description="The least value that a person can have.")] = None
    at_most: Annotated[Exact | None, Field(description="The largest value that a person can have.")] = None
    integers: Annotated[bool, Field(description="The values of people are whole numbers.")] = False
    rounding: Rounding | None = None
    noise: Noise | None = None

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> Measure:
        named = [key for key in KINDS if getattr(self, key) is not None]
        if len(named) != 1:
            raise ValueError(f"must have exactly one of {', '.join(KINDS)}")
        if (self.at is not None) != (self.quantile is not None):
            raise ValueError("a quantile needs `at:`, and nothing else has it")
        if self.of is not None and self.counts != "rows":
            raise ValueError("`of` says what a count of rows counts; leave it out")
        if self.counts is not None:
            require_whole_base(self.rounding)
        if isinstance(self.decimals, int) and self.decimals < 0:
            raise ValueError("`decimals` must be at least 0")
        return self

    @property
    def kind(self) -> str:
        """The kind of its figures: one of `KINDS`."""
        return next(key for key in KINDS if getattr(self, key) is not None)

    @property
    def column(self) -> str | None:
        """The column of the microdata that it is of; None for counts."""
        return None if self.counts is not None else str(getattr(self, self.kind))

    @property
    def is_additive(self) -> bool:
        """Whether it obeys relations: the figure of a total is the sum of those of its parts."""
        return self.counts is not None or self.sum is not None


def _as_end(value: Any) -> Any:
    """An end of an interval; YAML and JSON write infinity as `inf` or `.inf`."""
    if isinstance(value, float) and value == inf:
        return None
    return (
        None if isinstance(value, str) and value.strip().lower().lstrip("+") in ("inf", ".inf", "infinity") else value
    )


def _as_interval(ends: list[Any]) -> list[Any]:
    """Two ends, the least value first."""
    if len(ends) != 2 or ends[0] is None:
        raise ValueError("must be the least and the largest value, such as [1, 9] or [10, inf]")
    if ends[1] is not None and ends[0] > ends[1]:
        raise ValueError("the least value is above the largest; write the least first")
    return ends


End = Annotated[
    Exact | None,
    BeforeValidator(_as_end),
    PlainSerializer(lambda value: None if value is None else float(value)),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": ["inf"]}]}),
]
Interval = Annotated[
    list[End],
    AfterValidator(_as_interval),
    Field(description="The least and the largest value.", json_schema_extra={"minItems": 2, "maxItems": 2}),
]


class TokenMeaning(Model):
    """A token of a cell that was hidden for itself (primary), or to protect another one (secondary)."""

    primary: Literal["unknown"] | Interval | None = None
    secondary: Literal["unknown"] | Interval | None = None

    @model_validator(mode="after")
    def _is_one(self) -> TokenMeaning:
        if (self.primary is None) == (self.secondary is None):
            raise ValueError("must be either `primary:` or `secondary:`")
        return self


class ExceptCategory(Model):
    """A subgroup that has every category of a dimension but one."""

    not_: Annotated[Text, Field(alias="not", description="The category that is left out.")]


class Layout(Model):
    """The layout of a table with a column of figures for each category of a dimension."""

    rows: Annotated[list[Text], Field(description="The dimensions that have a column of labels each.")]
    columns: Annotated[
        list[Text], Field(min_length=1, description="The one dimension whose labels are the other columns.")
    ]


class AggregateDeclaration(Model):
    """A table of figures: its dimensions, its measures, and what its cells say."""

    file: Annotated[str | None, Field(description="The table's file, relative to the policy's.")] = None
    read_as: Annotated[ReadAs | None, Field(description="How the file is written; by default as UTF-8 text.")] = None
    layout: Annotated[
        Layout | None, Field(description="How a wide table is laid out; by default a row is a cell (long).")
    ] = None
    about: Annotated[
        dict[Text, Text | ExceptCategory],
        Field(description="Whom it is about: tables with the same `who` describe the same people."),
    ] = {}
    dimensions: Annotated[dict[Text, Dimension], Field(description="The columns of labels.")] = {}
    measures: Annotated[dict[Text, Measure], Field(min_length=1, description="The columns of figures.")]
    suppressed: Annotated[
        dict[Text, Literal["unknown", "primary", "secondary", "TODO"] | Interval | TokenMeaning],
        Field(description="The texts that hide a figure, and what they say of it: `unknown`, or its ends."),
    ] = {}
    totals: Annotated[
        Literal["all", "shown"], Field(description="A total counts hidden cells too, or is the sum of what is shown.")
    ] = "all"
    absent: Annotated[
        Literal["zero", "unknown", "structural"],
        Field(description="What a combination of categories without a row is: 0, hidden, or impossible."),
    ] = "zero"
    rounding: Annotated[Rounding | None, Field(description="How its counts were rounded.")] = None
    noise: Annotated[Noise | None, Field(description="The noise that was added to its counts.")] = None

    @model_validator(mode="after")
    def _rounds_counts_to_whole_numbers(self) -> AggregateDeclaration:
        if any(one.counts is not None for one in self.measures.values()):
            require_whole_base(self.rounding)
        return self

    @property
    def people(self) -> str:
        """The people it is about, without a subgroup."""
        who = self.about.get("who", "")
        return who if isinstance(who, str) else ""

    @property
    def subgroup(self) -> dict[str, str | ExceptCategory]:
        """The categories that everyone in it has, by dimension."""
        return {name: one for name, one in self.about.items() if name != "who"}


class ModelDeclaration(Model):
    """The output of a fitted model that is released: its size, and where it was fitted."""

    file: Annotated[str | None, Field(description="The file of its coefficients.")] = None
    kind: Annotated[Literal["linear", "logistic"], Field(description="What was fitted.")] = "linear"
    n: Annotated[int | None, Field(ge=1, description="The number of observations.")] = None
    parameters: Annotated[int | None, Field(ge=1, description="The number of coefficients, with the intercept.")] = None
    r_squared: Annotated[Exact | None, Field(ge=0, le=1, description="The share of variance that it explains.")] = None
    dummies: Annotated[
        dict[Text, Annotated[int, Field(ge=0)]] | None,
        Field(description="The number of people with each dummy, or combination of dummies, that it has."),
    ] = None
    design: Annotated[
        str | None, Field(description="A CSV file with a row for each observation and a column for each coefficient.")
    ] = None
    outcome: Annotated[str | None, Field(description="The column of the design's file with what is explained.")] = None
    about: Annotated[dict[Text, Text | ExceptCategory], Field(description="Whom it was fitted on.")] = {}


class Bands(Model):
    """A column of the microdata whose values fall into the categories of a dimension."""

    column: Annotated[Text, Field(description="The column.")]
    bands: Annotated[
        str | dict[Text, list[Text]] | None,
        Field(description="Which values a category has: a YAML file, or a mapping; ranges are read by their bounds."),
    ] = None


class Microdata(Model):
    """The records that the tables were made from, where the auditor has them; they are not released."""

    file: Annotated[str | None, Field(description="The file, relative to the policy's.")] = None
    table: Annotated[str | None, Field(description="The table of microdata under `tables` that it is.")] = None
    unit: Annotated[
        Text | None, Field(description="The column that says whose a record is; by default each its own.")
    ] = None
    of: Annotated[
        dict[Text, Text | Bands],
        Field(description="The column of each dimension; by default the column of the same name."),
    ] = {}

    @property
    def band_files(self) -> list[tuple[str, str]]:
        """The files that say which values a category has, each with its dimension."""
        return [
            (name, one.bands) for name, one in self.of.items() if isinstance(one, Bands) and isinstance(one.bands, str)
        ]

    @model_validator(mode="before")
    @classmethod
    def _may_be_a_name(cls, value: Any) -> Any:
        return {"table": value} if isinstance(value, str) else value


def is_aggregate(declared: Any) -> bool:
    """Whether a table of `tables` is one of figures: as it is written, or as it was read."""
    if isinstance(declared, AggregateDeclaration):
        return True
    return isinstance(declared, Mapping) and ("dimensions" in declared or "measures" in declared)


def fraction(value: Exact | None) -> Fraction | None:
    """A typed number as an exact fraction."""
    return None if value is None else Fraction(value)
