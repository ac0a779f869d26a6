"""Tables whose unit joins rows, and their histories in plain Python."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from tcdp_audit import Remediation, fix, load_policy
from tcdp_audit.core.auditor.evaluation import evaluate, records_failing_on_classes
from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import Treatment
from tcdp_audit.core.remedy.treatment import apply_treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
MEMORY = 2**28
UNIT, TIME = "patient", "month"
KNOWN = (TIME, "ward")


def clinic() -> pa.Table:
    """2,000 patients with one to four visits each: 996 of them are alone with all of theirs."""
    draw = random.Random(5)  # noqa: S311 - a generated table
    rows = [
        (patient, f"2024-{draw.randint(1, 12):02}", draw.choice(["north", "south"]))
        for patient in range(2000)
        for _ in range(draw.randint(1, 4))
    ]
    patients, months, wards = zip(*rows, strict=True)
    return pa.table({UNIT: patients, TIME: months, "ward": wards, "diagnosis": draw.choices("abcd", k=len(rows))})


def small_clinic(seed: int, patients: int = 30) -> pa.Table:
    """A table of few days, wards and diagnoses; patients are named by text."""
    draw = random.Random(seed)  # noqa: S311 - a generated table
    rows = [
        (
            f"p{patient:03}",
            f"2024-{draw.randint(1, 6):02}-{draw.randint(1, 28):02}",
            draw.choice("nnnns"),
            draw.choice("ab"),
        )
        for patient in range(patients)
        for _ in range(draw.randint(1, 3))
    ]
    draw.shuffle(rows)
    return pa.table(dict(zip((UNIT, TIME, "ward", "diagnosis"), zip(*rows, strict=True), strict=True)))


def clinic_policy(*remedies: Mapping[str, Any], k: int = 5, timed: bool = True, **more: Any) -> dict[str, Any]:
    """Patients whose month and ward are known; k of them have each history."""
    attributes = {TIME: {"role": "quasi_identifier"}, "ward": {"role": "quasi_identifier"}}
    return {
        "version": 1,
        "unit": UNIT,
        **({"time": TIME} if timed else {}),
        "attributes": {**attributes, "diagnosis": {"role": "sensitive"}, UNIT: {"role": "insensitive"}},
        "expect": [{"k_anonymity": {"k": k}}],
        **({"remedy": list(remedies)} if remedies else {}),
        **more,
    }


def histories_of(table: pa.Table, *names: str) -> dict[Hashable, tuple[Any, ...]]:
    """The rows of each unit by some columns, whatever their order."""
    rows = defaultdict(list)
    for row in table.to_pylist():
        rows[row[UNIT]].append(tuple(str(row[name]) for name in names or KNOWN))
    return {unit: tuple(sorted(own)) for unit, own in rows.items()}


def figures_of(histories: Iterable[Hashable]) -> tuple[int, int, int]:
    """The units of the smallest class, the units that are alone, and the number of classes."""
    sizes = Counter(histories).values()
    return min(sizes), sum(size == 1 for size in sizes), len(sizes)


def repaired(table: pa.Table, *remedies: Mapping[str, Any], k: int = 1_000_000, **more: Any) -> Remediation:
    """What remedies make of a table. Its policy fails by default, so that the remedies are applied."""
    return fix(table, clinic_policy(*remedies, k=k, **more), plugins=PLUGINS)


@contextmanager
def view_of(table: pa.Table, asked: Mapping[str, Any]) -> Iterator[RemedyView]:
    """A table as a remedy sees it that is applied by `fix`."""
    policy, options = load_policy(asked, PLUGINS), Options(MEMORY)

    def after(treatment: Treatment, judge: Callable[..., Any]) -> Any:
        with open_engine(apply_treatment(table, view, treatment), MEMORY) as engine:
            return judge(policy, engine, options)

    with open_engine(table, MEMORY) as engine:
        view = RemedyView(
            Release(engine, policy),
            evaluate(policy, engine, options),
            policy.document.seed,
            lambda treatment: after(treatment, evaluate),
            records_failing=lambda treatment: after(treatment, records_failing_on_classes),
        )
        yield view


def treated(table: pa.Table, asked: Mapping[str, Any], remedy: str, /, **parameters: Any) -> tuple[pa.Table, Treatment]:
    """A table after one remedy, its rows in their order, and the treatment."""
    specification = PLUGINS.remedies[remedy]
    with view_of(table, asked) as view:
        treatment = specification.apply(view, specification.parameters.model_validate(parameters))
        return apply_treatment(table, view, treatment), treatment
