"""The experiment of Li, Li and Venkatasubramanian (2007), section 6: five measures of privacy on Adult.

    python benchmarks/li07_experiment.py DATA            # prints the tables
    python benchmarks/li07_experiment.py DATA --write    # writes them, and the pictures, into docs/li07-experiment.md

DATA is the folder that has adult/adult.csv and adult/hierarchies. Occupation and salary are sensitive, the other seven
attributes are quasi-identifiers. Every table is partitioned by full-domain generalization and by Mondrian, and audited
afterwards. Seconds are of the processor, for the remedy alone, and the least of two runs.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import line_charts
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from tcdp_audit import audit, load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit.core.remedy.treatment import apply_treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.generalization import GENERALIZATION
from tcdp_audit_plugins.remedies.mondrian import MONDRIAN

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "li07-experiment.md"
TABLES = re.compile(r"(?<=<!-- tables -->\n).*(?=<!-- end of tables -->)", re.DOTALL)
# In the order of the paper's table of attributes.
QUASI_IDENTIFIERS = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex")
SENSITIVE = ("occupation", "salary-class")
SIZES = (2, 3, 4, 5, 6, 7)
LEVELS = (2, 4, 6, 8, 10)  # k, and l
K, L = 5, 5  # while the number of quasi-identifiers varies
REPEATS = 2  # the least time of which counts
REMEDIES = {"full-domain generalization": GENERALIZATION, "Mondrian": MONDRIAN}
PLUGINS = Plugins.load(external=False)


def close(k: int, t: str) -> list[dict[str, Any]]:
    """k-anonymity, and t-closeness of both sensitive attributes."""
    return [{"k_anonymity": {"k": k}}, {"t_closeness": {"t": t, "distance": "hierarchical"}}]


MEASURES = {
    "k-anonymity": lambda n: [{"k_anonymity": {"k": n}}],
    "entropy l-diversity": lambda n: [{"entropy_l_diversity": {"l": n, "attribute": "occupation"}}],
    "recursive (4, l)-diversity": lambda n: [{"recursive_cl_diversity": {"c": 4, "l": n, "attribute": "occupation"}}],
    "k-anonymity and t = 0.2": lambda n: close(n, "0.2"),
    "k-anonymity and t = 0.15": lambda n: close(n, "0.15"),
}


class Trial(NamedTuple):
    """One table after a remedy: seconds of the processor, millions of discernibility, and the mean class size."""

    seconds: float
    discernibility: float
    class_size: float


@cache
def read(path: Path) -> pa.Table:
    """Adult."""
    return pyarrow.csv.read_csv(path)


def policy(folder: Path, names: Sequence[str], expect: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Some quasi-identifiers, both sensitive attributes, and what is demanded."""

    def declared(name: str, role: str) -> dict[str, Any]:
        scale = "numeric" if name == "age" else "nominal"
        return {"role": role, "scale": scale, "hierarchy": str(folder / "hierarchies" / f"{name}.csv")}

    attributes: dict[str, Any] = {name: {"role": "insensitive"} for name in QUASI_IDENTIFIERS}
    attributes |= {name: declared(name, "quasi_identifier") for name in names}
    attributes |= {name: declared(name, "sensitive") for name in SENSITIVE}
    return {"version": 1, "attributes": attributes, "expect": list(expect)}


def trial(folder: Path, names: Sequence[str], expect: Sequence[Mapping[str, Any]], remedy: Any) -> Trial | None:
    """Partition, audit the result, and measure it.

    Where the remedy refuses, all records are one class, as if no quasi-identifier were released; None if even that does
    not keep the policy.
    """
    table, document = read(folder / "adult.csv"), policy(folder, names, expect)
    seconds = inf
    for _ in range(REPEATS):
        with open_engine(table, 2**30) as engine:
            view = RemedyView(Release(engine, load_policy(document, PLUGINS)), (), 0, lambda _: ())
            view.attributes([*names, *SENSITIVE])  # read before the clock starts
            start = time.process_time()
            try:
                treatment = remedy.apply(view, remedy.parameters())
            except RemedyError:
                treatment = None
            seconds = min(seconds, time.process_time() - start)
            released = treatment and apply_treatment(table, view, treatment)
    if released is None:
        whole = table.append_column("class", pa.array(["whole"] * table.num_rows))
        document = policy(folder, (), expect)
        document["attributes"]["class"] = {"role": "quasi_identifier"}
        passed = audit(whole, document, plugins=PLUGINS).passed
        return Trial(seconds, table.num_rows**2 / 1e6, table.num_rows) if passed else None
    if released.num_rows != table.num_rows or not audit(released, document, plugins=PLUGINS).passed:
        raise SystemExit(f"{remedy.name} under {expect} is not what was demanded")
    sizes = released.group_by(list(names)).aggregate([([], "count_all")])["count_all"]
    return Trial(seconds, pc.sum(pc.multiply(sizes, sizes)).as_py() / 1e6, table.num_rows / len(sizes))


def page(folder: Path) -> Iterator[tuple[str, str, str]]:
    """For each remedy its slug, its tables and its picture."""
    for title, remedy in REMEDIES.items():
        by_number = {
            measure: {n: trial(folder, QUASI_IDENTIFIERS[:n], make(K), remedy) for n in SIZES}
            for measure, make in MEASURES.items()
        }
        by_level = {
            measure: {n: trial(folder, QUASI_IDENTIFIERS, make(n), remedy) for n in LEVELS}
            for measure, make in MEASURES.items()
        }
        panels = [
            panel(f"Time by quasi-identifiers, k = l = {K}", "quasi-identifiers", "processor seconds", by_number, 0),
            panel("Time by k and l", "k and l", "processor seconds", by_level, 0),
            panel("Discernibility", "k and l", "sum of squared class sizes, millions", by_level, 1),
            panel("Average class size", "k and l", "records", by_level, 2),
        ]
        picture = line_charts.drawing(
            panels, f"Five measures of privacy on Adult, {title}", "The figures are in the tables of this page."
        )
        yield remedy.name, f"### {title[0].upper()}{title[1:]}\n\n{_tables(panels)}", picture


def panel(title: str, across: str, up: str, trials: Mapping[str, Mapping[int, Trial | None]], figure: int) -> Any:
    """One chart; quality is drawn by powers of ten, since it spans several."""
    lines = {
        measure: [(n, one[figure]) for n, one in results.items() if one is not None]
        for measure, results in trials.items()
    }
    return line_charts.Panel(title, across, up, {name: line for name, line in lines.items() if line}, figure > 0)


def _tables(panels: Sequence[Any]) -> str:
    return "\n".join(_table(one) for one in panels)


def _table(panel: Any) -> str:
    columns = sorted({x for line in panel.lines.values() for x, _ in line})
    head = f"| {panel.title}: {panel.up} | {' | '.join(map(str, columns))} |\n|---{'|---:' * len(columns)}|\n"
    rows = []
    for name in MEASURES:
        values = dict(panel.lines.get(name, ()))
        cells = (_digits(values[x]) if x in values else "none" for x in columns)
        rows.append(f"| {name} | {' | '.join(cells)} |\n")
    return head + "".join(rows)


def _digits(figure: float) -> str:
    return f"{figure:.2f}" if figure < 100 else f"{figure:,.0f}"


def main() -> None:
    """Print the tables, or write them and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    parts = list(page(arguments.data / "adult"))
    text = "\n".join(tables for _, tables, _ in parts)
    print(text)
    if arguments.write:
        for name, _, picture in parts:
            (DOCS / "images" / f"li07-{name}.svg").write_text(picture, encoding="utf-8")
        PAGE.write_text(TABLES.sub(lambda _: text, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
