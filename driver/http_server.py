"""The HTTP server of `serve`: uvicorn, within bounds that a stranger cannot stretch."""

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

#: From the first byte of a request to its last one, and from an answer to the next request.
REQUEST_S = 10
MOST_CONNECTIONS = 1_000
MOST_HEAD_BYTES = 16_384


@dataclass(frozen=True)
class Listening:
    """Where requests come in; `certificate` and `key` are files in PEM, or None without TLS."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None


class ImpatientProtocol(H11Protocol):
    """uvicorn waits for ever for the rest of a request that has begun, or never begins. This one hangs up after REQUEST_S."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """A part of a request, or more than one, has come."""
        super().data_received(data)
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering and self._patience is not None:
            self._patience.cancel()
            self._patience = None
        elif not is_answering and self._patience is None:
            self._wait()

    def on_response_complete(self) -> None:
        """An answer is sent."""
        super().on_response_complete()
        if self._patience is None and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Either side has hung up."""
        if self._patience is not None:
            self._patience.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._patience = self.loop.call_later(REQUEST_S, self._hang_up)

    def _hang_up(self) -> None:
        self._patience = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()


def serve(app: Any, at: Listening) -> bool:
    """Answer requests until SIGTERM or Ctrl-C; what is being answered then is finished. False if the place cannot be listened at."""
    server = server_of(app, at)
    server.run()
    return server.started


def server_of(app: Any, at: Listening) -> uvicorn.Server:
    """A server that is not started yet."""
    config = uvicorn.Config(
        app,
        host=at.host,
        port=at.port,
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
        ssl_certfile=None if at.certificate is None else str(at.certificate),
        ssl_keyfile=None if at.key is None else str(at.key),
        ssl_version=ssl.PROTOCOL_TLS_SERVER,
    )
    return uvicorn.Server(config)
