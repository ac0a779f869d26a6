"""Numbers of the United States: social security, individual taxpayers, health providers."""

from __future__ import annotations

import re

from tcdp_audit.plugin.detector import Detector, ValueDetector
from tcdp_audit_plugins.detectors._shared import DIGITS, characters, formed, luhn, phrases

SOCIAL_SECURITY = phrases("ssn, social security, social security number, soc sec, soc sec id, socsec")
ADVERTISED = {"078051120", "219099999"}  # printed on sample cards, and issued to nobody since
ITIN_GROUPS = {*range(50, 66), *range(70, 89), *range(90, 93), *range(94, 100)}


def is_social_security_number(text: str) -> bool:
    """Whether nine digits may have been issued: no 000, 666 or 9xx; no 00; no 0000; none from an advertisement."""
    digits = text.replace("-", "")
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    never = area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000"
    return not never and digits not in ADVERTISED


def is_taxpayer_number(text: str) -> bool:
    """Whether nine digits that begin with 9 have a group that individual taxpayers are given."""
    return int(re.sub("-", "", text)[3:5]) in ITIN_GROUPS


def is_provider_number(text: str) -> bool:
    """Whether ten digits have the check digit of a national provider identifier: Luhn, with 80840 before it."""
    return luhn("80840" + text)


DETECTORS: tuple[Detector, ...] = (
    ValueDetector(
        name="us_social_security_number",
        noun="US social security number",
        words=SOCIAL_SECURITY,
        layout=r"\d{3}-\d{2}-\d{4}",
        accepts=is_social_security_number,
        base_rate=0.01,
        random_value=characters(DIGITS + "-", 11),
        safe_harbor="G",
        source="20 CFR 422.103; Social Security Administration, randomization of 25 June 2011",
        examples=("536-90-4399",),
        counterexamples=("000-90-4399", "666-90-4399", "536-00-4399", "536-90-0000", "078-05-1120", "219-09-9999"),
    ),
    ValueDetector(
        name="us_social_security_digits",
        noun="US social security number without hyphens",
        nouns="US social security numbers without hyphens",
        words=SOCIAL_SECURITY,
        layout=r"\d{9}",
        accepts=is_social_security_number,
        base_rate=0.15,
        random_value=characters(DIGITS, 5, 12),
        safe_harbor="G",
        needs_name=True,  # of nine random digits, 89 in a hundred could be one
        source="20 CFR 422.103",
        examples=("536904399",),
        counterexamples=("000904399", "53690439"),
    ),
    ValueDetector(
        name="us_taxpayer_number",
        noun="US individual taxpayer identification number",
        words=phrases("itin, tin, taxpayer, taxpayer id, tax id, tax number"),
        layout=r"9\d{2}-\d{2}-\d{4}",
        accepts=is_taxpayer_number,
        base_rate=0.01,
        random_value=characters(DIGITS + "-", 11),
        safe_harbor="G",
        source="IRS Publication 1915",
        examples=("912-90-3456",),
        counterexamples=("812-90-3456", "912-93-3456"),
    ),
    ValueDetector(
        name="us_provider_number",
        noun="US national provider identifier",
        words=phrases("npi, provider id, provider number, physician id"),
        layout=r"[12]\d{9}",
        accepts=is_provider_number,
        base_rate=0.0203,
        random_value=formed("9999999999"),
        safe_harbor="K",
        source="45 CFR 162.406; ISO/IEC 7812-1 with the prefix 80840",
        examples=("1234567893",),
        counterexamples=("1234567890", "3234567893"),
    ),
)
