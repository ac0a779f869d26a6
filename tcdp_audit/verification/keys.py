"""Keys in PEM files: Ed25519, ECDSA on the curves P-256, P-384 and P-521, RSA. Read by cryptography."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.plugin.engine import UsageError

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner, SSlibKey

LIBRARIES = ("securesystemslib", "cryptography")
SHORTEST = 2048  # bits of an RSA key; shorter ones can be broken
FITTING = "an Ed25519, ECDSA (P-256, P-384, P-521) or RSA key in PEM"


def require_libraries() -> None:
    """Require the libraries of keys and signatures; raise a UsageError if one is not installed."""
    if not all(map(find_spec, LIBRARIES)):
        raise UsageError('an attestation needs securesystemslib; pip install "tcdp-audit[attest]"')


def private_key(path: Path, password: Callable[[], bytes]) -> CryptoSigner:
    """The signer of the private key in a file.

    Args:
        path: a private key in PEM, encrypted or not.
        password: called for the password where the key is encrypted.

    Raises:
        UsageError: there is no such key in the file, or the password does not open it.
    """
    require_libraries()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415 - of an extra
    from securesystemslib.signer import CryptoSigner  # noqa: PLC0415 - likewise

    content = _content(path)
    with _refused(path, "private"):
        try:
            key = load_pem_private_key(content, None)
        except TypeError:  # it is encrypted
            key = load_pem_private_key(content, password())
        _require_length(key, path)
        return CryptoSigner(key)


def public_key(path: Path) -> SSlibKey:
    """The public key in a file.

    Raises:
        UsageError: there is no such key in the file.
    """
    require_libraries()
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415 - of an extra
    from securesystemslib.signer import SSlibKey  # noqa: PLC0415 - likewise

    content = _content(path)
    if b"PRIVATE KEY-----" in content:
        raise UsageError(f"{path}: is a private key; `openssl pkey -in KEY.pem -pubout` gives the public one")
    with _refused(path, "public"):
        key = load_pem_public_key(content)
        _require_length(key, path)
        return SSlibKey.from_crypto(key)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


@contextmanager
def _refused(path: Path, kind: str) -> Iterator[None]:
    """Replace the libraries' errors, which may quote the file, by a sentence."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - of an extra

    try:
        yield
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        if "password" in str(error).lower() or "decrypt" in str(error).lower():
            raise UsageError(f"{path}: the password does not open this key") from None
        raise UsageError(f"{path}: no {kind} key to sign with; it must be {FITTING}") from None


def _require_length(key: Any, path: Path) -> None:
    """Refuse RSA keys that can be broken; those of curves have no such length."""
    bits = getattr(key, "key_size", SHORTEST)
    if "RSA" in type(key).__name__ and bits < SHORTEST:
        raise UsageError(f"{path}: an RSA key of {bits:,} bits can be broken; take one of {SHORTEST:,} bits or more")
