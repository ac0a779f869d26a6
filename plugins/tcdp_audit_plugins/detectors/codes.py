"""Numbers and codes of a person that only the name of their column gives away."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector, ValueDetector
from tcdp_audit_plugins.detectors._shared.phrases import phrases
from tcdp_audit_plugins.detectors._shared.random_texts import anything

CODE = r"(?=.*\d)[^\W_][\w ./#*-]{1,39}"
PASSPORT = r"[A-Z]{0,3}[0-9]{5,9}[A-Z]{0,2}|[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8,9}"


def _code(name: str, noun: str, letter: str, words: tuple[str, ...]) -> ValueDetector:
    """Codes with a digit in a column of some name."""
    return ValueDetector(
        name=name,
        noun=noun,
        words=words,
        layout=CODE,
        base_rate=0.04,
        random_value=anything,
        safe_harbor=letter,
        needs_name=True,
        source="ours: codes with a digit in a column of that name",
        examples=("rec-1070-org", "A 123456", "4711"),
        counterexamples=("?", "none", "x" * 50 + "1"),
    )


DETECTORS: tuple[Detector, ...] = (
    _code(
        "national_number",
        "national identity number",
        "G",
        phrases(
            """
            ssn, social security, social security number, soc sec, soc sec id, socsec, national id, national id
            number, national identifier, identity number, identity card, id card, id number, personal number,
            personal id, citizen id, nino, national insurance number, tax id, tax number, steuer id, steuernummer,
            personalausweis, ausweisnummer, sozialversicherungsnummer, svnr, rentenversicherungsnummer, ahv, ahv
            nummer, numero de securite sociale, securite sociale, =nir, =insee, dni, =nie, =nif, cedula, curp, =rfc,
            burgerservicenummer, bsn, codice fiscale, personnummer, fodselsnummer, =cpr, cpr nummer, henkilotunnus,
            =hetu, pesel, rodne cislo, cnp, egn, cpf, aadhaar, =sin
            """
        ),
    ),
    _code(
        "medical_record_number",
        "medical record number",
        "H",
        phrases(
            """
            mrn, =medical record, medical record number, record number, chart number, hospital number, =patient,
            patient id, patient number, patient no, patient key, patient identifier, encounter id, case number, case
            id, admission id, visit id, patientennummer, patienten id, fallnummer, aktenzeichen, numero patient, id
            patient, numero de dossier, historia clinica, paciente id, patientnummer, numero paziente, cartella
            clinica, sample id, specimen id
            """
        ),
    ),
    _code(
        "health_plan_number",
        "health plan number",
        "I",
        phrases(
            """
            insurance number, insurance id, policy number, policy id, member id, member number, =health plan, health
            plan number, =beneficiary, beneficiary id, subscriber id, =medicare, medicare number, medicaid id,
            versicherungsnummer, versichertennummer, krankenversichertennummer, krankenkassennummer, numero d
            assurance, numero assure, numero de poliza, polisnummer, verzekeringsnummer, tessera sanitaria
            """
        ),
    ),
    _code(
        "account_number",
        "account number",
        "J",
        phrases(
            """
            =account, account number, account id, account no, acct, acct no, customer id, customer number, customer
            no, client id, client number, loan id, contract number, iban, kontonummer, =konto, kundennummer, kunden
            id, vertragsnummer, numero de compte, numero client, numero de cuenta, numero de cliente,
            rekeningnummer, klantnummer, numero di conto, kundenr
            """
        ),
    ),
    _code(
        "licence_number",
        "licence or certificate number",
        "K",
        phrases(
            """
            licence number, license number, license no, licence no, driver license, drivers license, driving
            licence, certificate number, certificate no, registration number, fuhrerschein, fuhrerscheinnummer,
            permis de conduire, numero de permis, permiso de conducir, carnet de conducir, rijbewijs,
            rijbewijsnummer, =patente
            """
        ),
    ),
    _code(
        "device_number",
        "device number",
        "M",
        phrases(
            """
            =serial, serial number, serial no, =device, device id, device identifier, device serial, imsi, imei,
            udid, advertising id, cookie id, session id, implant id, seriennummer, gerate id, geratenummer, numero
            de serie, serienummer, numero di serie
            """
        ),
    ),
    _code(
        "person_code",
        "personal code",
        "R",
        phrases(
            """
            person id, person number, person key, people id, user id, user no, subject id, subject number, =subject,
            participant id, =participant, respondent id, =respondent, employee id, employee number, employee no,
            staff id, student id, student number, voter id, household id, family id, rec id, record id, unique id,
            personen id, personalnummer, mitarbeiternummer, matrikelnummer, probanden id, mitgliedsnummer, mitglieds
            id, numero de matricule, =matricule, id persona, numero de empleado, persoonsnummer, personeelsnummer,
            medewerkernummer, seqn, serialno, caseid
            """
        ),
    ),
    ValueDetector(
        name="passport_number",
        noun="passport number",
        words=phrases(
            """
            passport, passport number, passport no, pass nummer, reisepass, reisepassnummer, passeport, numero de
            passeport, pasaporte, paspoort, paspoortnummer, passaporto
            """
        ),
        layout=PASSPORT,
        base_rate=0.01,
        random_value=anything,
        safe_harbor="K",
        needs_name=True,
        source="ICAO Doc 9303, part 4: at most nine letters and digits",
        examples=("123456789", "AB1234567", "C01X00T47"),
        counterexamples=("12", "passport"),
    ),
)
