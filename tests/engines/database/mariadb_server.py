"""A MariaDB server of the tests' own: a private folder, a Unix socket, one user with a password."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql
from postgres_server import PASSWORD, USER

AS_ROOT = ["--user=root"] if os.getuid() == 0 else []
SETTINGS = ("--skip-networking", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M")


def programs() -> tuple[str, str] | None:
    """The server, and what makes its folder of data; None where MariaDB is not installed."""
    folders = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin"
    server, install = (shutil.which(name, path=folders) for name in ("mariadbd", "mariadb-install-db"))
    return None if server is None or install is None else (server, install)


@dataclass
class MariaDB:
    """A server that runs until `stop`."""

    folder: Path
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, *settings: str) -> MariaDB:
        """A new server with a database `audits` and a user who may do all in it."""
        server, install = programs() or ("", "")
        folder = Path(tempfile.mkdtemp(prefix="tcdp-my-", dir="/tmp"))
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        own = ["--no-defaults", f"--datadir={folder}/data", *AS_ROOT]
        subprocess.run([install, *own, "--auth-root-authentication-method=normal"], check=True, **quiet)
        options = [*own, f"--socket={folder}/s", f"--pid-file={folder}/pid", *SETTINGS, *settings]
        started = cls(folder, subprocess.Popen([server, *options], **quiet))
        started._let_in()
        return started

    def _let_in(self) -> None:
        for _ in range(300):
            if not self._listens():  # the driver leaves a socket open that nothing answers
                time.sleep(0.1)
                continue
            try:
                with pymysql.connect(unix_socket=f"{self.folder}/s", user="root") as connection:
                    cursor = connection.cursor()
                    cursor.execute("CREATE DATABASE audits CHARACTER SET utf8mb4")
                    cursor.execute(f"CREATE USER '{USER}'@'localhost' IDENTIFIED BY '{PASSWORD}'")
                    cursor.execute(f"GRANT ALL ON *.* TO '{USER}'@'localhost' WITH GRANT OPTION")
            except pymysql.err.OperationalError:
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise TimeoutError("MariaDB does not answer")

    def _listens(self) -> bool:
        """Whether something answers: a socket's file is there before the server listens on it."""
        with socket.socket(socket.AF_UNIX) as ours:
            try:
                ours.connect(str(self.folder / "s"))
            except OSError:
                return False
        return True

    def run(self, *statements: str) -> None:
        """Let the server do something."""
        given: dict[str, Any] = {"unix_socket": f"{self.folder}/s", "charset": "utf8mb4", "autocommit": True}
        with pymysql.connect(user=USER, password=PASSWORD, database="audits", **given) as connection:
            for statement in statements:
                connection.cursor().execute(statement)

    def url(self, table: str = "", dialect: str = "mariadb", **query: str) -> str:
        """The address of the database, or of a table in it."""
        given = {"unix_socket": f"{self.folder}/s", **({"table": table} if table else {}), **query}
        return f"{dialect}://{USER}:{PASSWORD}@/audits?" + "&".join(f"{k}={v}" for k, v in given.items())

    def stop(self) -> None:
        """End it and remove its folder."""
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
