"""A workbench that runs, on a small table with its policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from workbench_client import Client, running, write_policy, write_table

from tcdp_audit.studio.release import Signer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table, its hierarchies and its policy."""
    write_table(tmp_path)
    write_policy(tmp_path)
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    """A client that has entered a workbench on the table."""
    with running(folder) as one:
        yield one


@pytest.fixture
def signer(folder: Path) -> Signer:
    """A private key; the public one is in the folder."""
    pytest.importorskip("securesystemslib")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(*plain))
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (folder / "public.pem").write_bytes(public)
    return Signer.of(str(folder / "key.pem"), lambda: b"")
