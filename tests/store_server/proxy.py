"""A proxy before a server of these tests. What comes and goes is handed on; each kind of proxy changes some of it.

It is a process of its own: clients may hold Python's lock while they wait for an answer, and a thread beside them could not give it.
"""

import multiprocessing
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected
from multiprocessing.connection import Connection
from pathlib import Path

from s3_server import QuietHandler, QuietServer

_METHODS = ("GET", "HEAD", "PUT", "POST", "PATCH", "DELETE")
_OF_ONE_HOP = ("connection", "expect", "transfer-encoding", "content-length", "keep-alive")
#: The first byte of a client that speaks TLS.
_TLS = b"\x16"


class ProxyHandler(QuietHandler):
    """A client's connection, with TLS or without it, and one to the server, whose port is `behind`."""

    behind: int
    tls: ssl.SSLContext | None = None

    def setup(self) -> None:
        if self.tls is not None and self.request.recv(1, socket.MSG_PEEK) == _TLS:
            self.request = self.tls.wrap_socket(self.request, server_side=True)
        super().setup()
        self._server = HTTPConnection("127.0.0.1", self.behind)

    def finish(self) -> None:
        self._server.close()
        super().finish()

    def serve(self) -> None:
        """Any request."""
        raise NotImplementedError

    def body(self) -> bytes:
        """What came with the request."""
        if self.headers.get("Transfer-Encoding") != "chunked":  # Java's client sends little things so
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def headers_handed_on(self) -> dict[str, str]:
        """Those of the request that concern the server, by their names in small letters."""
        return {name.lower(): value for name, value in self.headers.items() if name.lower() not in _OF_ONE_HOP}

    def asked(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> HTTPResponse:
        """The server's answer to a request. The server ends a connection that was idle: then once more, by another."""
        try:
            return self._asked(method, path, body, headers)
        except (RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self._server.close()
            return self._asked(method, path, body, headers)

    def _asked(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> HTTPResponse:
        self._server.request(method, path, body or None, dict(headers))
        return self._server.getresponse()

    def hand_on(self, answer: HTTPResponse, content: bytes, promised_bytes: int | None = None) -> None:
        """Give the server's answer with this content, or a part of the content that is promised."""
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OF_ONE_HOP]
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(promised_bytes or len(content))
        self.send_response_only(answer.status)
        self.answer([*headers, ("Content-Length", length or "0")], content)


def listening(kind: type[ProxyHandler], port: int = 0) -> QuietServer:
    """A server on this port, or on a free one. A thread serves it until the process ends."""
    for method in _METHODS:
        setattr(kind, f"do_{method}", kind.serve)
    server = QuietServer(("127.0.0.1", port), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@contextmanager
def proxy_before(behind: int, kind: type[ProxyHandler], port: int = 0, certificate: Path | None = None) -> Iterator[int]:
    """A proxy before the server at this port; its own port, which is `port` or a free one.

    `certificate`: a file with a key and a certificate, for clients that speak TLS.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(behind, kind, port, certificate, there), daemon=True)
    process.start()
    there.close()
    try:
        yield here.recv()
    finally:
        process.kill()
        process.join()


def _serve(behind: int, kind: type[ProxyHandler], port: int, certificate: Path | None, control: Connection) -> None:
    kind.behind = behind
    if certificate is not None:
        kind.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        kind.tls.load_cert_chain(certificate)
    control.send(listening(kind, port).server_port)
    with suppress(EOFError):  # nobody needs the proxy any more
        control.recv()
