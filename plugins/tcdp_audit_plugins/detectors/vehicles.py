"""Vehicles: identification numbers and licence plates."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector, ValueDetector
from tcdp_audit_plugins.detectors._shared.checksums import vin
from tcdp_audit_plugins.detectors._shared.phrases import phrases
from tcdp_audit_plugins.detectors._shared.random_texts import anything, characters

DETECTORS: tuple[Detector, ...] = (
    ValueDetector(
        name="vehicle_number",
        noun="vehicle identification number",
        words=phrases(
            """
            vin, vehicle id, vehicle identification number, chassis number, fahrgestellnummer, fahrzeugidentnummer,
            numero de chassis, bastidor, chassisnummer
            """
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
            """
            licence plate, license plate, =plate, plate number, registration plate, number plate, kennzeichen, kfz
            kennzeichen, =plaque, immatriculation, =matricula, kenteken, =targa
            """
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
