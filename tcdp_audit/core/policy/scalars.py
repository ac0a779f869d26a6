"""The types of a policy's fields: the base of its models, and scalars that remember how they were typed.

So `02139` is a code and 0.2 is one fifth.

A number is written in plain decimal digits, or as a fraction of two. What YAML 1.1 reads as a number of another kind
(octal, hexadecimal, base 60, with underscores) is a text where a text is expected, and a fault where a number is.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from tcdp_audit.core.base.frozen import frozen

LARGEST_EXPONENT = 300  # of float64, nearly; `1e999999999` would not fit into memory
WHOLE = r"(?:0|[1-9][0-9]*)"
DECIMAL = rf"[+-]?(?:{WHOLE}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
DIGITS = re.compile(rf"[+-]?{WHOLE}")
NUMBER = re.compile(rf"{DECIMAL}|[+-]?{WHOLE}/{WHOLE}")
PLAIN = "must be in plain decimal digits"
READ = f"{PLAIN}; YAML reads `{{text}}` as {{value:.15g}} ({{kind}})"
KINDS = {  # of numbers that YAML 1.1 reads and people do not
    "hexadecimal": re.compile(r"[+-]?0x"),
    "binary": re.compile(r"[+-]?0b"),
    "base 60": re.compile(r".*:"),
    "octal": re.compile(r"[+-]?0[0-7]+$"),
}


class TypedInt(int):
    """An integer of a YAML file, with the text of it in the file."""

    text: str

    def __new__(cls, value: int, text: str) -> Self:
        """Keep `text` together with `value`."""
        self = super().__new__(cls, value)
        self.text = text
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled through its arguments."""
        return type(self), (int(self), self.text)


class TypedFloat(float):
    """A decimal number of a YAML file, with the text of it in the file."""

    text: str

    def __new__(cls, value: float, text: str) -> Self:
        """Keep `text` together with `value`."""
        self = super().__new__(cls, value)
        self.text = text
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled through its arguments."""
        return type(self), (float(self), self.text)


class OddNumber(str):
    """The text of a scalar that YAML, or a reader, may take for a number, and that is not in plain decimal digits."""

    fault: str

    __slots__ = ("fault",)

    def __new__(cls, text: str, fault: str) -> Self:
        """Keep what is wrong with `text` as a number."""
        self = super().__new__(cls, text)
        self.fault = fault
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled through its arguments."""
        return type(self), (str(self), self.fault)


def odd_number(text: str, value: float | None) -> OddNumber | None:
    """The `text` as it was typed without quotes, if it looks like a number and is not in plain decimal digits.

    `value` is what YAML 1.1 makes of it; None where that is a text.
    """
    if "_" in text:
        return OddNumber(text, f"{PLAIN}; write `{text}` without underscores")
    kind = next((name for name, pattern in KINDS.items() if pattern.match(text)), None)
    if value is not None and kind is not None:
        return OddNumber(text, READ.format(text=text, value=value, kind=kind))
    if re.match(r"[+-]?0[0-9]", text):
        return OddNumber(text, f"{PLAIN}; write `{text}` without the leading zero")
    return None


def as_text(value: Any) -> Any:
    """A scalar as the text that was typed, for attributes' names and values."""
    if isinstance(value, bool):
        raise ValueError("YAML reads this as true or false; put it in quotes")  # noqa: TRY004 - pydantic wants ValueError
    if isinstance(value, TypedInt | TypedFloat):
        return value.text
    if isinstance(value, int | float | OddNumber):
        return str(value)
    return value


def as_yes_or_no(value: Any) -> Any:
    """An answer as `yes` or `no`; YAML 1.1 reads both as true and false."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def is_encoding(name: str) -> bool:
    """Whether Python knows an encoding of text by this name."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        return False
    return name.isascii()


def as_date(value: Any) -> Any:
    """A day as it is typed, year first, and none that is still to come anywhere on earth."""
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value) if DAY.fullmatch(value) else None
        except ValueError:
            value = None
    if type(value) is not date:
        raise ValueError("must be a day, written as 2026-11-20")
    if value > datetime.now(UTC).date() + timedelta(days=1):  # where it is tomorrow already
        raise ValueError("must not be in the future")
    return value


def plain_number(text: str) -> str:
    """A percentage, or a number with a decimal comma, as it should be written; nothing for any other text.

    Example:
        >>> plain_number("20%"), plain_number("0,2"), plain_number("many")
        ('; write 0.2 for 20%', '; write 0.2 with a point', '')
    """
    if percent := re.fullmatch(rf"({WHOLE}(?:\.[0-9]{{1,6}})?) ?%", text):
        return f"; write {(Decimal(percent[1]) / 100).normalize():f} for {text}"
    comma = re.fullmatch(rf"({WHOLE}),([0-9]{{1,6}})", text)
    return f"; write {comma[1]}.{comma[2]} with a point" if comma else ""


def as_fraction(value: Any) -> Fraction:
    """The exact number that was typed: 0.2 is 1/5, and `3/8` is allowed."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic wants ValueError
    if isinstance(value, OddNumber):
        raise ValueError(value.fault)  # noqa: TRY004 - pydantic wants ValueError
    text = (value.text if isinstance(value, TypedInt | TypedFloat) else str(value)).strip()
    if not NUMBER.fullmatch(text):
        raise ValueError(f"must be a finite number{plain_number(text)}")
    try:
        if "/" in text:
            return Fraction(text)
        decimal = Decimal(text)
        if decimal and abs(decimal.adjusted()) > LARGEST_EXPONENT:
            raise ValueError  # noqa: TRY301 - reported in one sentence with the others
        return Fraction(decimal)
    except (InvalidOperation, ValueError, OverflowError, ZeroDivisionError):
        raise ValueError("must be a finite number") from None


Exact = Annotated[
    Fraction,
    BeforeValidator(as_fraction),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^(?:{NUMBER.pattern})$"}]}),
]
"""The type of a parameter that is an exact number: `0.1` and `1/10` are the same fraction."""


def as_version(value: Any) -> Any:
    """The version of a format: 1 is neither `true` nor 1.0."""
    if isinstance(value, OddNumber):
        raise ValueError(value.fault)  # noqa: TRY004 - pydantic wants ValueError
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be the whole number 1")  # noqa: TRY004 - pydantic wants ValueError
    return value


Text = Annotated[str, BeforeValidator(as_text)]
"""The type of a parameter that is text: a number in a policy is taken as it is typed."""
LABEL = r"^\S(.{0,58}\S)?$"
NOUN = r"^[^\W\d_]+([ -][^\W\d_]+)*$"
SCENARIO = r"^[^\W\d_][\w-]{0,39}$"


class Model(BaseModel):
    """Base of every policy model: closed, immutable to its lists and mappings, and without silent conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    @model_validator(mode="after")
    def _freeze(self) -> Self:
        for name, value in list(self.__dict__.items()):
            object.__setattr__(self, name, frozen(value))  # the model is frozen already
        return self


def _as_label(text: str) -> str:
    if not re.fullmatch(LABEL, text):
        raise ValueError("must be one line of at most 60 characters, without blanks before or after it")
    return text


def _as_noun(text: str) -> str:
    if not re.fullmatch(NOUN, text):
        raise ValueError("must be a noun in the singular, such as person")
    return text


def _as_plural(text: str) -> str:
    if not re.fullmatch(NOUN, text):
        raise ValueError("must be a noun in the plural, such as days or euros")
    return text


def _as_scenario(text: str) -> str:
    if not re.fullmatch(SCENARIO, text):
        raise ValueError("must be a name of letters, digits, _ and -, at most 40, that begins with a letter")
    return text


def _as_reason(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty; leave it out where there is nothing to say")
    return text.strip()


Label = Annotated[str, AfterValidator(_as_label), Field(json_schema_extra={"pattern": LABEL})]
Noun = Annotated[str, AfterValidator(_as_noun), Field(json_schema_extra={"pattern": NOUN})]
Plural = Annotated[str, AfterValidator(_as_plural), Field(json_schema_extra={"pattern": NOUN})]
Reason = Annotated[str, AfterValidator(_as_reason), Field(json_schema_extra={"pattern": r"\S"})]
"""The type of a reason: text of the policy's author, of one line or several, without blanks around it."""
ScenarioName = Annotated[str, AfterValidator(_as_scenario), Field(json_schema_extra={"pattern": SCENARIO})]


class ReadAs(Model):
    """The form of a text file that is not UTF-8 with decimal points."""

    encoding: Annotated[
        str | None, Field(description="The encoding of a text file, such as cp1252; by default UTF-8, or detected.")
    ] = None
    decimal: Annotated[
        Literal[".", ","] | None, Field(description="The decimal mark of numbers that are text; by default a point.")
    ] = None
    thousands: Annotated[
        Literal[".", ",", " ", "'", "’"] | None,
        Field(description="The mark between groups of three digits, or a space of any width; by default none."),
    ] = None
    layout: Annotated[
        str | None,
        Field(description="For a file in fixed width, a CSV file with the name, first place and width of each column."),
    ] = None

    @field_validator("encoding")
    @classmethod
    def _is_known(cls, value: str | None) -> str | None:
        """Python knows the encoding, and it is one of text."""
        if value is not None and not is_encoding(value):
            raise ValueError("is no encoding that Python knows; write cp1252, latin-1, utf-16 or the like")
        return value

    @model_validator(mode="after")
    def _marks_differ(self) -> ReadAs:
        if self.thousands == (self.decimal or "."):
            raise ValueError("`decimal` (by default a point) and `thousands` are the same mark")
        return self
