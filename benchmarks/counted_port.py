"""A port of this machine that passes connections on to a server, and counts the bytes that the server sends."""

from __future__ import annotations

import socket
import threading

PIECE = 2**20


class CountedPort:
    """Passes every connection on to a server at a host and a port."""

    def __init__(self, host: str, port: int) -> None:
        self.received = 0
        self._server = (host, port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listening.accept()
            server = socket.create_connection(self._server)
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        comes_back = source.getpeername() == self._server
        while piece := source.recv(PIECE):
            if comes_back:
                self.received += len(piece)
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
