"""The built-in detectors: golden numbers, how often they take random values, and what they leave alone."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.detector import ValueDetector
from tcdp_audit_plugins.detectors.united_states import is_social_security_number

DETECTORS = Plugins.load(external=False).detectors
OF_VALUES = [one for one in DETECTORS.values() if isinstance(one, ValueDetector)]


def hits(name: str, text: str) -> bool:
    detector = DETECTORS[name]
    assert isinstance(detector, ValueDetector)
    return detector.is_hit(text)


@pytest.mark.parametrize(
    ("detector", "text", "is_one"),
    [
        ("payment_card", "4111111111111111", True),
        ("payment_card", "4111111111111112", False),
        ("iban", "GB82WEST12345698765432", True),
        ("iban", "GB82WEST12345698765433", False),
        ("nhs_number", "9434765870", True),
        ("us_provider_number", "1234567893", True),
        ("vehicle_number", "1M8GDM9AXKP042788", True),
        ("us_social_security_number", "078-05-1120", False),
        ("us_social_security_number", "219-09-9999", False),
    ],
)
def test_known_numbers(detector: str, text: str, is_one: bool):
    assert hits(detector, text) is is_one


def test_there_are_detectors_of_every_kind_that_values_can_give_away():
    letters = {one.safe_harbor for one in DETECTORS.values()}
    assert letters == set("ABCDEFGHIJKLMNOQR")  # not P: biometric data are no texts
    assert len(DETECTORS) > 70


@pytest.mark.parametrize(
    ("detector", "rate"),
    [
        ("north_american_telephone_number", 0.457),
        ("payment_card", 0.10),
        ("imei", 0.10),
        ("nhs_number", 0.091),
        ("vehicle_number", 0.031),
        ("us_provider_number", 0.020),
        ("iban", 0.010),
    ],
)
@pytest.mark.long
def test_base_rates_are_those_that_were_measured(detector: str, rate: float):
    one = DETECTORS[detector]
    assert isinstance(one, ValueDetector)
    generator, draws = np.random.default_rng(11), 30_000
    observed = sum(one.is_hit(one.random_value(generator)) for _ in range(draws)) / draws

    assert observed == pytest.approx(rate, abs=0.02 if rate > 0.2 else 0.006)
    assert observed <= one.base_rate + 4 * (one.base_rate / draws) ** 0.5


def test_nine_random_digits_are_mostly_possible_social_security_numbers():
    generator = np.random.default_rng(2)
    numbers = (f"{number:09d}" for number in generator.integers(0, 10**9, 20_000).tolist())
    assert sum(map(is_social_security_number, numbers)) / 20_000 == pytest.approx(0.89, abs=0.01)


@pytest.mark.long
@pytest.mark.parametrize("detector", OF_VALUES, ids=lambda one: one.name)
def test_no_detector_takes_more_random_values_than_it_says(detector: ValueDetector):
    generator, draws = np.random.default_rng(3), 10_000
    observed = sum(detector.is_hit(detector.random_value(generator)) for _ in range(draws)) / draws
    assert observed <= detector.base_rate + 4 * (detector.base_rate / draws) ** 0.5


STDNUM = {
    "payment_card": ("luhn", r"[2-6][0-9]{12}|[2-6][0-9]{15}"),
    "nhs_number": ("gb.nhs", r"[0-9]{10}"),
    "us_social_security_digits": ("us.ssn", r"[0-9]{9}"),
    "us_taxpayer_number": ("us.itin", r"[0-9]{3}-[7-9][0-9]-[0-9]{4}"),  # it does not know the groups from 50 yet
    "imei": ("imei", r"[0-9]{15}"),
}


@pytest.mark.parametrize("detector", sorted(STDNUM))
@given(st.data())
def test_checksums_agree_with_stdnum(detector: str, data: st.DataObject):
    module, form = STDNUM[detector]
    text = data.draw(st.from_regex(re.compile(form, re.ASCII), fullmatch=True))
    assert hits(detector, text) == import_module(f"stdnum.{module}").is_valid(text)


@given(st.text("0123456789ABCDEFGHJKLMNPRSTUVWXYZ", min_size=17, max_size=17), st.sampled_from("0123456789X"))
def test_the_check_digit_of_a_vehicle_is_that_of_stdnum(text: str, digit: str):
    number = text[:8] + digit + text[9:]
    weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2]
    letters = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ"  # a letter's place modulo 10: the published way to say it
    total = sum(weight * (letters.index(one) % 10) for weight, one in zip(weights, number, strict=True))
    assert hits("vehicle_number", number) == ("0123456789X"[total % 11] == digit)


@given(st.from_regex(r"GB[0-9]{2}[A-Z]{4}[0-9]{14}", fullmatch=True))
def test_ibans_agree_with_stdnum(text: str):
    rearranged = "".join(str(int(one, 36)) for one in text[4:] + text[:4])
    assert hits("iban", text) == (int(rearranged) % 97 == 1)
