"""The files of a release: their names, how they are written and proven, and their signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import Remediation, content_digest, write_atomically
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.written import WrittenAudit, read_audit
from tcdp_audit.frontiers.trial import kind_of
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.studio.choices import now
from tcdp_audit.studio.work import Progress
from tcdp_audit.verification.keys import private_key
from tcdp_audit.verification.signature import attest

if TYPE_CHECKING:
    from tcdp_audit.studio.workbench import Workbench

REPORT, RESULT, RELEASE, POLICY, ATTESTATION = "report", "result", "release", "policy", "attestation"
ENDINGS = {REPORT: ".report.html", RESULT: ".result.json", ATTESTATION: ".attestation.json"}
TRYING, WRITING = "the trial of the release", "the release"
TEXTS = ("purpose", "recipients", "approved_by")  # what the policy says of a release, and no figure depends on


@dataclass(frozen=True)
class Signer:
    """The key of the call, which no page sees.

    Args:
        path: its file.
        key: the key.
    """

    path: Path
    key: Any = field(repr=False)

    @classmethod
    def of(cls, path: str, password: Callable[[], bytes]) -> Signer:
        """Read a private key.

        Raises:
            UsageError: there is none in the file, or the password does not open it.
        """
        return cls(Path(path), private_key(Path(path), password))


@dataclass
class Trial:
    """A release in memory, before anything is written.

    Args:
        decides: the part of the policy that it was made under; see `what_decides`.
        remediation: the release, before and after; None where the policy is about tables of figures.
        after: the audit of what would be written.
    """

    decides: Mapping[str, Any]
    remediation: Remediation | None
    after: Audit


def what_decides(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a policy that a release depends on: all but the texts that reports quote."""
    return {name: one for name, one in data.items() if name not in TEXTS}


def files_of_release(bench: Workbench) -> dict[str, Path]:
    """The files that a release is written to, by what they are: the first names under which nothing is there."""
    for number in range(1, 1000):
        files = _files(bench, "" if number == 1 else f"-{number}")
        if not any(one.exists() or one.is_symlink() for name, one in files.items() if name != POLICY):
            return files
    raise UsageError(f"{bench.place.stem}: there are a thousand releases already; move some away")


def _files(bench: Workbench, number: str) -> dict[str, Path]:
    stem, policy = bench.place.stem, bench.policy
    files = {name: stem.with_name(f"{stem.name}{number}{ending}") for name, ending in ENDINGS.items()}
    files[POLICY] = bench.place.policy
    if not policy.document.has_figures:
        source = policy.document.release if bench.place.release is None else bench.place.release
        kind = "" if policy.document.tables is not None else kind_of(source)
        files[RELEASE] = stem.with_name(f"{stem.name}{number}.release{kind}")
    return files


def begin_trial(bench: Workbench) -> None:
    """Make the release in memory, and audit it as it would be written.

    Raises:
        UsageError: another computation runs.
        PolicyError: the policy cannot be judged yet.
    """
    decides, policy = what_decides(bench.editor.data), bench.policy

    def make(progress: Progress) -> None:
        if policy.document.has_figures:
            bench.trial = Trial(decides, None, bench.session.audit(policy, progress=progress))
            return
        remediation = bench.session.fix(policy, progress=progress)
        bench.trial = Trial(decides, remediation, remediation.after)

    _begin(bench, TRYING, make)


def begin_release(bench: Workbench, wanted: Mapping[str, bool]) -> None:
    """Write the release and the files around it; each appears whole, and the release only if its own audit passes.

    Args:
        bench: the workbench.
        wanted: whether to write the report and the result.

    Raises:
        UsageError: another computation runs, or a file cannot be written.
        PolicyError: the policy cannot be judged yet.
    """
    files, policy, decides = files_of_release(bench), bench.policy, what_decides(bench.editor.data)
    wanted_files = {name: files[name] for name in (REPORT, RESULT) if wanted.get(name)}

    def make(progress: Progress) -> None:
        bench.session.require_unchanged()
        if bench.editor.text.encode() != _content(files[POLICY]):
            bench.editor.write()
        if policy.document.has_figures:
            audit = bench.session.audit(files[POLICY], progress=progress)
        else:
            remediation = bench.session.fix(files[POLICY], output=files[RELEASE], progress=progress)
            bench.trial, audit = Trial(decides, remediation, remediation.after), remediation.after
            if remediation.written is None:
                raise UsageError(f"nothing was released: {remediation.log.reason}")
        audit = replace(audit, run=bench.run)
        for path in wanted_files.values():
            write_atomically(path, audit.render(path.suffix))
        made = {POLICY: files[POLICY], **wanted_files}
        made |= {} if policy.document.has_figures else {RELEASE: files[RELEASE]}
        with bench.lock:
            bench.choices.written = {name: str(path) for name, path in made.items()}
            bench.written_as = bench.editor.text
            bench.save()

    _begin(bench, WRITING, make)


def _begin(bench: Workbench, name: str, make: Callable[[Progress], None]) -> None:
    if not bench.work.begin(name, make):
        raise UsageError(f"{bench.work.name} is under way; wait for its end, or stop it")


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def written_result(bench: Workbench) -> WrittenAudit | None:
    """The result of the last release, read from its file; None where none was written or its files are gone.

    Raises:
        ResultError: the file holds no result any more.
    """
    written = bench.choices.written
    path = written.get(RESULT) or written.get(REPORT)
    return None if path is None or not Path(path).exists() else read_audit(Path(path))


def digests(bench: Workbench) -> dict[str, str]:
    """The digest of each file of the last release; of a folder, or a file that is gone, none."""
    known = {name: content_digest(Path(path)) for name, path in bench.choices.written.items() if Path(path).is_file()}
    return {name: one for name, one in known.items() if one is not None}


def sign(bench: Workbench) -> None:
    """Sign the last release: its result, tied to the digest of the released file.

    Raises:
        UsageError: the call names no key, nothing was released, or the attestation is there already.
        DataError: a table has changed since it was opened.
        TcdpAuditError: the result is about another file, or may not be signed.
    """
    if bench.signer is None:
        raise UsageError("no key: start the workbench again with --key KEY.pem, and sign then")
    written = written_result(bench)
    if written is None:
        raise UsageError("nothing is written that could be signed; write the release with its result first")
    bench.session.require_unchanged()
    release = bench.choices.written.get(RELEASE)
    envelope = attest(written, release, bench.signer.key, bench.plugins)
    path = Path(str(written.path).removesuffix(ENDINGS[RESULT]).removesuffix(ENDINGS[REPORT]) + ENDINGS[ATTESTATION])
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path}: is there already; move it away to sign again")
    write_atomically(path, envelope)
    with bench.lock:
        bench.choices.written[ATTESTATION] = str(path)
        bench.choices.signed_at = now()
        bench.save()
