"""Addresses and numbers of devices.

Names and paths of files: photographs, images, recordings, documents.
"""

from __future__ import annotations

from ipaddress import ip_address

from tcdp_audit.plugin.detector import Detector, ValueDetector
from tcdp_audit_plugins.detectors._shared import characters, formed, luhn, phrases

ENDINGS = "jpe?g|png|gif|bmp|tiff?|heic|webp|dcm|dicom|nii(\\.gz)?|mp[34]|wav|m4a|mov|avi|pdf|docx?"
FILES: tuple[Detector, ...] = (
    ValueDetector(
        name="file_path",
        noun="path of a file",
        nouns="paths of files",
        words=phrases(
            """
            photo, =picture, =image, =portrait, =file, file name, filename, =path, =scan, =recording, =foto, =bild,
            datei, pfad, fichier, =imagen, =archivo, =bestand, afbeelding
            """
        ),
        layout=rf"(?i:([a-z]:)?[^\n:*?<>|]*[^\s.:*?<>|]\.({ENDINGS})|[a-z]:\\[^\n]+|~?(/[^/\n]+)+/?)",
        base_rate=0.05,
        random_value=characters("abcdefghijklmnopqrstuvwxyz./", 5, 20),
        safe_harbor="Q",
        source="45 CFR 164.514(b)(2)(i)(Q); names of files often hold those of people",
        examples=("ada.jpg", "scans/0001.dcm", "/home/ada/photo", "C:\\photos\\ada.png"),
        counterexamples=("ada", "ada.xyz", "2.5"),
    ),
)


def is_ip_address(text: str) -> bool:
    """Whether a text is an address of the Internet Protocol, version 4 or 6."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


DETECTORS: tuple[Detector, ...] = (
    ValueDetector(
        name="ip_address",
        noun="IP address",
        words=phrases("=ip, ip address, ipv4, ipv6, ip adresse, adresse ip, direccion ip, ip adres"),
        layout=r"\d{1,3}(\.\d{1,3}){3}|(?=.*:.*:)[0-9A-Fa-f:.]{3,45}",
        accepts=is_ip_address,
        base_rate=0.005,
        random_value=characters("0123456789.", 7, 15),
        safe_harbor="O",
        source="RFC 791; RFC 4291",
        examples=("192.0.2.17", "2001:db8::17"),
        counterexamples=("192.0.2", "300.0.2.17", "12:30:15"),
    ),
    ValueDetector(
        name="mac_address",
        noun="MAC address",
        words=phrases("=mac, mac address, mac adresse, hardware address, adresse mac"),
        layout=r"[0-9A-Fa-f]{2}([:-])([0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}",
        base_rate=0.0001,
        random_value=characters("0123456789abcdef:", 17),
        safe_harbor="M",
        source="IEEE 802-2014, section 8",
        examples=("00:00:5e:00:53:af", "00-00-5E-00-53-AF", "0000.5e00.53af"),
        counterexamples=("00:00:5e:00:53", "00005e0053af"),
    ),
    ValueDetector(
        name="uuid",
        noun="UUID",
        words=phrases("uuid, guid"),
        layout=r"[{]?[0-9A-Fa-f]{8}-?([0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}[}]?",
        base_rate=0.0001,
        random_value=characters("0123456789abcdef-", 36),
        safe_harbor="R",
        source="RFC 9562, section 4",
        examples=("f81d4fae-7dec-11d0-a765-00a0c91e6bf6",),
        counterexamples=("f81d4fae-7dec-11d0-a765", "f81d4fae"),
    ),
    ValueDetector(
        name="imei",
        noun="IMEI of a mobile device",
        nouns="IMEIs of mobile devices",
        words=phrases("imei, device id, device identifier, handset"),
        layout=r"\d{15}",
        accepts=luhn,
        base_rate=0.1,
        random_value=formed("999999999999999"),
        safe_harbor="M",
        source="3GPP TS 23.003, section 6.2",
        examples=("490154203237518",),
        counterexamples=("490154203237519", "49015420323751"),
    ),
)
