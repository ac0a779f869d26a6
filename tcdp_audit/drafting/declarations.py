"""What is declared of a column, and the words in which people declare it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_audit.drafting.vocabulary import words_of
from tcdp_audit.plugin.detector import Role

ROLES = {
    Role.IDENTIFIER: "identifier, direct identifier, primary identifier, direct pii, personal identifier",
    Role.QUASI_IDENTIFIER: "quasi identifier, quasiidentifier, qi, qid, indirect identifier, indirect pii, key "
    "variable",
    Role.SENSITIVE: "sensitive, sensitive attribute, sensitive personal data, special category, special categories, "
    "confidential attribute",
    Role.INSENSITIVE: "insensitive, non sensitive, nonsensitive, not sensitive, non personal",
}
OF_WORDS = {word.strip(): role for role, words in ROLES.items() for word in words.split(",")}
KEYS = frozenset(
    {
        *("role", "tcdp role", "privacy role", "disclosure role", "tcdp", "classification", "data classification"),
        *("privacy", "sensitivity", "pii type", "pii", "contains pii", "personal data"),
    }
)
PERSONAL = ("pii", "contains pii", "personal data")  # say that it is about a person, and not in which way
KNOWN_CLASSES = frozenset({"public", "internal", "restricted", "confidential", "secret", "private", "pii", "phi"})


@dataclass(frozen=True)
class Declaration:
    """What a file says of one column.

    Args:
        role: in the policy's words; None where it says something else that matters.
        said: how, in words.
    """

    role: Role | None
    said: str


@dataclass(frozen=True)
class Declarations:
    """What a file says of the columns of a table.

    Args:
        location: of the file.
        columns: by name.
        named: whether the call names the table in it.
    """

    location: str
    columns: Mapping[str, Declaration]
    named: bool = False


def declaration_of(properties: Any, tags: Any = ()) -> Declaration | None:
    """What the properties and the tags of a column declare; a role first, then that it is about a person at all.

    Example:
        >>> declaration_of({"classification": "quasi-identifier"}).role.value, declaration_of({"owner": "finance"})
        ('quasi_identifier', None)
    """
    said = [*_said(properties), *_tagged(tags)]
    return next((one for one in said if one.role is not None), next(iter(said), None))


def role_of(word: Any) -> Role | None:
    """The role that a word names; None where it is none."""
    return OF_WORDS.get(_plain(word)) if isinstance(word, str) else None


def _said(properties: Any, within: str = "") -> Iterator[Declaration]:
    if not isinstance(properties, Mapping):
        return
    for key, value in properties.items():
        if _plain(key) in KEYS:
            name = f"{within}{_plain(key).replace(' ', '_')}"
            yield from _said(value, f"{name}.") if isinstance(value, Mapping) else _of_value(name, _plain(key), value)


def _of_value(name: str, key: str, value: Any) -> Iterator[Declaration]:
    """What the value of one property declares; unknown words are not repeated."""
    role = role_of(value)
    if role is not None:
        yield Declaration(role, f"declared {name}: {_plain(value)}")
    elif key in PERSONAL and value in (True, "true", "True", "yes"):
        yield Declaration(None, f"declared {name}, which does not say in which way it identifies")
    elif isinstance(value, str) and _plain(value) in KNOWN_CLASSES:
        yield Declaration(None, f"declared {name}: {_plain(value)}, which is no role")


def _tagged(tags: Any) -> Iterator[Declaration]:
    for tag in tags if isinstance(tags, Iterable) and not isinstance(tags, Mapping) else ():
        word = tag.rpartition(":")[2] if isinstance(tag, str) else tag
        role = role_of(word)
        if role is not None:
            yield Declaration(role, f"declared by the tag {_plain(word)}")
        elif isinstance(word, str) and _plain(word) in PERSONAL:
            yield Declaration(None, "declared by the tag pii, which does not say in which way it identifies")


def _plain(word: Any) -> str:
    return " ".join(words_of(str(word)))


def roles_in(parameters: Any, said: str) -> dict[str, Declaration]:
    """Columns with the roles that an expectation of ours gives them by its parameters."""
    roles: dict[str, Declaration] = {}
    if not isinstance(parameters, Mapping):
        return roles
    declared = parameters.get("declarations")
    for column, one in declared.items() if isinstance(declared, Mapping) else ():
        role = role_of(one.get("role")) if isinstance(one, Mapping) else None
        if role is not None:
            roles[str(column)] = Declaration(role, said)
    if "quasi_identifiers" in parameters:
        for key in ("column", "attribute"):
            if isinstance(parameters.get(key), str):
                roles.setdefault(parameters[key], Declaration(Role.SENSITIVE, said))
        for column in as_names(parameters["quasi_identifiers"]):
            roles[column] = Declaration(Role.QUASI_IDENTIFIER, said)
    return roles


def as_names(given: Any) -> list[str]:
    """One name or several."""
    return [given] if isinstance(given, str) else [str(one) for one in given] if isinstance(given, list | tuple) else []
