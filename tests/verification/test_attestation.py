"""An attestation holds for one release, one result and one key; whatever is changed, it is refused."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import assume, given, settings, strategies as st
from securesystemslib.dsse import Envelope as Dsse
from written_samples import MARK, POLICY, Pair, copied_pair, write_pair

from tcdp_audit.core.base.errors import ResultError, UsageError
from tcdp_audit.core.base.outcome import COLUMN_DEMANDS
from tcdp_audit.core.results.written import read_audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.verification import State, Verification
from tcdp_audit.verification.demand import Demand, verify_attestation
from tcdp_audit.verification.digests import digest_of_file
from tcdp_audit.verification.keys import private_key, public_key, require_libraries
from tcdp_audit.verification.signature import (
    PAYLOAD,
    AnotherReleaseError,
    attest,
    is_envelope,
    sign_envelope,
    statement_of,
)

PLUGINS = Plugins.load(external=False)
MADE: dict[str, Callable[[], Any]] = {
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "p256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "p384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "p521": lambda: ec.generate_private_key(ec.SECP521R1()),
    "rsa": lambda: rsa.generate_private_key(65537, 2048),
}
REFUSED: dict[str, Callable[[], Any]] = {
    "another curve": lambda: ec.generate_private_key(ec.SECP256K1()),
    "short": lambda: rsa.generate_private_key(65537, 1024),  # noqa: S505 - to be refused
}
FIT = POLICY.replace("k: 3", "k: 2").replace("t: 0.2", "t: 0.9")


@cache
def made(kind: str) -> Any:
    """A key of a kind, made once."""
    return {**MADE, **REFUSED}[kind]()


def write_key(folder: Path, kind: str = "ed25519", password: bytes = b"") -> tuple[Path, Path]:
    """The files of a private key and of its public one."""
    key = made(kind)
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    private, public = folder / f"{kind}.pem", folder / f"{kind}.pub.pem"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


def no_password() -> bytes:
    raise AssertionError("nobody is asked for the password of a key that has none")


def signed(pair: Pair, kind: str = "ed25519") -> dict[str, Any]:
    private, _ = write_key(pair.folder, kind)
    return dict(json.loads(attest(read_audit(pair.json), pair.release, private_key(private, no_password), PLUGINS)))


def demanded(pair: Pair, envelope: Any, kind: str = "ed25519", **options: Any) -> Verification:
    release = options.pop("release", pair.release)
    demand = Demand(key=public_key(write_key(pair.folder, kind)[1]), digest=digest_of_file(release), **options)
    return verify_attestation(envelope, "attestation.json", demand)


def states(verification: Verification) -> dict[str, State]:
    return {one.subject: one.state for one in verification.points}


@pytest.fixture
def fit(tmp_path: Path) -> Pair:
    """A release that keeps its policy."""
    pair = copied_pair(tmp_path, FIT)
    assert pair.result["status"] == "passed"
    return pair


@pytest.mark.parametrize("kind", MADE)
def test_an_approval_is_confirmed_for_every_kind_of_key(kind: str, fit: Pair):
    envelope = signed(fit, kind)
    verification = demanded(fit, envelope, kind, result=read_audit(fit.html), policy=fit.policy)

    assert verification.exit_code == 0
    assert verification.verdict == "passed"
    assert set(states(verification).values()) == {State.CONFIRMED}
    assert list(states(verification)) == [
        *("signature", "payload type", "statement", "predicate", "release", "policy", "result", "verdict"),
    ]


def test_the_envelope_is_what_others_can_read(fit: Pair):
    envelope = signed(fit)
    key = public_key(write_key(fit.folder)[1])
    others = Dsse.from_dict(json.loads(json.dumps(envelope)))
    assert others.verify([key], 1) == {key.keyid: key}
    assert others.payload_type == "application/vnd.in-toto+json"

    statement = json.loads(others.payload)
    assert statement == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "release.csv", "digest": {"sha256": digest_of_file(fit.release)}}],
        "predicateType": "urn:tcdp-audit:result:1",
        "predicate": fit.result,
    }
    assert isinstance(statement["predicate"]["release"]["records"], int)
    assert is_envelope(envelope)
    assert not is_envelope(fit.result)


def test_what_is_not_fit_can_be_attested_and_is_no_approval(pair: Pair):
    envelope = signed(pair)
    refused = demanded(pair, envelope)
    assert refused.exit_code == 1
    assert [one.subject for one in refused.differences] == ["verdict"]
    accepted = demanded(pair, envelope, allow_failed=True)
    assert accepted.exit_code == 0
    assert states(accepted)["verdict"] is State.NOTE


@pytest.mark.parametrize("inside", [False, True])
def test_a_file_with_its_key_is_approved_only_where_it_internal_only(tmp_path: Path, *, inside: bool):
    text = FIT.replace("attributes:", f"key: zip\ninternal_only: {str(inside).lower()}\nattributes:", 1)
    pair = write_pair(tmp_path, text)
    envelope = signed(pair) if inside else of_statement(pair, predicate=pair.result)
    verification = demanded(pair, envelope)
    if inside:
        assert verification.is_confirmed
        assert verification.title == "Fit to stay inside: the key is in the file"
        return
    assert verification.exit_code == 1
    ((subject, sentence),) = [(one.subject, one.sentence) for one in verification.differences]
    assert subject == "verdict"
    assert sentence == "Fit once its key is dropped: zip: whatever its signature, it does not approve of this file"
    assert demanded(pair, envelope, allow_failed=True).exit_code == 0
    with pytest.raises(ResultError, match="is not fit as it is, but once its key is dropped: zip; nothing was signed"):
        signed(pair)


@pytest.mark.parametrize("status", ["measured", "error"])
def test_what_judges_nothing_is_no_approval(status: str, pair: Pair):
    result = {**pair.result, "status": status, "exposed": None}
    for one in result["outcomes"]:
        judged = one["check"] not in COLUMN_DEMANDS
        one.update(status=status if judged else one["status"], details={} if judged else one["details"])
    counted = [one["status"] for one in result["outcomes"]]
    names = {"error": "errors"}
    result["summary"] = {names.get(one, one): counted.count(one) for one in counted}
    del result["verdict"]
    envelope = of_statement(pair, predicate=result)
    assert demanded(pair, envelope).exit_code == 3


def test_a_failed_demand_of_an_incomplete_audit_is_reported_as_not_fit(pair: Pair):
    envelope = of_statement(pair, predicate={**pair.result, "status": "error"})
    refused = demanded(pair, envelope)
    assert (refused.exit_code, refused.verdict) == (1, "failed")
    assert refused.points[-1].sentence.startswith("Not fit for release: ")


@pytest.mark.parametrize("status", ["failed", "measured", "error"])
def test_a_verdict_that_is_better_than_its_status_is_not_believed(status: str, pair: Pair):
    given = {**pair.result["verdict"], "state": "passed"}
    refused = demanded(pair, of_statement(pair, predicate={**pair.result, "status": status, "verdict": given}))
    assert refused.exit_code != 0
    assert refused.verdict == status


def test_another_release_key_policy_or_result_is_named(fit: Pair):
    envelope = signed(fit)
    other = fit.folder / "other.csv"
    other.write_text(fit.release.read_text(encoding="utf-8").replace(",12\n", ",13\n"), encoding="utf-8")
    assert [one.subject for one in demanded(fit, envelope, release=other).differences] == ["release"]

    stranger = demanded(fit, envelope, "p256")
    assert [(one.subject, one.sentence[:15]) for one in stranger.points] == [("signature", "none is by this")]

    assert [one.subject for one in demanded(fit, envelope, policy=other).differences] == ["policy"]
    with pytest.raises(ResultError, match="no such policy file"):
        demanded(fit, envelope, policy=fit.folder / "nowhere.tcdp.yaml")

    fit.forge(lambda result: result["outcomes"][11].update(observed=99))
    changed = demanded(fit, envelope, result=read_audit(fit.json))
    assert [(one.subject, one.sentence) for one in changed.differences] == [("result", "another one: outcomes")]


def of_statement(pair: Pair, payload_type: str = PAYLOAD, **changed: Any) -> dict[str, Any]:
    """A signed statement in which something is another than it should be."""
    written = read_audit(pair.json)
    statement = {**json.loads(statement_of(written, [("release.csv", digest_of_file(pair.release))])), **changed}
    signer = private_key(write_key(pair.folder)[0], no_password)
    return dict(json.loads(sign_envelope(json.dumps(statement).encode(), payload_type, signer)))


@pytest.mark.parametrize(
    ("changed", "subject"),
    [
        ({"payload_type": "application/json"}, "payload type"),
        ({"_type": "https://in-toto.io/Statement/v0.1"}, "statement"),
        ({"_type": None}, "statement"),
        ({"predicateType": "https://slsa.dev/provenance/v1"}, "predicate"),
        ({"subject": []}, "release"),
        ({"subject": [{"digest": {"sha512": "00"}}]}, "release"),
        ({"subject": [{"digest": {"sha256": "00"}}]}, "release"),
        ({"subject": MARK}, "release"),
        ({"subject": [MARK, {"digest": [MARK]}]}, "release"),
    ],
)
def test_a_statement_about_something_else_is_no_approval(changed: dict[str, Any], subject: str, fit: Pair):
    verification = demanded(fit, of_statement(fit, **changed))

    assert verification.exit_code == 1
    assert [one.subject for one in verification.differences] == [subject]
    assert MARK not in str(verification.points)


def test_a_result_about_another_release_than_its_statement_is_no_approval(fit: Pair):
    result = fit.result
    result["release"]["sha256"] = "0" * 64
    verification = demanded(fit, of_statement(fit, predicate=result))
    assert [one.subject for one in verification.differences] == ["release"]


def test_several_subjects_are_no_approval_of_one(fit: Pair):
    digest = {"digest": {"sha256": digest_of_file(fit.release)}}
    assert demanded(fit, of_statement(fit, subject=[digest, digest])).exit_code == 1


@pytest.mark.parametrize("predicate", [None, {}, [MARK], {"schema_version": 2}])
def test_a_predicate_that_is_no_result_is_refused(predicate: Any, fit: Pair):
    with pytest.raises(ResultError, match="its predicate: ") as caught:
        demanded(fit, of_statement(fit, predicate=predicate))
    assert MARK not in str(caught.value)


@settings(max_examples=60)
@given(
    position=st.floats(0, 1, exclude_max=True),
    letter=st.sampled_from('aZ9+/=-_ "{}'),
    part=st.sampled_from(["payload", "payloadType", "sig", "keyid"]),
)
def test_one_byte_of_an_attestation_is_enough(position: float, letter: str, part: str):
    envelope, demand = _approval()
    holder = envelope if part in envelope else envelope["signatures"][0]
    text = holder[part]
    at = int(position * len(text))
    assume(text[at] != letter)
    forged = json.loads(json.dumps(envelope))
    (forged if part in envelope else forged["signatures"][0])[part] = text[:at] + letter + text[at + 1 :]
    if part in ("payload", "sig") and not _is_base64(text[:at] + letter + text[at + 1 :]):
        with pytest.raises(ResultError, match="is no base64, or not as base64 is written"):
            verify_attestation(forged, "forged.json", demand)
    else:
        verification = verify_attestation(forged, "forged.json", demand)
        assert verification.exit_code == 1
        assert [one.subject for one in verification.points] == ["signature"]


def _is_base64(text: str) -> bool:
    """Whether a text is what either alphabet of base64 writes for some bytes."""
    plain = text.replace("-", "+").replace("_", "/")
    if any(one in text for one in "-_") and any(one in text for one in "+/"):
        return False
    try:
        return base64.b64encode(base64.b64decode(plain, validate=True)).decode() == plain
    except ValueError:
        return False


@cache
def _approval() -> tuple[dict[str, Any], Demand]:
    with tempfile.TemporaryDirectory() as folder:
        pair = copied_pair(Path(folder))
        key, digest = public_key(write_key(pair.folder)[1]), digest_of_file(pair.release)
        envelope, demand = signed(pair), Demand(key=key, digest=digest, allow_failed=True)
    assert verify_attestation(envelope, "x", demand).exit_code == 0
    return envelope, demand


@pytest.mark.parametrize(
    "changed",
    [
        {"signatures": []},
        {"signatures": "sig"},
        {"signatures": [MARK]},
        {"signatures": [{"keyid": 3, "sig": ""}]},
        {"signatures": [{"keyid": ""}]},
        {"payloadType": 1},
        {"payload": 1},
        {"payload": "é"},
    ],
)
def test_what_is_no_envelope_is_refused(changed: dict[str, Any], pair: Pair):
    with pytest.raises(ResultError) as caught:
        demanded(pair, {**signed(pair), **changed})
    assert str(caught.value).startswith("attestation.json: ")
    assert MARK not in str(caught.value)


def test_the_identifier_of_a_key_is_a_hint_and_may_be_left_out(fit: Pair):
    envelope = signed(fit)
    del envelope["signatures"][0]["keyid"]
    assert demanded(fit, envelope).exit_code == 0
    foreign = {"keyid": "", "sig": base64.b64encode(b"no signature").decode()}
    envelope["signatures"].insert(0, foreign)
    assert demanded(fit, envelope).exit_code == 0
    envelope["signatures"] = [foreign]
    assert demanded(fit, envelope).exit_code == 1


def test_a_signed_text_that_is_no_statement_is_refused(pair: Pair):
    signer = private_key(write_key(pair.folder)[0], no_password)
    for payload, sentence in ((b"\xff", "no UTF-8"), (b"[]", "no JSON object"), (MARK.encode(), "not JSON")):
        with pytest.raises(ResultError, match=sentence) as caught:
            demanded(pair, json.loads(sign_envelope(payload, PAYLOAD, signer)))
        assert MARK not in str(caught.value)


def test_a_result_of_another_release_is_not_signed(pair: Pair):
    with pytest.raises(AnotherReleaseError, match=r"is about another release.*nothing was signed") as caught:
        attest(read_audit(pair.json), pair.policy, private_key(write_key(pair.folder)[0], no_password), PLUGINS)
    assert caught.value.exit_code == 1


def _unsound(result: dict[str, Any], kind: str) -> None:
    if kind == "cells":
        result["outcomes"][-1]["worst"][0]["cells"] = {"zip": MARK}
    elif kind == "memory":
        result["release"]["uri"] = "memory:release"
    elif kind == "digest":
        result["release"]["sha256"] = None
    else:
        result["status"] = "passed"


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("cells", "names cells of the release"),
        ("memory", "is about a table in memory"),
        ("digest", "is about a table without a digest"),
        ("status", "contradicts itself: its status is not what its outcomes give"),
    ],
)
def test_what_no_one_should_sign_is_refused(kind: str, sentence: str, pair: Pair):
    pair.forge(lambda result: _unsound(result, kind))
    with pytest.raises(ResultError, match=sentence) as caught:
        signed(pair)
    assert MARK not in str(caught.value)


def test_an_encrypted_key_asks_for_its_password(tmp_path: Path):
    private, _ = write_key(tmp_path, "p256", b"secret")
    assert private_key(private, lambda: b"secret").public_key.keytype == "ecdsa"
    with pytest.raises(UsageError, match="the password does not open this key"):
        private_key(private, lambda: b"another")


def test_a_key_that_cannot_sign_is_refused(tmp_path: Path):
    curve, other = write_key(tmp_path, "another curve")
    short, short_public = write_key(tmp_path, "short")
    (tmp_path / "text.pem").write_text(MARK)
    for path in (curve, other, tmp_path / "text.pem", write_key(tmp_path)[1]):
        with pytest.raises(UsageError, match=r"no private key to sign with; it must be an Ed25519, ECDSA \(P-256"):
            private_key(path, no_password)
    for call in (lambda: private_key(short, no_password), lambda: public_key(short_public)):
        with pytest.raises(UsageError, match="an RSA key of 1,024 bits can be broken"):
            call()
    for path in (other, tmp_path / "text.pem"):
        with pytest.raises(UsageError, match="no public key to sign with"):
            public_key(path)
    with pytest.raises(UsageError, match=r"is a private key; `openssl pkey -in KEY.pem -pubout` gives the public one"):
        public_key(curve)
    with pytest.raises(UsageError, match="no such file"):
        public_key(tmp_path / "nowhere.pem")
    with pytest.raises(UsageError, match="cannot be read"):
        private_key(tmp_path, no_password)


def test_without_the_library_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tcdp_audit.verification.keys.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r'needs securesystemslib; pip install "tcdp-audit\[attest\]"'):
        require_libraries()


def test_names_in_an_attestation_are_inert(pair: Pair):
    hostile = "<script>\x1b[31m\u202e=1+1"
    pair.forge(lambda result: result["outcomes"][-1].update(attribute=hostile))
    signer = private_key(write_key(pair.folder)[0], no_password)
    text = attest(read_audit(pair.json), pair.release, signer, PLUGINS)
    assert text.isascii()
    assert "\x1b" not in text
    payload = base64.b64decode(json.loads(text)["payload"])
    assert b"\x1b" not in payload
    assert payload.isascii()
    assert json.loads(payload)["predicate"]["outcomes"][-1]["attribute"] == hostile


def k_of(result: dict[str, Any]) -> dict[str, Any]:
    """The outcome of k-anonymity."""
    return next(one for one in result["outcomes"] if one["check"] == "k_anonymity")


def _drop(result: dict[str, Any], *names: str) -> None:
    result["outcomes"] = [one for one in result["outcomes"] if one["check"] not in names]
    result["summary"]["passed"] = len([one for one in result["outcomes"] if one["status"] == "passed"])


LIES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a figure": (lambda result: k_of(result).update(observed=1, threshold=50), "does not keep its threshold"),
    "no figure": (lambda result: k_of(result).update(observed=None), "does not keep its threshold"),
    "NaN": (lambda result: k_of(result).update(observed="NaN"), "does not keep its threshold"),
    "records": (lambda result: k_of(result)["records"].update(failing=10), "although records of it fail"),
    "classes": (lambda result: k_of(result)["classes"].update(failing=1), "although records of it fail"),
    "too many": (lambda result: k_of(result)["records"].update(failing=11), "counts more records that fail"),
    "fewer than none": (lambda result: k_of(result)["records"].update(failing=-1), "counts more records that fail"),
    "other records": (lambda result: k_of(result)["records"].update(total=99), "more records than the release has"),
    "none of it": (lambda result: k_of(result).update(records={"total": 0, "failing": 0}), "passed without a record"),
    "an empty release": (lambda result: result["release"].update(records=0), "its release has no record"),
    "no column": (lambda result: result["release"].update(columns=0), "its release has no record or no column"),
    "no structure": (lambda result: _drop(result, *COLUMN_DEMANDS), "one outcome of each demand on columns"),
    "less structure": (lambda result: _drop(result, "present_identifiers"), "on columns (present_identifiers)"),
    "structure twice": (lambda result: result["outcomes"].append(result["outcomes"][0]), "(missing_columns)"),
    "columns": (lambda result: result["outcomes"][2]["details"].update(columns=["name"]), "its columns give"),
    "a warning": (
        lambda result: result["outcomes"][2].update(
            details={"columns": ["name"]}, observed=1, status="failed", severity="warning"
        ),
        "only warns, which this demand never does",
    ),
    "a status": (lambda result: k_of(result).update(status="failed"), "its status is not what its outcomes give"),
    "a summary": (lambda result: result["summary"].update(passed=99), "its summary is not"),
    "a verdict": (lambda result: result["verdict"].update(state="failed"), "its verdict is not"),
    "a title": (lambda result: result["verdict"].update(title="Fit for everything"), "has another title"),
    "a sentence": (lambda result: result["verdict"].update(sentence="All is well."), "has another sentence"),
    "people": (
        lambda result: result.update(exposed={"counted": [{"outcome": 7}], "left_out": []}),
        "the people that it calls exposed",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_a_result_that_contradicts_itself_is_neither_signed_nor_accepted(name: str, fit: Pair):
    change, sentence = LIES[name]
    fit.forge(change)
    with pytest.raises(ResultError, match="contradicts itself: ") as caught:
        signed(fit)
    verification = demanded(fit, of_statement(fit), allow_failed=True)
    assert verification.exit_code == 1
    actual = [one.sentence for one in verification.differences if one.subject == "contradiction"]
    assert any(sentence in one for one in actual)
    assert str(caught.value).endswith("; verify it before you sign it")


@pytest.mark.parametrize("status", ["failed", "measured", "error"])
def test_a_signed_status_is_that_of_its_outcomes(status: str, fit: Pair):
    result = fit.result
    for one in result["outcomes"]:
        one["status"] = status
    assert result["status"] == "passed"
    assert demanded(fit, of_statement(fit, predicate=result)).exit_code == 1
