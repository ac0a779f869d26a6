"""What the expectations of one run of Great Expectations ask, collected before the first of them is answered.

Great Expectations asks every expectation of a suite what it depends on before it computes anything, and hands all of
them, and then all metrics, the same `runtime_configuration`. So the run is kept in there: it lives as long as the
run, no second run finds an answer of the first, and nothing has to be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from contextlib import AbstractContextManager
from typing import Any, Self

from tcdp_audit.integrations.great_expectations.demands import Answer, Demand, Fault, answers
from tcdp_audit.plugin.engine import TcdpAuditError

KEY = "tcdp_audit"
Domain = Any  # what Great Expectations makes of a batch's id and a row condition; hashable
Open = Callable[[], AbstractContextManager[Any]]


class Run:
    """The demands of one run on each batch and part of a batch, and what came of them."""

    def __init__(self) -> None:
        self._asked: dict[Domain, dict[str, Demand]] = {}
        self._answered: dict[tuple[Domain, str], Answer] = {}

    @classmethod
    def within(cls, runtime_configuration: MutableMapping[str, Any] | None) -> Run:
        """The run that a runtime configuration belongs to; a run of its own where there is none."""
        if runtime_configuration is None:
            return cls()
        run = runtime_configuration.setdefault(KEY, cls())
        assert isinstance(run, Run)  # noqa: S101 - nobody else writes under this key
        return run

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """The same: Great Expectations copies its configuration for every expectation."""
        return self

    def ask(self, domain: Domain, demand: Demand) -> None:
        """Remember a demand on a domain."""
        self._asked.setdefault(domain, {})[demand.text] = demand

    def answer(self, domain: Domain, demand: Demand, opened: Open) -> Answer:
        """What came of a demand: of an audit of all that were asked of the domain and are not answered yet.

        It does not raise, as Great Expectations would try the same twice more. An answer is given once: a metric is
        resolved once a run, and a caller who gives the same configuration to another run has the table read again.
        """
        if (domain, demand.text) not in self._answered:
            self.ask(domain, demand)
            waiting = list(self._asked.pop(domain).values())
            for one, answer in _answers(waiting, opened).items():
                self._answered[domain, one.text] = answer
        return self._answered.pop((domain, demand.text))


def _answers(demands: list[Demand], opened: Open) -> dict[Demand, Answer]:
    try:
        with opened() as table:
            return answers(table, demands)
    except TcdpAuditError as error:
        return dict.fromkeys(demands, Fault(str(error)))
    except Exception as error:  # noqa: BLE001 - of Great Expectations or a driver; its text may hold cells
        return dict.fromkeys(demands, Fault(f"the batch cannot be read: it raised {type(error).__name__}"))
