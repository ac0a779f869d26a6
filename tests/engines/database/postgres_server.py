"""A PostgreSQL server of the tests' own: a private folder, a Unix socket, one user with a password."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOT_ROOT = {"user": "nobody"} if os.getuid() == 0 else {}  # PostgreSQL refuses root
USER, PASSWORD = "svc-zq-reader", "s3cret-of-the-server"
TEMPLATES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
SETTINGS = {
    "listen_addresses": "''",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_wal_size": "4GB",
}


def binaries() -> Path | None:
    """The folder of the server's programs; None where PostgreSQL is not installed."""
    result = shutil.which("postgres")
    folders = [*TEMPLATES, *([Path(result).parent] if result else [])]
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


@dataclass
class Server:
    """A server that runs until `stop`."""

    folder: Path
    bin: Path

    @classmethod
    def start(cls, **settings: str) -> Server:
        """A new server with an empty database `audits`."""
        folder = Path(tempfile.mkdtemp(prefix="tcdp-pg-", dir="/tmp"))
        if os.getuid() == 0:
            shutil.chown(folder, "nobody")
        server = cls(folder, binaries() or Path())
        password = folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        server._run("initdb", "-U", USER, "-A", "scram-sha-256", f"--pwfile={password}", "-EUTF8",
                    "--no-sync", "--locale=C.UTF-8")  # fmt: skip
        chosen = {**SETTINGS, **settings}
        options = " ".join(f"-c {name}={value}" for name, value in chosen.items())
        server._run("pg_ctl", "-w", "-o", f"-k {folder} {options}", "-l", folder / "log", "start")
        return server

    def _run(self, program: str, *arguments: str | Path, check: bool = True) -> None:
        command = [self.bin / program, "-D", self.folder / "data", *arguments]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, check=check, cwd=self.folder, **NOT_ROOT, **quiet)

    def url(self, table: str = "", **query: str) -> str:
        """The address of the database, or of a table in it."""
        given = {"host": str(self.folder), **({"table": table} if table else {}), **query}
        return f"postgresql://{USER}:{PASSWORD}@/postgres?" + "&".join(f"{k}={v}" for k, v in given.items())

    @property
    def postmaster(self) -> int:
        """The process id of the server's first process."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def kill(self) -> None:
        """End the first process at once, as a crash would, and its children with it."""
        os.kill(self.postmaster, signal.SIGKILL)

    def stop(self) -> None:
        """End it and remove its folder."""
        self._run("pg_ctl", "-m", "immediate", "stop", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
