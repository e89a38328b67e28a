"""The HTTP server of `serve`: uvicorn, within bounds that a stranger cannot stretch."""

import asyncio
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pipeline.faults import BadConfig
from pipeline.serving.access import MOST_HEAD_BYTES
from pipeline.serving.page.events import PATH as NEWS_PATH

#: From the first byte of a request to its last one, and from an answer to the next request.
REQUEST_S = 10
#: How long a client may take nothing of an answer.
TAKE_S = 20
MOST_CONNECTIONS = 1_000


@dataclass(frozen=True)
class Certificate:
    """Files in PEM: the certificate with its chain, and its key."""

    file: Path
    key: Path


class ImpatientProtocol(H11Protocol):
    """uvicorn waits for ever for the rest of a request, and for a client that takes nothing. This one hangs up."""

    _request: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    # asyncio's base class has the wider type; uvicorn narrows it in the same way.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """A part of a request, or more than one, has come."""
        super().data_received(data)
        if self._is_answering():
            self._stop("_request")
        elif self._request is None:
            self._await_request()

    def on_response_complete(self) -> None:
        """An answer is sent."""
        super().on_response_complete()
        if self._request is None and not self.transport.is_closing():
            self._await_request()

    def pause_writing(self) -> None:
        """The client takes less than is sent."""
        super().pause_writing()
        self._taking = self.loop.call_later(TAKE_S, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has taken what waited."""
        super().resume_writing()
        self._stop("_taking")

    def shutdown(self) -> None:
        """The server ends: whoever waits for news would keep it until its patience ends."""
        super().shutdown()
        if self._is_answering() and self.scope["path"] == NEWS_PATH:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Either side has hung up."""
        self._stop("_request")
        self._stop("_taking")
        super().connection_lost(exc)

    def _stop(self, timer: str) -> None:
        running = getattr(self, timer)
        if running is not None:
            running.cancel()
            setattr(self, timer, None)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _await_request(self) -> None:
        self._request = self.loop.call_later(REQUEST_S, self._hang_up)

    def _hang_up(self) -> None:
        self._request = None
        if not self._is_answering():
            self.transport.abort()


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that clients can connect to from now on. Raises BadConfig with the system's reason."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as fault:
        raise BadConfig(f"--listen {host}:{port}: {_reason(fault)}") from fault


def _reason(fault: OSError) -> str:
    # Not `fault.strerror`: `create_server` adds words of its own to it. A fault of a name has no errno of the system.
    return str(fault) if isinstance(fault, socket.gaierror) or fault.errno is None else os.strerror(fault.errno)


def check_certificate(certificate: Certificate) -> None:
    """Raise BadConfig where TLS cannot use it."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate.file, certificate.key)
    except (OSError, ssl.SSLError) as fault:
        raise BadConfig(f"--tls-cert {certificate.file}, --tls-key {certificate.key}: no certificate with its key: {fault}") from fault


def serve(app: Any, at: socket.socket, certificate: Certificate | None) -> None:
    """Answer requests until SIGTERM or Ctrl-C; running answers are finished first. Main thread only."""
    # At its end uvicorn sends itself the signal that it got; a stop on request is no fault.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server_of(app, certificate).run(sockets=[at])


@contextmanager
def served_beside(app: Any, at: socket.socket, certificate: Certificate | None = None) -> Iterator[None]:
    """Within it a thread answers requests, from the first moment to the last. RuntimeError where the server cannot start."""
    server = server_of(app, certificate)
    thread = threading.Thread(target=server.run, args=[[at]], name="http", daemon=True)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the HTTP server did not start")
            time.sleep(0.01)
        yield
    finally:
        server.should_exit = True
        thread.join()


def wait_for_stop() -> None:
    """Until SIGTERM or Ctrl-C. Main thread only."""
    asked = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked.set())
    asked.wait()


def server_of(app: Any, certificate: Certificate | None = None) -> uvicorn.Server:
    """A server that is not started yet."""
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=ImpatientProtocol,
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=REQUEST_S,
        timeout_graceful_shutdown=REQUEST_S,
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        ssl_certfile=None if certificate is None else str(certificate.file),
        ssl_keyfile=None if certificate is None else str(certificate.key),
    )
    return uvicorn.Server(config)
