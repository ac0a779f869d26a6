"""Questions about populations, weights, minimal uniques and histories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from math import comb, factorial
from typing import Any

from vectors.make.asked import Asked, quasi, repeated
from vectors.make.tables import table
from vectors.reading import Vector, rows
from vectors.reference import risks
from vectors.reference.classes import companion, counted

SWEENEY = "Sweeney, Computational Disclosure Control, PhD thesis, MIT 2001"
NERGIZ = "Nergiz, Atzori, Clifton, SIGMOD 2007"
BENEDETTI = "Benedetti, Franconi, Statistical and technological solutions for controlled data dissemination, 1998"
ELLIOT = "Elliot, Manning, Ford, A computational algorithm for handling the special uniques problem, 2002"
HISTORIES = "Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008, with multiplicity"
MONTJOYE = "de Montjoye and others, Unique in the Crowd, Scientific Reports 3, 2013"
INSENSITIVE = {"role": "insensitive", "scale": "nominal"}

PAIRS = {  # released and population class sizes
    "one": ({"a": 2, "b": 1, "c": 1}, {"a": 5, "b": 3, "c": 1, "d": 4}),
    "two": ({"a": 3, "b": 2}, {"a": 4, "b": 20, "c": 1}),
    "three": ({"a": 5, "b": 4}, {"a": 10, "b": 4, "c": 6}),
    "four": ({"a": 1, "b": 1, "c": 2}, {"a": 11, "b": 10, "c": 20}),
    "five": ({"02139": 1, "2139": 2}, {"02139": 2, "2139": 9}),
    "six": ({"a": 1, "b": 1, "c": 1, "d": 3}, {"a": 1, "b": 7, "c": 1, "d": 3, "e": 1}),
    "seven": ({"a": 2, "b": 2}, {"a": 12, "b": 11}),
    "eight": ({"a": 1, "b": 3}, {"a": 3, "b": 3}),
}


def _population(name: str) -> dict[str, Any]:
    released, everyone = PAIRS[name]
    return {
        "name": f"population_{name}_release",
        "text": repeated(["ward"], *released.items()),
        "declared": {
            "attributes": quasi("ward"),
            "population": {"table": f"../tables/population_{name}_everyone.csv"},
        },
        "companions": {f"population_{name}_everyone": repeated(["ward"], *everyone.items())},
    }


def _smallest_of_all(vector: Vector) -> Fraction:
    return Fraction(min(Counter(row["ward"] for row in companion(vector, "population")).values()))


def _smallest_released(vector: Vector) -> Fraction:
    return Fraction(min(Counter(row["ward"] for row in counted(vector)).values()))


def _both(vector: Vector) -> Fraction:
    released = Counter(row["ward"] for row in counted(vector))
    everyone = Counter(row["ward"] for row in companion(vector, "population"))
    return Fraction(min(everyone[ward] + n for ward, n in released.items()))


def _as_number(vector: Vector) -> Fraction:
    everyone = Counter(int(row["ward"]) for row in companion(vector, "population"))
    return Fraction(min(everyone[int(row["ward"])] for row in counted(vector)))


def _released_mean(vector: Vector) -> Fraction:
    return Fraction(len(counted(vector)), len(companion(vector, "population")))


def _least_presence(vector: Vector) -> Fraction:
    released = Counter(row["ward"] for row in counted(vector))
    everyone = Counter(row["ward"] for row in companion(vector, "population"))
    return min(Fraction(released[ward], n) for ward, n in everyone.items())


def _over_all_uniques(vector: Vector) -> Fraction:
    everyone = Counter(row["ward"] for row in companion(vector, "population"))
    return Fraction(sum(n == 1 for n in everyone.values()), sum(everyone.values()))


def _over_records(vector: Vector) -> Fraction:
    everyone = Counter(row["ward"] for row in companion(vector, "population"))
    released = Counter(row["ward"] for row in counted(vector))
    return Fraction(sum(everyone[w] == 1 for w, n in released.items() if n == 1), len(counted(vector)))


def _chance_of_a_match(vector: Vector) -> Fraction:
    everyone = Counter(row["ward"] for row in companion(vector, "population"))
    alone = [w for w, n in Counter(row["ward"] for row in counted(vector)).items() if n == 1]
    return Fraction(len(alone), sum(everyone[w] for w in alone))


def populations() -> Iterator[Asked]:
    """k-map, presence, and uniqueness in a population."""
    mistakes = {
        "counts_the_release": ("counts the class in the release, not in the population", _smallest_released),
        "looks_at_unreleased_classes": ("looks at classes that were not released", _smallest_of_all),
        "adds_the_release": ("adds the released records to those of the population", _both),
    }
    for name, k in {"one": "2", "two": "2", "three": "5", "four": "11", "seven": "12", "eight": "3"}.items():
        for mistake, (sentence, wrong) in mistakes.items():
            if mistake != "looks_at_unreleased_classes" or name == "two":
                yield Asked("k_map", **_population(name), parameters={"k": k}, mistake=mistake, sentence=sentence,
                            wrong=wrong, source=SWEENEY)  # fmt: skip
    yield Asked("k_map", **_population("five"), parameters={"k": "3"}, mistake="reads_texts_as_numbers",
                sentence="reads texts that look like numbers as numbers", wrong=_as_number, source=SWEENEY)  # fmt: skip
    for name, limit in {
        "one": "1/2",
        "two": "3/4",
        "three": "1",
        "six": "9/10",
        "seven": "1/5",
        "eight": "1/3",
    }.items():
        for mistake, sentence, wrong in [
            ("divides_the_sizes", "answers with the sampling fraction", _released_mean),
            ("takes_the_least", "answers with the least share instead of the largest", _least_presence),
        ]:
            yield Asked("delta_presence", **_population(name), parameters={"delta_max": limit, "delta_min": "0"},
                        mistake=mistake, sentence=sentence, wrong=wrong, source=NERGIZ)  # fmt: skip
    for name in ("one", "four", "six", "eight"):
        for mistake, sentence, wrong in [
            (
                "divides_by_the_population",
                "answers with the share of unique people in the population",
                _over_all_uniques,
            ),
            ("divides_by_all_records", "divides by all records, not by those alone in the release", _over_records),
            ("answers_another_question", "answers with the chance that a match is right", _chance_of_a_match),
        ]:
            yield Asked("population_uniqueness", **_population(name), parameters={"at_most": "2/5"}, mistake=mistake,
                        sentence=sentence, wrong=wrong,
                        source="Torra, Privacy models and disclosure risk, 2020: P(PU given SU)")  # fmt: skip


def _sampled(sizes: Mapping[str, tuple[int, str]]) -> str:
    counts = [((ward, weight), n) for ward, (n, weight) in sizes.items()]
    return repeated(["ward", "weight"], *counts)


def _of_weights(vector: Vector) -> Fraction:
    table, total = counted(vector), Counter[str]()
    for row in table:
        total[row["ward"]] += int(row["weight"])
    return max(Fraction(1, n) for n in total.values())


def _of_sizes(vector: Vector) -> Fraction:
    return max(Fraction(1, n) for n in Counter(row["ward"] for row in counted(vector)).values())


def _large_formula(vector: Vector) -> Fraction:
    table, total, size = counted(vector), Counter[str](), Counter(row["ward"] for row in counted(vector))
    for row in table:
        total[row["ward"]] += int(row["weight"])
    risks_of = [Fraction(n, total[ward]) / (n - (1 - Fraction(n, total[ward]))) for ward, n in size.items()]
    return max(risks_of)


def surveys() -> Iterator[Asked]:
    """Individual risk with weights."""
    weight = {"attributes": quasi("ward", weight={"role": "insensitive", "scale": "numeric"}), "weight": "weight"}
    tables = {
        "alone": {"1": (1, "20"), "2": (4, "10"), "3": (3, "50")},
        "pair": {"1": (2, "10"), "2": (5, "8")},
        "many": {"1": (3, "4"), "2": (6, "5"), "3": (4, "25")},
        "whole": {"1": (3, "1"), "2": (5, "2")},
        "mixed": {"1": (1, "7"), "2": (2, "9"), "3": (3, "11")},
    }
    mistakes: dict[str, tuple[str, Any]] = {
        "takes_one_over_the_weights": ("answers with 1 over the sum of the weights", _of_weights),
        "takes_one_over_the_size": ("answers with 1 over the size in the sample", _of_sizes),
        "takes_the_formula_of_large_classes": (
            "takes p / (f - (1 - p)) for classes of one and two as well",
            _large_formula,
        ),
    }
    for name, sizes in tables.items():
        for mistake, (sentence, wrong) in mistakes.items():
            asked = Asked("individual_risk", f"weights_{name}", _sampled(sizes), weight, {"measure": "highest"},
                          mistake, sentence, wrong, BENEDETTI)  # fmt: skip
            if (name, mistake) not in {("many", "takes_the_formula_of_large_classes"),
                                       ("whole", "takes_the_formula_of_large_classes"),
                                       ("whole", "takes_one_over_the_weights"),
                                       ("whole", "takes_one_over_the_size")}:  # fmt: skip
                yield asked
    for name in ("many", "whole", "alone"):
        yield Asked("individual_risk", f"weights_{name}", _sampled(tables[name]), weight, {"measure": "expected"},
                    "takes_the_highest", "answers with the highest risk instead of the sum of all",
                    {"parameters": {"measure": "highest"}}, BENEDETTI)  # fmt: skip
        yield Asked("individual_risk", f"weights_{name}", _sampled(tables[name]), weight, {"measure": "average"},
                    "does_not_divide", "answers with the sum of the risks instead of their mean",
                    {"parameters": {"measure": "expected"}}, BENEDETTI)  # fmt: skip


def _all_attributes(vector: Vector) -> Fraction:
    keys = Counter(tuple(row.values()) for row in rows(vector.path))
    return Fraction(sum(n == 1 for n in keys.values()), len(rows(vector.path)))


def _not_minimal(vector: Vector) -> Fraction:
    table, names = rows(vector.path), list(rows(vector.path)[0])
    scores = [0] * len(table)
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            keys = [tuple(row[name] for name in chosen) for row in table]
            for i, key in enumerate(keys):
                scores[i] += factorial(len(names) - size) * (keys.count(key) == 1)
    return Fraction(max(scores))


def minimal_uniques() -> Iterator[Asked]:
    """SUDA: what singles a record out, and nothing less does."""
    names = ["sex", "age", "town"]
    tables = {
        "one": ["m 30 a", "m 30 a", "f 30 a", "f 40 a", "f 40 b", "m 40 b"],
        "two": ["m 30 a", "m 30 b", "f 30 a", "f 30 b", "m 40 a", "f 40 a"],
        "three": ["m 30 a", "m 30 a", "f 40 b", "f 40 b", "f 50 b"],
        "four": ["m 30 a", "m 40 b", "f 30 b", "f 40 a", "m 30 a", "f 40 a", "m 40 c"],
    }
    for name, lines in tables.items():
        text = table(names, [line.split() for line in lines])
        more: dict[str, Any] = {
            "name": f"uniques_{name}",
            "text": text,
            "declared": {"attributes": quasi(*names)},
            "source": ELLIOT,
        }
        for size in ("1", "2"):
            asked = Asked("suda", **more, parameters={"max_size": size, "at_most": "1/5"}, mistake="knows_every_column",
                          sentence="counts records that are unique by all attributes together",
                          wrong=_all_attributes)  # fmt: skip
            yield asked
        yield Asked("suda_score", **more, parameters={}, mistake="counts_sets_that_are_not_minimal",
                    sentence="counts every set that singles out a record, not the minimal ones alone",
                    wrong=_not_minimal)  # fmt: skip


T1 = ["p jan a", "p feb b", "q jan a", "q feb b", "r jan a", "r feb b", "r feb b", "s jan a", "s mar a", "t jan a",
      "t mar a", "u feb b", "u mar a"]  # fmt: skip
REPEATS = ["p x", "p x", "q x", "r x", "r y", "s x", "s y"]
LONELY = ["p x", "q x", "r x", "r x", "r x"]
TOWNS = ["p a", "p b", "p b", "q a", "q b", "r a", "r c", "s a", "s b", "t c", "t b", "t a", "t d"]
SPREAD = ["p a", "p b", "p c", "q a", "q b", "r b", "r c", "s a", "s c", "t a", "t b", "t c"]


def histories() -> Iterator[Asked]:
    """People with several rows that anyone who holds the file can join."""
    tables: dict[str, tuple[list[str], list[str]]] = {
        "six_patients": (["month", "ward"], T1),
        "repeats": (["place"], REPEATS),
        "lonely": (["place"], LONELY),
        "spread": (["place"], SPREAD),
        "towns": (["place"], TOWNS),
    }
    for name, (columns, lines) in tables.items():
        text = table(["person", *columns], [line.split() for line in lines])
        distinct = table(["person", *columns], [line.split() for line in dict.fromkeys(lines)])
        declared = {"attributes": {"person": INSENSITIVE, **quasi(*columns)}, "unit": "person"}
        more: dict[str, Any] = {"name": f"histories_{name}", "text": text, "declared": declared}
        yield Asked("k_anonymity", **more, parameters={"k": "2"}, mistake="judges_single_rows",
                    sentence="judges each row by itself, although anyone can join the rows of a person",
                    wrong=_single_rows, source="Google Cloud DLP, KAnonymityConfig.entity_id; Nergiz, Clifton, Nergiz, "
                    "TKDE 21(8), 2009")  # fmt: skip
        for m in ("1", "2", "3"):
            if name in {"repeats", "lonely"} and m != "1":
                yield Asked("known_events", **more, parameters={"m": m, "k": "2"}, mistake="forgets_repeats",
                            sentence="takes two equal events of a person for one", wrong={"text": distinct},
                            source=HISTORIES)  # fmt: skip
            elif name not in {"repeats", "lonely"}:
                yield Asked("known_events", **more, parameters={"m": m, "k": "2"}, mistake="needs_the_whole_history",
                            sentence="compares whole histories, not the events that are known",
                            wrong=risks.whole_histories, source=HISTORIES)  # fmt: skip
        for p in ("1", "2", "3"):
            yield Asked("unicity", **more, parameters={"points": p, "at_most": "1/4"}, mistake="asks_for_every_choice",
                        sentence="counts people whom some choice of events singles out, not the share of choices",
                        wrong=_any_choice, source=MONTJOYE)  # fmt: skip
            if p != "1":
                yield Asked("unicity", **more, parameters={"points": p, "at_most": "1/4"}, mistake="leaves_out_people",
                            sentence="leaves out people with fewer events than are drawn", wrong=_leaves_out_short,
                            source=MONTJOYE)  # fmt: skip


def _leaves_out_short(vector: Vector) -> Fraction:
    own, p = risks.histories(vector), int(vector.parameters["points"])
    long = {who: history for who, history in own.items() if history.total() >= p}
    shares = [
        Fraction(
            sum(risks.support(Counter(known), own) == 1 for known in combinations(sorted(h.elements()), p)),
            comb(h.total(), p),
        )
        for h in long.values()
    ]
    return sum(shares, Fraction(0)) / len(shares) if shares else Fraction(0)


def _single_rows(vector: Vector) -> Fraction:
    names = [name for name in rows(vector.path)[0] if name != "person"]
    people: dict[tuple[str, ...], set[str]] = {}
    for row in rows(vector.path):
        people.setdefault(tuple(row[name] for name in names), set()).add(row["person"])
    return Fraction(min(map(len, people.values())))


def _any_choice(vector: Vector) -> Fraction:
    own = risks.histories(vector)
    p = int(vector.parameters["points"])
    alone = [
        any(risks.support(Counter(known), own) == 1 for known in combinations(sorted(h.elements()), min(p, h.total())))
        for h in own.values()
    ]
    return Fraction(sum(alone), len(alone))
