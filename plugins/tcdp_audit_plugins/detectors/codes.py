"""Numbers and codes of a person that only the name of their column gives away.

Vehicles: identification numbers and licence plates.
"""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector, ValueDetector
from tcdp_audit_plugins.detectors._shared import anything, characters, phrases, vin

CODE = r"(?=.*\d)[^\W_][\w ./#*-]{1,39}"
PASSPORT = r"[A-Z]{0,3}[0-9]{5,9}[A-Z]{0,2}|[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8,9}"
VEHICLES: tuple[Detector, ...] = (
    ValueDetector(
        name="vehicle_number",
        noun="vehicle identification number",
        words=phrases(
            "vin, vehicle id, vehicle identification number, chassis number, fahrgestellnummer, fahrzeugidentnummer, "
            "numero de chassis, bastidor, chassisnummer"
        ),
        layout=r"[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}",
        accepts=vin,
        base_rate=0.0304,
        random_value=characters("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", 17),
        safe_harbor="L",
        source="49 CFR 565.15; ISO 3779:2009",
        examples=("1M8GDM9AXKP042788",),
        counterexamples=("1M8GDM9AXKP042789", "1M8GDM9AXKP04278I"),
    ),
    ValueDetector(
        name="licence_plate",
        noun="licence plate",
        words=phrases(
            "licence plate, license plate, =plate, plate number, registration plate, number plate, kennzeichen, kfz "
            "kennzeichen, =plaque, immatriculation, =matricula, kenteken, =targa"
        ),
        layout=r"(?=.*\d)(?=.*[^\W\d_])[^\W_]{1,7}([ ·-]?[^\W_]{1,5}){0,3}",
        base_rate=0.03,
        random_value=anything,
        safe_harbor="L",
        needs_name=True,
        source="ours: up to four groups of letters and digits in a column of that name",
        examples=("B-AB 1234", "7ABC123", "AB-123-CD"),
        counterexamples=("1234", "Berlin", "B/AB:1234"),
    ),
)


def _code(name: str, noun: str, letter: str, words: str) -> ValueDetector:
    """Codes with a digit in a column of some name."""
    return ValueDetector(
        name=name,
        noun=noun,
        words=phrases(words),
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
        "ssn, social security, social security number, soc sec, soc sec id, socsec, national id, national id "
        "number, national identifier, identity number, identity card, id card, id number, personal number, "
        "personal id, citizen id, nino, national insurance number, tax id, tax number, steuer id, steuernummer, "
        "personalausweis, ausweisnummer, sozialversicherungsnummer, svnr, rentenversicherungsnummer, ahv, ahv "
        "nummer, numero de securite sociale, securite sociale, =nir, =insee, dni, =nie, =nif, cedula, curp, =rfc, "
        "burgerservicenummer, bsn, codice fiscale, personnummer, fodselsnummer, =cpr, cpr nummer, henkilotunnus, "
        "=hetu, pesel, rodne cislo, cnp, egn, cpf, aadhaar, =sin",
    ),
    _code(
        "medical_record_number",
        "medical record number",
        "H",
        "mrn, =medical record, medical record number, record number, chart number, hospital number, =patient, "
        "patient id, patient number, patient no, patient key, patient identifier, encounter id, case number, case "
        "id, admission id, visit id, patientennummer, patienten id, fallnummer, aktenzeichen, numero patient, id "
        "patient, numero de dossier, historia clinica, paciente id, patientnummer, numero paziente, cartella "
        "clinica, sample id, specimen id",
    ),
    _code(
        "health_plan_number",
        "health plan number",
        "I",
        "insurance number, insurance id, policy number, policy id, member id, member number, =health plan, health "
        "plan number, =beneficiary, beneficiary id, subscriber id, =medicare, medicare number, medicaid id, "
        "versicherungsnummer, versichertennummer, krankenversichertennummer, krankenkassennummer, numero d "
        "assurance, numero assure, numero de poliza, polisnummer, verzekeringsnummer, tessera sanitaria",
    ),
    _code(
        "account_number",
        "account number",
        "J",
        "=account, account number, account id, account no, acct, acct no, customer id, customer number, customer "
        "no, client id, client number, loan id, contract number, iban, kontonummer, =konto, kundennummer, kunden "
        "id, vertragsnummer, numero de compte, numero client, numero de cuenta, numero de cliente, rekeningnummer, "
        "klantnummer, numero di conto, kundenr",
    ),
    _code(
        "licence_number",
        "licence or certificate number",
        "K",
        "licence number, license number, license no, licence no, driver license, drivers license, driving licence, "
        "certificate number, certificate no, registration number, fuhrerschein, fuhrerscheinnummer, permis de "
        "conduire, numero de permis, permiso de conducir, carnet de conducir, rijbewijs, rijbewijsnummer, =patente",
    ),
    _code(
        "device_number",
        "device number",
        "M",
        "=serial, serial number, serial no, =device, device id, device identifier, device serial, imsi, imei, "
        "udid, advertising id, cookie id, session id, implant id, seriennummer, gerate id, geratenummer, numero de "
        "serie, serienummer, numero di serie",
    ),
    _code(
        "person_code",
        "personal code",
        "R",
        "person id, person number, person key, people id, user id, user no, subject id, subject number, =subject, "
        "participant id, =participant, respondent id, =respondent, employee id, employee number, employee no, "
        "staff id, student id, student number, voter id, household id, family id, rec id, record id, unique id, "
        "personen id, personalnummer, mitarbeiternummer, matrikelnummer, probanden id, mitgliedsnummer, mitglieds "
        "id, numero de matricule, =matricule, id persona, numero de empleado, persoonsnummer, personeelsnummer, "
        "medewerkernummer, seqn, serialno, caseid",
    ),
    ValueDetector(
        name="passport_number",
        noun="passport number",
        words=phrases(
            "passport, passport number, passport no, pass nummer, reisepass, reisepassnummer, passeport, numero de "
            "passeport, pasaporte, paspoort, paspoortnummer, passaporto"
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
