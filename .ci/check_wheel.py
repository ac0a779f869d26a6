"""The wheel holds the three packages, their data, and nothing else at its top level."""

from __future__ import annotations

import sys
import zipfile

PACKAGES = {"tcdp_audit", "tcdp_audit_plugins", "tcdp_audit_reports"}
DATA = {
    "tcdp_audit/cli/generated/policy.txt",
    "tcdp_audit/languages/de.po",
    "tcdp_audit/languages/es.po",
    "tcdp_audit/languages/fr.po",
    "tcdp_audit/py.typed",
    "tcdp_audit/core/results/result.schema.json",
    "tcdp_audit/core/repair/typed.pyi",
    "tcdp_audit/studio/static/htmx.LICENSE.txt",
    "tcdp_audit/studio/static/htmx.min.js",
    "tcdp_audit/studio/templates/frame.html.j2",
    "tcdp_audit_plugins/generated/catalogue.json",
    "tcdp_audit_plugins/generated/formulas.json",
    "tcdp_audit_plugins/checks/k_anonymity.md",
    "tcdp_audit_plugins/remedies/mondrian/mondrian.md",
    "tcdp_audit_plugins/py.typed",
    "tcdp_audit_reports/py.typed",
    "tcdp_audit_reports/templates/report.html.j2",
    "tcdp_audit_reports/templates/report.css",
}


def main(path: str) -> None:
    """Stop with a sentence if the wheel is not as promised."""
    names = zipfile.ZipFile(path).namelist()
    top = {name.split("/")[0] for name in names}
    packages = {name for name in top if not name.endswith(".dist-info")}
    missing = DATA - set(names)
    if packages != PACKAGES:
        sys.exit(f"the wheel's top level is {sorted(packages)}, not {sorted(PACKAGES)}")
    if missing:
        sys.exit(f"the wheel lacks {sorted(missing)}")
    sys.stdout.write(f"{path}: {len(names)} files, top level {', '.join(sorted(packages))}\n")


if __name__ == "__main__":
    main(sys.argv[1])
