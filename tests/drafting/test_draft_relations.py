"""Relations between columns: outcome where they hold in every record, and not by chance."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from test_draft_hierarchies import facts, hierarchy

from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.drafting import draft_policy
from tcdp_audit.drafting.abbreviations import expanded
from tcdp_audit.drafting.code_lists import list_of
from tcdp_audit.drafting.relations import families, role_of_block
from tcdp_audit.drafting.vocabulary import topic_of

PLUGINS = Plugins.load(external=False)
RNG = np.random.default_rng(4)
AGE, RACE = RNG.integers(18, 80, 600), RNG.choice(["a", "b", "c", "d"], 600)
TABLE = {
    "age": AGE,
    "xa": AGE**2,
    "xb": AGE // 10,
    "race": RACE,
    "xc": (RACE == "a").astype(int),
    "xd": RNG.integers(0, 2, 600),
    "wage": RNG.normal(10, 2, 600),
}


def drafted(columns: dict[str, object]) -> dict[str, tuple[Role | None, str]]:
    draft = draft_policy(pa.table(columns), plugins=PLUGINS)
    return {one.name: (one.role, one.note) for one in draft.columns}


def test_a_square_a_band_and_a_mark_have_the_role_of_their_source():
    outcome = drafted(TABLE)

    assert outcome["xa"][0] is outcome["xb"][0] is outcome["xc"][0] is Role.QUASI_IDENTIFIER
    assert "goes with one of 'age', and says the same" in outcome["xa"][1]
    assert "Each value of 'age' has one of its values" in outcome["xb"][1]
    assert "Each value of 'race' has one of its values" in outcome["xc"][1]
    assert "has one of its values" not in outcome["xd"][1]


def test_one_record_that_contradicts_is_enough():
    band = np.array(TABLE["xb"]).copy()
    band[np.flatnonzero(AGE == 40)[0]] = 7

    assert "Each value of 'age'" not in drafted({**TABLE, "xb": band})["xb"][1]


def test_marks_of_which_exactly_one_is_set_are_one_category():
    kind = RNG.integers(0, 3, 600)
    marks = {"black": (kind == 0).astype(int), "xe": (kind == 1).astype(int), "xf": (kind == 2).astype(int)}
    outcome = drafted({"wage": TABLE["wage"], **marks})

    assert outcome["xe"][0] is outcome["xf"][0] is Role.QUASI_IDENTIFIER
    assert "together they are one category" in outcome["xe"][1]


def test_answers_of_a_scale_are_sensitive():
    answers = {f"x{one}": RNG.integers(1, 6, 600) for one in "abc"}

    assert {role for role, _ in drafted(answers).values()} == {Role.SENSITIVE}


def test_a_block_decides_for_what_is_secret_sooner_than_for_what_is_known():
    roles = dict.fromkeys("abc", Role.SENSITIVE) | {"e": Role.QUASI_IDENTIFIER}

    assert role_of_block("d", [*"abcd"], roles.get) == (Role.SENSITIVE, "c")
    assert role_of_block("d", [*"ced"], roles.get) is None
    known = dict.fromkeys("abce", Role.QUASI_IDENTIFIER)
    assert role_of_block("d", [*"abcd"], known.get) is None
    assert role_of_block("d", [*"abcde"], known.get) == (Role.QUASI_IDENTIFIER, "c")


def test_a_family_differs_in_numbers_only():
    assert families(["q1", "q2", "a", "q10"]) == {name: ["q1", "q2", "q10"] for name in ("q1", "q2", "q10")}
    assert families(["q1", "q2", "r1"]) == {}


@pytest.mark.parametrize(
    ("name", "key"),
    [("husage", "age"), ("lwage76", "money"), ("eduyrs", "education"), ("fathcoll", "education"), ("agef", "age")],
)
def test_abbreviations_are_written_out(name: str, key: str):
    topic = topic_of(name)

    assert topic is not None
    assert topic.key == key


def test_a_name_that_is_not_all_known_pieces_stays_whole():
    assert expanded(["zzage"], frozenset({"age"})) == ["zzage"]


def test_values_on_a_known_list_are_places():
    pytest.importorskip("pycountry")

    assert list_of(facts("x", ["Germany", "France", "Peru"])) == "all of its values are names of countries"
    assert list_of(facts("x", ["Bayern", "Hessen", "Berlin"])) == "all of its values are names of parts of Germany"
    assert list_of(facts("x", ["red", "green", "blue"])) == ""
    assert list_of(facts("x", ["AB", "CD", "EF"])) == ""


@pytest.mark.parametrize("others", [["90+"], ["unknown"], ["34.5", "0.42"], ["999", "-1"]])
def test_ages_with_a_few_other_values_have_a_hierarchy(others: list[str]):
    levels = hierarchy("age", [str(one) for one in range(20, 60)] * 3 + others)

    assert levels is not None
    assert {*others} <= {path[0] for path in levels.paths}
    assert hierarchy("age", [*(str(one) for one in range(20, 60)), "Bob"]) is None
    assert hierarchy("age", ["30", *["unknown"] * 9]) is None


def test_neighbours_that_begin_alike_and_have_the_same_answers_are_questions_of_one_list():
    answers = {f"qx{one}": RNG.integers(1, 4, 600) for one in ("space", "race", "town", "arms")}
    outcome = drafted({"age": AGE, **answers})

    assert {outcome[one][0] for one in answers} == {Role.SENSITIVE}
    assert "'qxspace' to 'qxarms' begin alike and have the same answers" in outcome["qxtown"][1]


def test_three_columns_words_one_category_and_numbers_alone_are_no_list_of_questions():
    kind = RNG.integers(0, 5, 600)
    category = {f"qx{one}": (kind == place).astype(int) for place, one in enumerate(("bus", "tra", "per", "ent"))}
    numbered = {f"qx{one}": RNG.integers(0, 2, 600) for one in range(1, 6)}
    of_a_husband = {f"hus{one}": RNG.integers(0, 2, 600) for one in ("xa", "xb", "xc", "xd")}
    three = {f"qx{one}": RNG.integers(0, 2, 600) for one in ("space", "race", "town")}

    for columns in (category, numbered, of_a_husband, three):
        assert not any("questions of one list" in note for _, note in drafted({"age": AGE, **columns}).values())


def test_a_number_that_occurs_once_in_each_of_several_periods_is_that_of_a_person():
    panel = {"nr": np.repeat(np.arange(13, 213) * 7, 3), "year": np.tile([1980, 1981, 1982], 200)}

    role, note = drafted({**panel, "wage": TABLE["wage"]})["nr"]
    assert role is Role.IDENTIFIER
    assert "occurs in several periods of 'year', and never twice in one" in note
    twice = {**panel, "year": np.array([1980, 1980, *panel["year"][2:]])}
    assert "never twice in one" not in drafted({**twice, "wage": TABLE["wage"]})["nr"][1]


def test_what_may_be_a_figure_of_a_place_is_left_to_a_person():
    place = np.repeat(np.arange(30), 20)
    figure = RNG.normal(30_000, 4_000, 30)[place]

    role, note = drafted({"school_id": place, "median_income": figure, "age": AGE})["median_income"]
    assert role is None
    assert "Each value of 'school_id' has one of its values: a figure of the place, or a secret" in note
    figure = figure.copy()
    figure[0] += 1
    assert drafted({"school_id": place, "median_income": figure, "age": AGE})["median_income"][0] is Role.SENSITIVE


def test_numbers_of_many_persons_are_no_category_of_a_family():
    family = RNG.permutation(np.repeat(np.arange(300), 2))

    assert drafted({"family": family, "age": AGE})["family"][0] is Role.IDENTIFIER
    assert drafted({"family": family % 8, "age": AGE})["family"][0] is Role.QUASI_IDENTIFIER
