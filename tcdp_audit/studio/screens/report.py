"""The sixth screen: the verdict of the written file, the decisions behind it, and its signature."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse, PlainTextResponse, Response

from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import listing
from tcdp_audit.studio.choices import words_of
from tcdp_audit.studio.release import ATTESTATION, RELEASE, REPORT, RESULT, digests, sign, written_result
from tcdp_audit.studio.workbench import Workbench

QUESTIONS = {
    "roles": "The roles are right: no one outside knows what is declared as secret.",
    "tables": "No other published table is about these people, or each of them was taken into account.",
    "law": "There is a lawful ground to publish. No figure here determines that.",
}
CSP = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', re.IGNORECASE)
TITLES = {RELEASE: "Release", "policy": "Policy", REPORT: "Report", RESULT: "Result", ATTESTATION: "Signature"}


def report_screen(bench: Workbench) -> dict[str, Any]:
    """The verdict of the last release as its file says it, with digests, decisions and open questions."""
    written = written_result(bench)
    verdict = {} if written is None else dict(written.result["verdict"])
    asked = [(f"{profile.key} {one.key}", one.question) for profile, one in bench.policy.questions]
    known = digests(bench)
    return {
        "verdict": verdict,
        "has_report": Path(bench.choices.written.get(REPORT, "")).is_file(),
        "files": [
            {"title": TITLES.get(name, name), "path": path, "digest": known.get(name, "")}
            for name, path in bench.choices.written.items()
        ],
        "hand_over": _hand_over(bench) if bench.choices.written else "",
        "decisions": [
            {
                "when": one.when.isoformat(timespec="minutes").replace("T", " ").removesuffix("+00:00"),
                "words": words_of(one, bench.plugins),
                "reason": one.reason,
            }
            for one in bench.editor.decisions
        ],
        "point": bench.choices.point,
        "values_shown": bench.choices.values_shown,
        "questions": [*QUESTIONS.items(), *asked],
        "confirmed": bench.choices.confirmed,
        "signer": bench.choices.signer or bench.by or "",
        "signed_at": bench.choices.signed_at,
        "has_key": bench.signer is not None,
        "signature": bench.choices.written.get(ATTESTATION, ""),
        "attest_command": _command(bench),
    }


def _hand_over(bench: Workbench) -> str:
    """The files for the person who signs, in sentences."""
    written = bench.choices.written
    names = [Path(path).name for name, path in written.items() if name not in (RELEASE, ATTESTATION)]
    of = f" {Path(written[RELEASE]).name} is what is published." if RELEASE in written else ""
    return (
        f"To the person who signs: {listing(names)}. The report says what was checked, what only warns, and what no "
        f"figure answers.{of} The table itself and {bench.place.decisions.name} stay here."
    )


def _command(bench: Workbench) -> str:
    written = bench.choices.written
    result = written.get(RESULT) or written.get(REPORT, "RESULT")
    return f"tcdp-audit attest {result} {written.get(RELEASE, '')} --key KEY.pem --output ATTESTATION"


def keep_answers(bench: Workbench, confirmed: list[str], signer: str) -> None:
    """Keep the answers of a person to the questions, and who answers them."""
    with bench.lock:
        bench.choices.confirmed = [one for one in _asked(bench) if one in confirmed]
        bench.choices.signer = signer
        bench.save()


def _asked(bench: Workbench) -> list[str]:
    return [*QUESTIONS, *(f"{profile.key} {one.key}" for profile, one in bench.policy.questions)]


def sign_report(bench: Workbench, confirmed: list[str], signer: str) -> None:
    """Keep the answers of a person, and sign where each question is answered and the person named.

    Raises:
        UsageError: a question is open, no one is named, or there is nothing to sign.
        TcdpAuditError: the result may not be signed.
    """
    keep_answers(bench, confirmed, signer)
    asked = len(_asked(bench))
    if len(bench.choices.confirmed) < asked:
        left = asked - len(bench.choices.confirmed)
        raise UsageError(f"{left} of {asked} questions are open; tick what you can answer for, and sign then")
    if not signer:
        raise UsageError("no one is named who signs; write the name and the office, and sign then")
    sign(bench)


def report_page(bench: Workbench) -> Response:
    """The written report as it is, under its own content security policy."""
    path = Path(bench.choices.written.get(REPORT, ""))
    if not path.is_file():
        return PlainTextResponse("no report is written, or its file is gone", 404)
    text = path.read_text(encoding="utf-8")
    own = CSP.search(text)
    policy = "; ".join([own[1] if own else "default-src 'none'", "frame-ancestors 'none'"])
    return HTMLResponse(text, headers={"content-security-policy": policy})
