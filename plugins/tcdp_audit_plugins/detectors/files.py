"""Names and paths of files: photographs, images, recordings, documents."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector, ValueDetector
from tcdp_audit_plugins.detectors._shared.phrases import phrases
from tcdp_audit_plugins.detectors._shared.random_texts import characters

ENDINGS = "jpe?g|png|gif|bmp|tiff?|heic|webp|dcm|dicom|nii(\\.gz)?|mp[34]|wav|m4a|mov|avi|pdf|docx?"

DETECTORS: tuple[Detector, ...] = (
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
