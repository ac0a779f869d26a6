"""What Domingo-Ferrer and Soria-Comas (2015), section 8, leave for later: utility under both distances, and by method.

    python benchmarks/ds15_comparison.py DATA            # prints the tables
    python benchmarks/ds15_comparison.py DATA --write    # writes them, and the picture, into docs/ds15-comparison.md

DATA is the folder that has adult/ and casc/. Adult has age as the confidential attribute and sex, race and education as
quasi-identifiers; Census has FICA, and AGI, EMCONTRB and TAXINC. The loss is the certainty penalty of the
quasi-identifiers, and IL1s of the confidential attribute.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import isfinite, log, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import line_charts
import numpy as np
import pyarrow as pa
import pyarrow.csv

from tcdp_audit import Audit, fix
from tcdp_audit.core.session.registry import Plugins

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "ds15-comparison.md"
TABLES = re.compile(r"(?<=<!-- tables -->\n).*(?=<!-- end of tables -->)", re.DOTALL)
PLUGINS = Plugins.load(external=False)
K = 5
BUCKETS = 4
MULTIPLICATIVE = ("1.25", "1.5", "2", "3", "5", "8")
ORDERED = tuple(f"{hundredths / 100:g}" for hundredths in (*range(1, 11), *range(12, 31, 2), 35, 40))
K_OF_METHODS = 10
T_OF_METHODS = ("1.5", "2", "3", "5")


class Source(NamedTuple):
    """A table with its quasi-identifiers, and a confidential attribute with public bounds."""

    name: str
    table: pa.Table
    attributes: Mapping[str, Any]
    confidential: str
    bounds: tuple[int, int]


class Released(NamedTuple):
    """What a release keeps and what it lost."""

    multiplicative: float
    ordered: float
    loss: float


def sources(folder: Path) -> Iterator[Source]:
    """Adult and Census."""
    names, hierarchies = ("sex", "race", "education"), folder / "adult" / "hierarchies"
    attributes: dict[str, Any] = {
        name: {"role": "quasi_identifier", "scale": "nominal", "hierarchy": str(hierarchies / f"{name}.csv")}
        for name in names
    }
    table = pyarrow.csv.read_csv(folder / "adult" / "adult.csv").select([*names, "age"])
    yield Source("Adult", table, attributes, "age", (17, 90))
    names = ("AGI", "EMCONTRB", "TAXINC")
    attributes = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in names}
    table = pyarrow.csv.read_csv(folder / "casc" / "census.csv").select([*names, "FICA"])
    yield Source("Census", table, attributes, "FICA", (0, 8_000))


def buckets(values: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """The bucket of each value: equal masses of consecutive values, none of them divided."""
    _, inverse, weights = np.unique(values, return_inverse=True, return_counts=True)
    before = np.cumsum(weights) - weights
    return np.asarray(((2 * before + weights) * count // (2 * len(values)))[inverse])


def bucketed(source: Source, count: int) -> tuple[pa.Table, dict[str, Any]]:
    """The table with buckets in place of the confidential attribute, and the attributes of a policy."""
    values = source.table[source.confidential].to_numpy()
    labels = [f"b{one}" for one in buckets(values, count)]
    place = source.table.column_names.index(source.confidential)
    table = source.table.set_column(place, source.confidential, pa.array(labels))
    order = [f"b{one}" for one in range(count)]
    return table, {**source.attributes, source.confidential: {"role": "sensitive", "scale": "ordinal", "order": order}}


def policy(attributes: Mapping[str, Any], *expect: Mapping[str, Any], remedy: Sequence[Any] = ()) -> dict[str, Any]:
    """A policy with the demands."""
    document = {"version": 1, "attributes": dict(attributes), "expect": list(expect)}
    return {**document, "remedy": list(remedy)} if remedy else document


def close(distance: str, t: str) -> dict[str, Any]:
    """A demand on closeness."""
    return {"t_closeness": {"distance": distance, "t": t}}


def partitioned(table: pa.Table, attributes: Mapping[str, Any], *expect: Mapping[str, Any]) -> Released:
    """A table after Mondrian: both distances of its audit, and what the quasi-identifiers lost."""
    measured = [{"t_closeness": {"distance": one}} for one in ("multiplicative", "ordered")]
    done = fix(table, policy(attributes, *expect, *measured, remedy=[{"mondrian": {}}]), plugins=PLUGINS)
    if not done.passed:
        raise SystemExit(f"{expect} is not kept: {done.log.reason}")
    multiplicative, ordered = (float(one.observed) for one in done.after.expectations[-2:])
    return Released(multiplicative, ordered, float(done.log.loss["certainty_penalty"]["after"]))


def distances(source: Source) -> dict[str, dict[str, Released]]:
    """Releases under each distance, by t."""
    table, attributes = bucketed(source, BUCKETS)
    size = {"k_anonymity": {"k": K}}
    thresholds = {"multiplicative": MULTIPLICATIVE, "ordered": ORDERED}
    return {
        distance: {t: partitioned(table, attributes, size, close(distance, t)) for t in levels}
        for distance, levels in thresholds.items()
    }


def side_by_side(name: str, releases: Mapping[str, Mapping[str, Released]]) -> Iterator[str]:
    """For each release under the multiplicative distance, the cheapest one under EMD that protects as much."""
    for t, one in releases["multiplicative"].items():
        others = releases["ordered"].items()
        cells = [name, t, f"{one.multiplicative:.3f}", f"{one.ordered:.4f}", f"{100 * one.loss:.1f} %"]
        for protects in (
            [(other, under) for under, other in others if other.ordered <= one.ordered],
            [(other, under) for under, other in others if other.multiplicative <= one.multiplicative],
        ):
            if not protects:
                cells += ["none tried", ""]
                continue
            best, under = min(protects, key=lambda pair: pair[0].loss)
            cells += [f"{under}: {_factor(best.multiplicative)}, {best.ordered:.4f}", f"{100 * best.loss:.1f} %"]
        yield f"| {' | '.join(cells)} |"


def _factor(value: float) -> str:
    return f"{value:.3f}" if isfinite(value) else "∞"


def methods(source: Source) -> Iterator[str]:
    """Bucketization, noise and Mondrian at equal t: losses of quasi-identifiers and of the confidential attribute."""
    for t in T_OF_METHODS:
        count = int(Fraction(t)) + 1
        rows = {
            "bucketization": by_bucketization(source, t),
            f"Mondrian over {count} buckets": by_mondrian(source, t, count),
            "Laplace noise, Mondrian for k": by_noise(source, t),
        }
        for method, (protected, loss, confidential) in rows.items():
            cells = (source.name, t, method, protected, f"{100 * loss:.1f} %", f"{confidential:.3f}")
            yield f"| {' | '.join(cells)} |"


def by_bucketization(source: Source, t: str) -> tuple[str, float, float]:
    """Classes with records of every bucket."""
    attributes = {**source.attributes, source.confidential: {"role": "sensitive", "scale": "numeric"}}
    remedy = {"bucketization": {"attribute": source.confidential, "t": t, "k": K_OF_METHODS}}
    expect = {"k_anonymity": {"k": K_OF_METHODS}}, close("multiplicative", t)
    done = fix(source.table, policy(attributes, *expect, remedy=[remedy]), plugins=PLUGINS)
    if not done.passed:
        raise SystemExit(f"bucketization: {done.log.reason}")
    loss = done.log.loss
    observed = float(done.after.expectations[-1].observed)
    confidential = loss["attributes"][source.confidential]["il1s"]
    return f"{observed:.3f}", float(loss["certainty_penalty"]["after"]), float(confidential)


def by_mondrian(source: Source, t: str, count: int) -> tuple[str, float, float]:
    """Buckets first, then classes of quasi-identifiers that are near each other."""
    table, attributes = bucketed(source, count)
    released = partitioned(table, attributes, {"k_anonymity": {"k": K_OF_METHODS}}, close("multiplicative", t))
    values = source.table[source.confidential].to_numpy().astype(float)
    numbers = buckets(values, count)
    middles = np.array([(values[numbers == one].min() + values[numbers == one].max()) / 2 for one in range(count)])
    lost = np.abs(values - middles[numbers]).mean() / (sqrt(2) * values.std(ddof=1))
    return f"{released.multiplicative:.3f}", released.loss, float(lost)


def by_noise(source: Source, t: str) -> tuple[str, float, float]:
    """Classes of k, and noise of the epsilon that makes them t-close by proposition 1."""
    table, size = source.table, {"k_anonymity": {"k": K_OF_METHODS}}
    attributes = {**source.attributes, source.confidential: {"role": "sensitive", "scale": "numeric"}}
    share = Fraction(K_OF_METHODS, table.num_rows)  # of the smallest class that is allowed
    epsilon = Fraction(int(1e6 * log((Fraction(t) - share) / (1 - share))), 10**6)  # rounded down: more noise
    bounds = list(source.bounds)
    noise = {"attribute": source.confidential, "mechanism": "laplace", "epsilon": str(epsilon), "bounds": bounds}
    demand = {"t_from_epsilon": {"epsilon": str(epsilon), "at_most": t}}
    done = fix(table, policy(attributes, size, demand, remedy=[{"noise": noise}, {"mondrian": {}}]), plugins=PLUGINS)
    if not done.passed:
        raise SystemExit(f"noise: {done.log.reason}")
    bound = float(_outcome(done.after, "t_from_epsilon"))
    loss = done.log.loss
    confidential = loss["attributes"][source.confidential]["il1s"]
    return f"ε = {float(epsilon):.3f}, {bound:.3f}", float(loss["certainty_penalty"]["after"]), float(confidential)


def _outcome(result: Audit, check: str) -> Any:
    return next(one.observed for one in result.expectations if one.check == check)


def picture(releases: Mapping[str, Mapping[str, Mapping[str, Released]]]) -> str:
    """Loss by what a release keeps, under each distance."""
    titles = {"multiplicative": "multiplicative distance demanded", "ordered": "EMD demanded"}
    panels = []
    for name, by_distance in releases.items():
        for figure, across in enumerate(("largest multiplicative distance of a class", "largest EMD of a class")):
            lines = {
                titles[distance]: sorted(
                    {(one[figure], 100 * one.loss) for one in by_t.values() if isfinite(one[figure])}
                )
                for distance, by_t in by_distance.items()
            }
            lines = {title: line for title, line in lines.items() if line}
            panels.append(
                line_charts.Panel(f"{name} by {('the factor', 'EMD')[figure]}", across, "certainty penalty, %", lines)
            )
    return line_charts.drawing(
        panels,
        "Loss of Adult and Census under the multiplicative distance and under EMD",
        "Where a line is lower, the same protection costs less. The figures are in the tables of this page.",
    )


def main() -> None:
    """Print the tables, or write them and the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    tables = {source.name: source for source in sources(arguments.data)}
    releases = {name: distances(source) for name, source in tables.items()}
    head = "| table | factor t demanded | factor | EMD | loss | EMD demanded, at most the same EMD | loss "
    head += "| EMD demanded, at most the same factor | loss |\n|---" + "|---:" * 8 + "|\n"
    both = [row for name, by_distance in releases.items() for row in side_by_side(name, by_distance)]
    second = "| table | t | method | kept | loss of quasi-identifiers | IL1s of the confidential attribute |\n"
    second += "|---|---:|---|---:|---:|---:|\n"
    rows = [row for source in tables.values() for row in methods(source)]
    text = (
        "### Both distances\n\n"
        + head
        + "\n".join(both)
        + "\n\n### Three methods\n\n"
        + second
        + "\n".join(rows)
        + "\n"
    )
    print(text)
    if arguments.write:
        (DOCS / "images" / "ds15-comparison.svg").write_text(picture(releases), encoding="utf-8")
        PAGE.write_text(TABLES.sub(lambda _: text, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
