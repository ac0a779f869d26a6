"""Words of columns' names, in several languages."""

from __future__ import annotations

import pytest

from tcdp_audit.drafting.vocabulary import PHRASES, TOPICS, topic_of, words_of


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("dateOfBirth", "date"),
        ("Geburtsdatum", "date"),
        ("fecha_nacimiento", "date"),
        ("Année de naissance", "date"),
        ("age_group", "age"),
        ("LEEFTIJD", "age"),
        ("zip5", "place"),
        ("Postleitzahl", "place"),
        ("código postal", "place"),
        ("country_of_birth", "origin"),
        ("nacionalidade", "origin"),
        ("Beruf", "work"),
        ("Familienstand", "family"),
        ("nombre_d_enfants", "family"),
        ("HIVStatus", "health"),
        ("diagnosi", "health"),
        ("annual-income", "money"),
        ("Bruttoeinkommen", "money"),
        ("religion", "religion"),
        ("party_affiliation", "politics"),
        ("sexual_orientation", "sexuality"),
        ("prior conviction", "crime"),
        ("Nachname", "person"),
        ("e-mail", "person"),
        ("patientId", "key"),
        ("childid", "key"),
        ("tethnicity", "origin"),
        ("meduc", "education"),
        ("reg16", "place"),
        ("Hospitalised", "health"),
        ("hsgpa", "judgement"),
        ("gdhlth", "health"),
        ("agefirstbirth", "date"),
        ("time_to_event", "duration"),
        ("fear_races", "opinion"),
    ],
)
def test_a_name_speaks_of_its_topic(name: str, key: str):
    topic = topic_of(name)

    assert topic is not None
    assert topic.key == key


@pytest.mark.parametrize(
    "name",
    ["x1", "candidate", "status", "", "42", "_", "update", "syntax", "passage", "farmyard", "page", "trace", "spain"],
)
def test_other_names_speak_of_nothing(name: str):
    assert topic_of(name) is None


def test_the_last_word_decides_and_of_those_that_end_there_the_longest():
    assert [
        topic.key if (topic := topic_of(name)) else None for name in ("state_tax", "health_region", "birth_place")
    ] == [
        "money",
        "place",
        "origin",
    ]


def test_words_are_detected_where_case_and_signs_part_them():
    assert words_of("XMLHttpDate2of_Straße") == ["xml", "http", "date", "of", "strasse"]


def test_every_entry_is_detected_in_itself_and_written_as_one_word():
    for phrase, _ in PHRASES:
        if phrase.text.startswith("="):
            assert phrase.end([phrase.text[1:]]) == 1
            assert phrase.end(["x", phrase.text[1:]]) is None
            continue
        words = [one.replace("*", "") or "x" for one in phrase.text.replace("[cs]", "c").split()]
        assert phrase.end(words) == len(words), phrase
        assert phrase.end(["".join(words)]) == 1, phrase


def test_topics_are_those_of_three_roles():
    assert {one.role.value for one in TOPICS} == {"identifier", "quasi_identifier", "sensitive"}
    assert len({one.key for one in TOPICS}) == len(TOPICS)
