"""The kinds of check: frozen specifications around one pure function. Checks are found through plugins.

A `ClassCheck` maps equivalence classes to one figure each, and every class must keep the thresholds. A `AttackCheck`
says which classes an attack succeeds on, and the share of records in them must keep the threshold. A `TableCheck`
measures the release as a whole, and the tables next to it. An `AggregateCheck` measures released tables of figures.

Each kind answers the same questions: why it cannot hold for a policy (`faults`), what it runs on (`targets`), which
parameters have a threshold (`limits`), what its result is (`verdict`), and which of its demands nothing can fail
(`unfailable`): those are measured and judge nothing. The first two measure each shard (`figures`); `by_kind`
distinguishes the kinds, so that no caller needs to know a check's type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set as AbstractSet
from typing import Any

from tcdp_audit.core.base.declared_types import type_faults
from tcdp_audit.core.base.frozen import dataclass, refuse
from tcdp_audit.core.base.guide_file import DisclosureType
from tcdp_audit.core.check.aggregate_check import AggregateCheck
from tcdp_audit.core.check.class_check import AttackCheck, ClassCheck
from tcdp_audit.core.check.needs import Need, further_tables
from tcdp_audit.core.check.table_check import TableCheck

Check = ClassCheck[Any] | AttackCheck[Any] | TableCheck[Any] | AggregateCheck[Any]
"""A check of any kind."""

KINDS = (ClassCheck, AttackCheck, TableCheck, AggregateCheck)


@dataclass(frozen=True)
class LazyCheck:
    """A check by what lists of checks need of it. It is loaded when a policy, a page or a program asks for it.

    Args:
        name: the check's own.
        title: the check's own.
        disclosure_type: the check's own.
        load: gives the check. Its plugin is broken where that raises, or gives one with another name, title, quarter or
            risk.
        risk: the check's own, for reports that did not run it; nothing, and they do not say.
        on_records: whether it judges records; otherwise released tables of figures.
        needs: the check's own, for reports that did not run it.
        concerns: the check's own.
    """

    name: str
    title: str
    disclosure_type: DisclosureType
    load: Callable[[], Check]
    risk: str = ""
    on_records: bool = True
    needs: AbstractSet[Need] = frozenset()
    concerns: str = ""

    @property
    def requires(self) -> frozenset[str]:
        """The check's own."""
        return further_tables(self.needs)


Announced = Check | LazyCheck


def load_announced(announced: Announced, kinds: tuple[type, ...] = KINDS) -> Check:
    """The check that was announced, of one of the kinds that there are.

    Raises:
        TypeError: what is loaded is no check, or a field of it has another type than is declared.
        ValueError: it is another one.
        BaseException: whatever `load` raises.
    """
    if not isinstance(announced, LazyCheck):
        return announced
    check = announced.load()
    if not issubclass(type(check), kinds):
        raise TypeError(f"what is loaded is a {type(check).__name__} and no check")
    for fault in type_faults(check):
        raise TypeError(fault)
    for what, said, own in (
        ("name", announced.name, check.name),
        ("title", announced.title, check.title),
        ("disclosure_type", announced.disclosure_type, check.disclosure_type),
        ("risk", announced.risk, check.risk if announced.risk else ""),
        ("on_records", announced.on_records, check.on_records),
        ("needs", announced.needs, check.needs if announced.needs else frozenset()),
        ("concerns", announced.concerns, check.concerns if announced.concerns else ""),
    ):
        if said != own:
            raise ValueError(f"its {what} was announced as {said!r} and is {own!r}")
    return check


class ChecksByName(Mapping[str, Check]):
    """Checks by name, each loaded when it is first looked up. Names, and how many there are, load none.

    Args:
        announced: what plugins yield, by name.
        load: loads one of them; it is asked once for each.
    """

    __setitem__ = __delitem__ = __ior__ = refuse
    clear = pop = popitem = setdefault = update = refuse

    def __init__(self, announced: Mapping[str, Announced], load: Callable[[Announced], Check]) -> None:
        self.announced = announced
        self._load = load
        self._loaded: dict[str, Check] = {}

    def __getitem__(self, name: str) -> Check:
        """The check.

        Raises:
            KeyError: no plugin has it.
            PluginError: its plugin announces it and cannot load it.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(self.announced[name])
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        """Whether a plugin has it."""
        return name in self.announced

    def __iter__(self) -> Iterator[str]:
        """The names, in the order of the plugins."""
        return iter(self.announced)

    def __len__(self) -> int:
        """The number of checks."""
        return len(self.announced)
