"""Numbers of the United States: social security, individual taxpayers, health providers."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module

from tcdp_audit.plugin.detector import Detector, ValueDetector
from tcdp_audit_plugins.detectors._shared import DIGITS, characters, formed, luhn, nhs, phrases

SOCIAL_SECURITY = phrases("ssn, social security, social security number, soc sec, soc sec id, socsec")
ADVERTISED = {"078051120", "219099999"}  # printed on sample cards, and never issued since
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


LIBRARY = ("stdnum", 'pip install "tcdp-audit[identifiers]"')


def _number(
    module: str, noun: str, layout: str, form: str, base_rate: float, example: str, words: tuple[str, ...]
) -> ValueDetector:
    """A number that a module of python-stdnum checks; its base rate is that of random digits of the form."""
    return ValueDetector(
        name=module.replace("_.", "_").replace(".", "_") + "_number",
        noun=noun,
        words=words,
        layout=layout,
        accepts=_checked_by(module),
        base_rate=base_rate,
        random_value=formed(form),
        safe_harbor="R",
        library=LIBRARY,
        source=f"python-stdnum, stdnum.{module}",
        examples=(example,),
    )


def _checked_by(module: str) -> Callable[[str], bool]:
    def accepts(text: str) -> bool:
        try:
            return bool(import_module(f"stdnum.{module}").is_valid(text))
        except KeyError:  # China's: a region that its register does not know
            return False

    return accepts


CODICE_FISCALE = r"[A-Z]{6}[0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]"
_TAX = ("tax id", "tax number", "national id", "id number")
NATIONAL: tuple[Detector, ...] = (
    ValueDetector(
        name="nhs_number",
        noun="NHS number",
        words=("nhs", "nhs number", "nhs no"),
        layout=r"\d{10}|\d{3}([ -])\d{3}\1\d{4}",
        accepts=nhs,
        base_rate=0.0912,
        random_value=formed("9999999999"),
        safe_harbor="H",
        source="NHS Data Dictionary, NHS number",
        examples=("9434765870", "943 476 5870"),
        counterexamples=("9434765871", "943476587"),
    ),
    _number("at.vnr", "Austrian insurance number", r"\d{4} ?\d{6}", "9999999999", 0.087, "1237 010180",
            ("svnr", "sozialversicherungsnummer")),
    _number("au.tfn", "Australian tax file number", r"\d{3} ?\d{3} ?\d{3}", "999999999", 0.093, "123 456 782",
            ("tfn", *_TAX)),
    _number("be.nn", "Belgian national number", r"\d{2}\.?\d{2}\.?\d{2}-?\d{3}[. ]?\d{2}", "99999999999", 0.003,
            "85.07.30-033 28", ("rijksregisternummer", "numero national", "niss")),
    _number("bg.egn", "Bulgarian personal number", r"\d{10}", "9999999999", 0.0115, "7523169263", ("egn",)),
    _number("br.cpf", "Brazilian CPF", r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}", "99999999999", 0.0108, "390.533.447-05",
            ("cpf",)),
    _number("ca.sin", "Canadian social insurance number", r"\d{3}[ -]?\d{3}[ -]?\d{3}", "999999999", 0.081,
            "123-456-782", ("sin", "social insurance number")),
    _number("ch.ssn", "Swiss AHV number", r"756\.?\d{4}\.?\d{4}\.?\d{2}", "7569999999999", 0.103, "756.9217.0769.85",
            ("ahv", "ahv nummer", "avs")),
    _number("cn.ric", "Chinese identity number", r"[1-9]\d{5}(19|20)\d{9}[\dX]", "999999199999999999", 0.005,
            "360426199101010071", ("id number",)),
    _number("cz.rc", "Czech birth number", r"\d{6}/?\d{3,4}", "9999999999", 0.0215, "710319/2745",
            ("rodne cislo",)),
    _number("de.idnr", "German tax number", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", "99999999999", 0.0045, "36 574 261 809",
            ("steuer id", "steuernummer", "idnr")),
    _number("dk.cpr", "Danish CPR number", r"\d{6}-?\d{4}", "9999999999", 0.033, "211062-5629", ("cpr", "cpr nummer")),
    _number("ee.ik", "Estonian personal number", r"\d{11}", "99999999999", 0.0045, "36805280109", ("isikukood",)),
    _number("es.dni", "Spanish DNI", r"\d{8}-?[A-Z]", "99999999A", 0.041, "54362315-K", ("dni", "nif")),
    _number("es.nie", "Spanish NIE", r"[XYZ]-?\d{7}-?[A-Z]", "X9999999A", 0.041, "X-2482300W", ("nie",)),
    _number("fi.hetu", "Finnish identity code", r"\d{6}[-+A-Y]\d{3}[0-9A-Y]", "999999-999A", 0.002, "131052-308T",
            ("hetu", "henkilotunnus")),
    _number("fr.nir", "French social security number", r"[12378] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}",
            "999999999999999", 0.0115, "2 95 10 99 126 111 93", ("nir", "securite sociale", "insee")),
    _number("hr.oib", "Croatian OIB", r"\d{11}", "99999999999", 0.102, "33392005961", ("oib",)),
    _number("ie.pps", "Irish PPS number", r"\d{7}[A-W][A-IW]?", "9999999A", 0.041, "6433435F", ("pps", "ppsn")),
    _number("il.idnr", "Israeli identity number", r"\d{9}", "999999999", 0.102, "039337423", ("teudat zehut",)),
    _number("in_.aadhaar", "Indian Aadhaar", r"[2-9]\d{3} ?\d{4} ?\d{4}", "999999999999", 0.083, "234123412346",
            ("aadhaar", "aadhar")),
    _number("is_.kennitala", "Icelandic kennitala", r"\d{6}-?\d{4}", "9999999999", 0.0025, "450401-3150",
            ("kennitala",)),
    _number("it.codicefiscale", "Italian codice fiscale", CODICE_FISCALE,
            "AAAAAA99A99A999A", 0.017, "RCCMNL83S18D969H", ("codice fiscale",)),
    _number("kr.rrn", "South Korean resident number", r"\d{6}-?\d{7}", "9999999999999", 0.005, "971013-9019902",
            ("rrn",)),
    _number("lt.asmens", "Lithuanian personal code", r"\d{11}", "99999999999", 0.014, "33309240064",
            ("asmens kodas",)),
    _number("mx.curp", "Mexican CURP", r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d", "AAAA999999AAAAAA99", 0.001,
            "BOXW310820HNERXN09", ("curp",)),
    _number("my.nric", "Malaysian identity number", r"\d{6}-?\d{2}-?\d{4}", "999999999999", 0.035, "770305-02-1234",
            ("nric", "mykad")),
    _number("nl.bsn", "Dutch BSN", r"\d{9}|\d{4}\.\d{2}\.\d{3}", "999999999", 0.095, "1112.22.333",
            ("bsn", "burgerservicenummer")),
    _number("no.fodselsnummer", "Norwegian birth number", r"\d{6} ?\d{5}", "99999999999", 0.0025, "151086 95088",
            ("fodselsnummer", "personnummer")),
    _number("pl.pesel", "Polish PESEL", r"\d{11}", "99999999999", 0.021, "44051401359", ("pesel",)),
    _number("pt.cc", "Portuguese citizen card number", r"\d{8} ?\d ?[A-Z0-9]{2}\d", "999999999AA9", 0.104,
            "00000000 0 ZZ4", ("cartao de cidadao",)),
    _number("ro.cnp", "Romanian CNP", r"[1-9]\d{12}", "9999999999999", 0.003, "1630615123457", ("cnp",)),
    _number("se.personnummer", "Swedish personal number", r"(\d{2})?\d{6}[-+]?\d{4}", "9999999999", 0.005,
            "880320-0016", ("personnummer",)),
    _number("si.emso", "Slovenian EMŠO", r"\d{13}", "9999999999999", 0.005, "0101006500006", ("emso",)),
    _number("th.pin", "Thai identity number", r"[1-8]-?\d{4}-?\d{5}-?\d{2}-?\d", "9999999999999", 0.083,
            "1-2345-45678-78-1", ("id number",)),
    _number("tr.tckimlik", "Turkish identity number", r"[1-9]\d{10}", "99999999999", 0.0105, "17291716060",
            ("tc kimlik no", "kimlik no")),
    _number("ua.rntrc", "Ukrainian taxpayer number", r"\d{10}", "9999999999", 0.102, "1759013776", ("rnokpp", "inn")),
    _number("za.idnr", "South African identity number", r"\d{13}", "9999999999999", 0.0015, "7503305044089",
            ("id number",)),
)  # fmt: skip
