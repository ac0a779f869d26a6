"""A policy that has been read and found sound."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from tcdp_audit.core.base.addresses import resolve_location
from tcdp_audit.core.base.outcome import DisplayNames, Severity
from tcdp_audit.core.base.visible import visible
from tcdp_audit.core.base.words import count
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, PolicyDocument, Role
from tcdp_audit.core.policy.profile import Profile, ProfileQuestion


@dataclass(frozen=True)
class Expectation:
    """A check with its parameters, one of which may be a threshold, and where it stands in the policy.

    `plugin` is the external plugin that the check comes from, or nothing. `profile` is the profile that asks for it,
    and `says` what that says of it; nothing where the policy itself asks. What a check is, the policy does not know;
    see `tcdp_audit.core.check`.
    """

    check: Any
    parameters: Any
    line: int | None = None
    plugin: str = ""
    column: int | None = None
    profile: str = ""
    says: str = ""


@dataclass(frozen=True)
class PlannedRemedy:
    """A remedy with its parameters, the line of the policy it stands on, and its external plugin or nothing.

    What a remedy is, the policy does not know; see `tcdp_audit.core.remedy`.
    """

    remedy: Any
    parameters: Any
    line: int | None = None
    plugin: str = ""


@dataclass(frozen=True, repr=False)
class Policy:
    """What a release must satisfy.

    Args:
        document: the policy as written.
        expectations: its expectations, each bound to a registered check.
        text: the text of the file, or its canonical JSON where the policy was given as a mapping.
        path: the file it was read from, if any.
        remedies: what repairs a release that fails, in the order of their turn; none where the policy leaves it open.
        content: the bytes of the file that it was read from, if any.
        profiles: the profiles that it names, whose demands are among its expectations.
        profile_line: the line that names them.
        trusts_code: whether code that it names runs though it is not installed: a schema in a module beside it.
    """

    document: PolicyDocument
    expectations: tuple[Expectation, ...]
    text: str
    path: Path | None = None
    remedies: tuple[PlannedRemedy, ...] = ()
    content: bytes | None = None
    profiles: tuple[Profile, ...] = ()
    profile_line: int | None = None
    trusts_code: bool = False

    def __repr__(self) -> str:
        """Its name and its size: the text of a policy may name values."""
        attributes, expectations = len(self.attributes), len(self.expectations)
        return f"<Policy {visible(self.name)}: {count(attributes, 'attribute')}, {count(expectations, 'expectation')}>"

    @property
    def name(self) -> str:
        """The file's name, or a stand-in for a policy without a file."""
        return "policy" if self.path is None else self.path.name

    @property
    def attributes(self) -> Mapping[str, AttributeDeclaration]:
        """Every declared column."""
        return self.document.attributes

    @property
    def conventions(self) -> Conventions:
        """What its verdicts mean."""
        return self.document.conventions

    @property
    def naming(self) -> DisplayNames:
        """What sentences call people and columns."""
        labels = {name: one.label for name, one in self.attributes.items() if one.label is not None}
        return DisplayNames(self.document.unit_name or "", labels)

    @property
    def sha256(self) -> str:
        """Digest of the bytes of the policy's file, or of its JSON where it was given as a mapping."""
        return hashlib.sha256(self.text.encode() if self.content is None else self.content).hexdigest()

    @property
    def directory(self) -> Path:
        """Where relative paths in the policy start."""
        return Path() if self.path is None else self.path.parent

    @property
    def questions(self) -> list[tuple[Profile, ProfileQuestion]]:
        """What its profiles ask that none of its demands answers, whether a person answers it or not."""
        asked = [(profile, one) for profile in self.profiles for one in profile.questions]
        return [(profile, one) for profile, one in asked if not any(map(partial(_answers, one), self.expectations))]

    def with_role(self, role: Role) -> list[str]:
        """The attributes of a role, in the order of their names so that no answer depends on the file's order."""
        return self.document.with_role(role)

    def resolve(self, location: str) -> str:
        """A path in the policy, relative to the policy's own folder; a URL or another address as it stands."""
        return resolve_location(location, self.directory)

    @property
    def out_of_order(self) -> Policy:
        """The same policy of a release whose records are shuffled, so that they are not aligned with the original's."""
        return replace(self, document=self.document.model_copy(update={"rows_aligned": False}))

    @property
    def pairs_by_order(self) -> bool:
        """Whether records are paired with the original's by their places, and by no key."""
        return self.document.rows_aligned and self.document.key is None

    def only(self, checks: Collection[str]) -> Policy:
        """The same policy without the expectations on other checks.

        Args:
            checks: names of checks.
        """
        return replace(self, expectations=tuple(one for one in self.expectations if one.check.name in checks))

    def with_conventions(self, **changes: Any) -> Policy:
        """The same policy under other conventions."""
        conventions = self.conventions.model_copy(update=changes)
        return replace(self, document=self.document.model_copy(update={"conventions": conventions}))


def _answers(question: ProfileQuestion, expectation: Expectation) -> bool:
    """Whether a demand that counts is at least as strict as a question wants it."""
    if question.unless != expectation.check.name or expectation.parameters.severity is not Severity.ERROR:
        return False
    demands = expectation.check.demands(expectation.parameters)
    comparisons = {one.parameter: one.comparison for one in expectation.check.limits}
    wanted = {name: Fraction(value) for name, value in question.demanding.items()}
    given = {name: getattr(expectation.parameters, name) for name in wanted.keys() - comparisons.keys()}
    return all(given[name] == wanted[name] for name in given) and all(
        name in demands and comparisons[name].holds((demands[name] > value) - (demands[name] < value))
        for name, value in wanted.items()
        if name in comparisons
    )
