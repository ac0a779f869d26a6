"""The figures of other tools and papers, and ours: the tables of docs/validation.md.

    python benchmarks/validation.py FOLDER            # prints them
    python benchmarks/validation.py FOLDER --write    # writes them into the page
    python benchmarks/validation.py FOLDER --figure "SUDA score"    # prints the rows whose figure contains the words

FOLDER holds the public data and the figures of the other tools. The tables of papers are in examples/papers.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from tcdp_audit import Outcome, audit

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "validation.md"
PAPERS = ROOT / "examples" / "papers"
TABLES = re.compile(r"(?<=<!-- tables -->\n).*(?=<!-- end of tables -->)", re.DOTALL)


class Row(NamedTuple):
    """A figure of another tool or a paper, and ours."""

    figure: str
    whose: str
    theirs: Any
    ours: Any


def page(folder: Path) -> str:
    """The tables of the page."""
    truth = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((folder / "truth").iterdir())}
    sections = {
        "Tables of papers": papers(),
        "Adult": adult(folder, truth),
        "Survey data with weights": surveys(folder, truth["individual_risk"]),
        "Census, masked": census(folder, truth["census_disclosure_and_linkage"]),
        "Linkage by agreement": linkage(folder, truth),
    }
    return "\n".join(_table(heading, rows) for heading, rows in sections.items())


def papers() -> Iterator[Row]:
    """The figures that the papers print, where they follow from their definitions."""
    li, torra = "Li and others 2007", "Torra 2020"
    victims = _outcome("li07_table2", "homogeneity").details["victims"]
    yield Row("victims of homogeneity, Bob among them", f"{li}, table 2", "3 of 9", f"{victims} of 9")
    known = _outcome("li07_table2", "background_knowledge").details["least_in_mixed_classes"]
    yield Row("facts that an intruder must know about Carl's class", f"{li}, table 2", 1, known)
    uniform = "its reference distribution is uniform"
    for table, salary in ((4, "3/8"), (5, "1/6")):
        whose = f"Li and others 2007, table {table}"
        result = _of_paper(f"li07_table{table}", "salary", "ordered")
        yield Row("t-closeness of salary, ordered distance", whose, salary, result)
    for table, disease in ((4, "0.5"), (5, "0.278 (5/18)")):
        whose = f"Li and others 2007, table {table}"
        result = _of_paper(f"li07_table{table}_uniform", "disease", "hierarchical")
        yield Row(f"t-closeness of disease, hierarchical distance; {uniform}", whose, disease, result)
    bob = {one.attribute: one for one in _outcomes("li07_table4_similarity")}
    salary = "share of Bob's class with a salary of 3,000 to 5,000"
    yield Row(salary, f"{li}, table 4", 1, bob["salary"].observed)
    yield Row("share of it with a disease of the stomach", f"{li}, table 4", 1, bob["disease"].observed)
    factor = _outcome("li07_skewness", "skewness").observed
    yield Row("skewness of 10,000 records, 50 % of a class instead of 1 %", f"{li}, section 3.2", "50 / 1", factor)
    whose = "Domingo-Ferrer, Soria-Comas 2015"
    figure = "t-closeness, multiplicative distance"
    yield Row(figure, f"{whose}, figure 2", "3/2", _of_paper("ds15_figure2", "bucket", "multiplicative"))
    yield Row(
        f"{figure}, three buckets",
        f"{whose}, figure 3 and table 1",
        2,
        _of_paper("ds15_table1", "bucket", "multiplicative"),
    )
    halves = _outcomes("ds15_table1")[-1].worst[-1].value
    yield Row(f"{figure}, two buckets that divide what a class emphasises", f"{whose}, figure 4", 1, halves)
    linked = _outcome("t20_masked", "distance_record_linkage").details["expected_correct"]
    yield Row(
        "people of the release linked by distance to the original", f"{torra}, six records", "2 of 5", f"{linked} of 5"
    )
    alone = _outcome("t20_enfield", "sample_uniqueness").details["victims"]
    yield Row("students of anthropology in Enfield who are alone", torra, 1, alone)
    mean = _outcome("t20_mean", "contributor_influence").observed
    figure = "mean income of eleven with Ms Rich, as a multiple of that without her"
    yield Row(figure, f"{torra}, eleven incomes", "12,090.91 / 3,300 = 3.663912", 1 + mean)
    others = _outcome("t20_release", "background_knowledge").details["least_in_mixed_classes"]
    yield Row("records that HYU must know to know the illness of CIO: his own", torra, 1, others)


def adult(folder: Path, truth: Mapping[str, Any]) -> Iterator[Row]:
    """Risks and estimates by ARX."""
    for roles in ("adult_A1", "adult_A2", "adult_all9"):
        theirs = truth["arx_risk_adult"][roles]
        release, columns = _table_of(folder / theirs["file"]), f"{len(theirs['qi'])} quasi-identifiers"
        unique = _measured(release, theirs["qi"], "sample_uniqueness").details["victims"]
        above = _measured(release, theirs["qi"], "reidentification_risk", measure="share_above", threshold_risk="0.2")
        yield Row(f"unique people, {columns}", "ARX", theirs["sample"]["sample_unique_n"], unique)
        share = f"share of records above risk 0.2, {columns}"
        yield Row(share, "ARX", _summary(theirs, "records_at_risk"), above.observed)
        yield Row(f"average risk, {columns}", "ARX", _summary(theirs, "success_rate"), above.details["average"])
    release, names = _table_of(folder / "adult/adult.csv"), truth["equivalence_class_checks"]["adult_A4"]["qi"]
    for fraction in ("0.01", "0.5"):
        theirs = truth["population_uniqueness_adult_A4"]["compare"][fraction]
        sampled = {"sampling_fraction": float(fraction)}
        actual = _measured(release, names, "population_uniqueness", sampled, estimator="zayatz").details
        columns = {"zayatz": "zayatz_population_uniques", "pitman": "pitman_population_uniques_asymptotic"}
        for model, ours in columns.items():
            figure = f"people unique in the population, by {model.title()}, if Adult is {float(fraction):.0%} of it"
            yield Row(figure, "ARX", theirs[f"arx_{model}_n"], actual[ours])


def surveys(folder: Path, truth: Mapping[str, Any]) -> Iterator[Row]:
    """Individual risks and special uniques by sdcMicro."""
    for name, file in (("francdat", "francdat"), ("free1_w", "free1")):
        theirs, release = truth[name], _table_of(folder / f"casc/{file}.csv")
        names, weight = theirs["keyVars"], theirs["weight"]
        risk = _measured(release.select([*names, weight]), names, "individual_risk", {"weight": weight}).details
        suda = _measured(release.select(names), names, "suda", max_size=len(names), dis_fraction=0.01).details
        scores = theirs["suda2"]["elliot"]
        yield Row(f"people expected to be re-identified, {file}", "sdcMicro", _of(theirs, "sum"), risk["expected"])
        yield Row(f"highest risk of a person, {file}", "sdcMicro", _of(theirs, "max"), risk["highest"])
        yield Row(f"records with a SUDA score, {file}", "sdcMicro", scores["n_score_gt0"], suda["records_singled_out"])
        yield Row(f"highest SUDA score, {file}", "sdcMicro", scores["max_score"], suda["highest_score"])


def census(folder: Path, truth: Mapping[str, Any]) -> Iterator[Row]:
    """Linkage and interval disclosure by two references independent of this project."""
    original = _table_of(folder / "casc/census.csv")
    for masked in ("addnoise_additive_20", "mdav_k5", "rankswap_P15"):
        release, theirs = _table_of(folder / f"casc/census_masked/{masked}.csv"), truth[masked]
        checks = [{"distance_record_linkage": {}}, {"sd_interval_disclosure": {"p": [20]}}]
        linked, interval = _aligned(release, original, checks, "numeric")
        expected = theirs["dbrl"]["std_each_by_itself"]["masked_to_original"]["expected_correct"]
        joint = theirs["sdid_joint_sd_original"]["0.2"]
        actual = linked.details["masked_to_original"]["expected_correct"]
        yield Row(f"people re-identified by distance, {masked}", "reference", expected, actual)
        figure = f"share with all values within 20 % of a standard deviation, {masked}"
        yield Row(figure, "reference", joint, interval.details["at"][0]["joint"])


def linkage(folder: Path, truth: Mapping[str, Any]) -> Iterator[Row]:
    """Adult under PRAM, and febrl4, by EM."""
    theirs = truth["adult_pram_probabilistic"]["adult_subset_pram_0.95"]["prl_em_own"]["correct_unique"]
    masked = _table_of(folder / "adult/masked/adult_subset_pram_0.95.csv")
    subset = _table_of(folder / "adult/adult_subset.csv")
    [actual] = _aligned(masked, subset, [{"probabilistic_record_linkage": {"unconstrained": True}}], "nominal")
    certain = "people re-identified for certain, Adult under PRAM"
    yield Row(certain, "reference", theirs, actual.details["correct_unique"])
    febrl = truth["febrl4_probabilistic"]
    [actual] = _febrl(folder, febrl["febrl4_full_7fields"]["fields"])
    first = actual.details["by_posterior"][0]
    exact = febrl["febrl4_full_7fields"]["posterior>=0.5"]
    yield Row("links of febrl4 at a probability of 0.5", "reference", exact["links"], first["links"])
    yield Row("right ones of these", "reference", exact["tp"], first["correct"])
    yield Row("right ones, u from a sample", "splink", febrl["splink_febrl4_exact7"]["tp"], first["correct"])
    blocked = febrl["febrl4_blocked_dob_or_surname_or_postcode"]
    [actual] = _febrl(folder, blocked["fields"], blocking=blocked["blocking"])
    first = actual.details["by_posterior"][0]
    figure = "links of febrl4 among pairs that share a birth date, a surname or a postcode"
    yield Row(figure, "recordlinkage", blocked["recordlinkage_ECM"]["links_posterior>=0.5"], first["links"])
    yield Row("right ones of these", "reference", blocked["posterior>=0.5"]["tp"], first["correct"])


def _outcomes(name: str) -> Sequence[Outcome]:
    return audit(None, PAPERS / f"{name}.tcdp.yaml").expectations


def _outcome(name: str, check: str) -> Outcome:
    return next(one for one in _outcomes(name) if one.check == check)


def _of_paper(name: str, attribute: str, distance: str) -> Any:
    outcomes = _outcomes(name)
    wanted = {"t_closeness", distance, attribute}
    described = ((one, {one.check, one.parameters.get("distance"), one.attribute}) for one in outcomes)
    return next(one.observed for one, actual in described if wanted <= actual)


def _summary(theirs: Mapping[str, Any], figure: str) -> Any:
    return theirs["summary_0.2"][figure]


def _of(theirs: Mapping[str, Any], figure: str) -> Any:
    return theirs["indivRisk_approx"][figure]


def _table_of(path: Path) -> pa.Table:
    return pa.csv.read_csv(path)


def _measured(
    release: pa.Table, names: Sequence[str], check: str, policy: Mapping[str, Any] | None = None, **parameters: Any
) -> Outcome:
    attributes: dict[str, Any] = {name: {"role": "insensitive", "scale": "numeric"} for name in release.column_names}
    attributes |= {name: {"role": "quasi_identifier", "scale": "nominal"} for name in names}
    document = {"version": 1, "attributes": attributes, "expect": [{check: parameters}], **(policy or {})}
    [outcome] = audit(release, document).expectations
    return outcome


def _aligned(release: pa.Table, original: pa.Table, expect: list[Any], scale: str) -> Sequence[Outcome]:
    attributes = {name: {"role": "quasi_identifier", "scale": scale} for name in release.column_names}
    policy = {"version": 1, "rows_aligned": True, "attributes": attributes, "expect": expect}
    return audit(release, policy, original).expectations


def _febrl(folder: Path, names: Sequence[str], **how: Any) -> Sequence[Outcome]:
    """febrl4, each record of the second file with the number of its partner in the first."""
    as_text = pa.csv.ConvertOptions(column_types={name: pa.string() for name in names}, strings_can_be_null=True)
    first, second = (pa.csv.read_csv(folder / f"febrl/dataset4{one}.csv", convert_options=as_text) for one in "ab")
    pairs = _table_of(folder / "febrl/dataset4_truth.csv")
    partners = pairs["rec_id_a"].take(pc.index_in(second["rec_id"], pairs["rec_id_b"]))
    release = second.select(names).append_column("person", partners)
    original = first.select(names).append_column("person", first["rec_id"])
    attributes = {name: {"role": "quasi_identifier", "scale": "nominal"} for name in names}
    policy = {"version": 1, "key": "person", "attributes": attributes}
    check = {"probabilistic_record_linkage": {"unconstrained": True, **how}}
    return audit(release, {**policy, "expect": [check]}, original).expectations


def _table(heading: str, rows: Iterator[Row]) -> str:
    lines = "".join(f"| {one.figure} | {one.whose} | {_digits(one.theirs)} | {_digits(one.ours)} |\n" for one in rows)
    return f"### {heading}\n\n| figure | by | theirs | ours |\n|---|---|---|---|\n{lines}"


def _digits(figure: Any) -> str:
    """A count unchanged, another number to seven digits, and a paper's figure as the paper prints it."""
    if isinstance(figure, str):
        return figure
    number = float(figure)
    return f"{number:,.0f}" if number.is_integer() else f"{number:.7g}"


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--figure", help="print the rows whose figure contains these words")
    arguments = parser.parse_args()
    text = page(arguments.folder)
    if arguments.figure is not None:
        rows = [line for line in text.splitlines() if arguments.figure in line.partition("|")[2].partition("|")[0]]
        if not rows:
            parser.error("no figure contains these words")
        print("\n".join(rows))
        return
    if not arguments.write:
        print(text)
        return
    PAGE.write_text(TABLES.sub(lambda _: text, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
