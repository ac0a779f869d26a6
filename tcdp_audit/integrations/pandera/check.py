"""An expectation as a check of pandera's, and the names by which schemas know it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandera.api.base.checks import CheckResult
from pandera.constants import CHECK_OUTPUT_KEY
from pandera.pandas import Check

from tcdp_audit.api import PolicyError
from tcdp_audit.integrations.host import Demand, plugins
from tcdp_audit.integrations.pandera.shared import (
    POLICY,
    Demanded,
    Results,
    batch_of,
    demanded_by,
    document_of,
    fails,
    forget_sentence_on,
    plain,
    results_of,
    sentence_on,
)
from tcdp_audit.plugin.engine import CheckError, PluginError, redact_errors
from tcdp_audit.plugin.sentences import Status

STRUCTURE = "tcdp_audit_structure"  # the name of the check on the columns of every release
FEW = 20  # records that are named where the schema sets no `n_failure_cases`


class ExpectationCheck(Check):
    """An expectation that pandera evaluates on a whole frame, pandas' or polars'.

    A record fails if it is one of those that `tcdp_audit.failing_records` gives. A check on the release as a whole
    fails without naming records. An expectation that cannot be evaluated on a frame, or that nothing can fail there,
    raises, which pandera reports as a failure.

    Args:
        name: the name that schemas know it by.
        statistics: the arguments that it was made with, which pandera writes into YAML.
        demanded: its demand.
    """

    def __init__(self, name: str, statistics: dict[str, Any], demanded: Demanded) -> None:
        register()
        self.demand, self.batch = demanded.demand, demanded.batch
        super().__init__(
            _never_called, name=name, statistics=statistics, raise_warning=demanded.warns, n_failure_cases=FEW
        )

    @redact_errors()
    def __call__(self, check_obj: Any, column: str | None = None) -> CheckResult:
        """Evaluate the expectation on a frame.

        Raises:
            CheckError: the expectation cannot be evaluated, or nothing can fail it on this frame.
            DataError: the frame has no records, or cannot be read.
        """
        require_frame(check_obj)
        if column is not None:
            raise CheckError(f"{self.name} is about the whole table; put it among the checks of the schema itself")
        schema = _schema_of(check_obj)
        if getattr(schema, "drop_invalid_rows", False):
            raise CheckError(f"{self.name}: records that are dropped change the classes of the others; drop none")
        return self._answer(check_obj, results_of(self.demand, self.batch, check_obj, _demands_of(schema)))

    def _answer(self, frame: Any, results: Results) -> CheckResult:
        outcomes = [outcome for outcome, _ in results]
        errors = [one.message for one in outcomes if one.status in (Status.ERROR, Status.SKIPPED)]
        if errors:
            raise CheckError(errors[0])
        if not any(one.is_judged for one in outcomes):
            raise CheckError(" ".join(one.message for one in outcomes) or "nothing was measured")
        if not any(fails(one) for one in outcomes):
            return passed_by_all(frame)
        masks = [mask for one, mask in results if fails(one) and mask is not None and mask.any()]
        if not masks:
            return failed_as_a_whole(frame)
        return failed(frame, masks[0] if len(masks) == 1 else np.logical_or.reduce(masks), self.n_failure_cases)

    @property
    def error(self) -> str | None:
        """Name of a failure for pandera: the sentence of the outcome while its frame exists, otherwise the text set."""
        return sentence_on(self.demand) or self._error

    @error.setter
    def error(self, text: str | None) -> None:
        self._error = text

    @property
    def registry_name(self) -> str | None:
        """The name in YAML. A schema that is written asks for it, without the sentence of a validation."""
        forget_sentence_on(self.demand)
        return self.name

    def __eq__(self, other: object) -> bool:
        """Whether another check demands the same and reports it in the same way."""
        return isinstance(other, ExpectationCheck) and self._compared == other._compared

    def __hash__(self) -> int:
        """A hash of what it demands."""
        return hash(self.demand)

    @property
    def _compared(self) -> tuple[Any, ...]:
        return self.name, self.demand, self._error, self.raise_warning, self.n_failure_cases


def expectation_check(name: str, policy: Any = None, /, **given: Any) -> ExpectationCheck:
    """One expectation as a check, by a check's name.

    Args:
        name: the name of any registered check, such as "k_anonymity".
        policy: the policy that it belongs to: the path of its file, or its content as a mapping. The other expectations
            of the policy are left to other checks.
        **given: the check's parameters, among them a threshold. Without a policy also `quasi_identifiers`, and the
            other arguments of `tcdp_audit.measure`.

    Raises:
        PolicyError: a name or a parameter is wrong, or nothing could fail it.
        UsageError: the policy's file cannot be read.
    """
    statistics = {name: plain(one) for name, one in given.items()}
    if policy is not None:
        statistics[POLICY] = plain(policy)
    if name == STRUCTURE:
        return structure_check(statistics.get(POLICY, statistics))  # pandera writes polars' only statistic bare
    return ExpectationCheck(name, statistics, demanded_by(name, statistics))


def structure_check(policy: str | dict[str, Any]) -> ExpectationCheck:
    """Make the check on the columns of every release: the declared ones are there, and no others.

    Raises:
        PolicyError: the policy is wrong, or none is given.
    """
    if not policy:
        raise PolicyError(f"{STRUCTURE}: name the `policy` that declares the columns")
    document = document_of(policy)
    return ExpectationCheck(STRUCTURE, {POLICY: policy}, Demanded(Demand.of(document), batch_of(document)))


def register() -> None:
    """Register every check with pandera by its name: for YAML, a model's `Config`, and `Check.NAME`.

    Making a check does this, too; call it before reading a schema that names one.

    Raises:
        PluginError: pandera has a check of such a name already.
    """
    for name in (STRUCTURE, *plugins().checks):
        known = Check.REGISTERED_CUSTOM_CHECKS.get(name)
        if getattr(known, "func", None) is expectation_check:
            continue
        if hasattr(Check, name):
            raise PluginError(
                f"pandera has a check {name!r} already, so that schemas cannot name tcdp-audit's; rename the other"
            )
        Check.REGISTERED_CUSTOM_CHECKS[name] = partial(expectation_check, name)


def _schema_of(frame: Any) -> Any:
    """The schema that a frame of pandas is validated by: pandera records it there."""
    return getattr(getattr(frame, "pandera", None), "schema", None)


def _demands_of(schema: Any) -> list[Demand]:
    checks = getattr(schema, "checks", None) or ()
    return [one.demand for one in checks if isinstance(one, ExpectationCheck)]


def _never_called(_: Any) -> bool:
    """Replace the function that pandera requires of a check."""
    raise NotImplementedError


def require_frame(frame: Any) -> None:
    """Require a frame of pandas or polars; raise a CheckError for any other."""
    if not isinstance(frame, pd.DataFrame) and not _is_polars(frame):
        kind = type(frame)
        raise CheckError(
            f"pandera gave a {kind.__module__.split('.')[0]} {kind.__name__}; tcdp-audit's checks take frames of "
            "pandas and polars, through pandera's own backends for them (`use_narwhals_backend` must be off)"
        )


def passed_by_all(frame: Any) -> CheckResult:
    """The answer that every record keeps the check."""
    if _is_polars(frame):
        return CheckResult(_column([True]), _column([True]), frame, None)
    return CheckResult(check_output=True, check_passed=True, checked_object=frame, failure_cases=None)


def failed_as_a_whole(frame: Any) -> CheckResult:
    """The answer that the frame fails, and no single record does."""
    if _is_polars(frame):
        # pandera cannot put a truth value and texts into one column of failure cases; an empty text is false as well
        return CheckResult(_column([False]), _column([""]), frame, None)
    return CheckResult(check_output=False, check_passed=False, checked_object=frame, failure_cases=None)


def failed(frame: Any, failing: NDArray[np.bool_], most: int | None) -> CheckResult:
    """The answer that some records fail, at least one; `most` of them are named. Shape of `failing`: (records,)."""
    positions = np.flatnonzero(failing)[: FEW if most is None else most]
    names = [f"record {position + 1:,}" for position in positions.tolist()]
    if _is_polars(frame):
        return CheckResult(_column(~failing), _column([False]), frame, _column(names, "failure_case"))
    output = pd.Series(~failing, index=frame.index)
    cases = pd.Series(names, index=frame.index[positions], name="failure_case", dtype=object)
    return CheckResult(output, check_passed=False, checked_object=frame, failure_cases=cases)


def _is_polars(frame: Any) -> bool:
    return type(frame).__module__.split(".")[0] == "polars"


def _column(values: Any, name: str = CHECK_OUTPUT_KEY) -> Any:
    import polars as pl  # noqa: PLC0415 - an extra, and there where a frame of it is

    return pl.LazyFrame({name: values})
