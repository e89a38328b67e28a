"""A server of `serve` in this process, on a free port of the loopback interface, and requests to it."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from driver.http_server import Certificate, listening_socket, served_beside
from pipeline.serving.access import Access
from pipeline.serving.answers import Answers, Bounds
from pipeline.serving.app import build_app
from pipeline.serving.sessions import Sessions
from pipeline.warehouse.layout import Warehouse

PATIENCE_S = 30


@dataclass
class Served:
    """Where it listens, its answers, and what it logged."""

    port: int
    answers: Answers
    log: list[dict[str, Any]] = field(default_factory=list)

    def get(self, path: str, method: str = "GET", headers: dict[str, str] | None = None, **asked: str) -> tuple[int, Any]:
        """Status, and the JSON of the answer (its text where it is none)."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        client.request(method, f"{path}?{urlencode(asked)}" if asked else path, headers=headers or {})
        answer = client.getresponse()
        text = answer.read().decode()
        client.close()
        return answer.status, json.loads(text) if "json" in answer.headers["content-type"] else text

    def raw(self, *parts: bytes, wait_s: float = PATIENCE_S) -> bytes:
        """What comes back on one connection to these bytes, until the server hangs up."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait_s) as connection:
            for part in parts:
                connection.sendall(part)
            received = b""
            while more := connection.recv(65_536):
                received += more
            return received


@contextmanager
def served(warehouse: Warehouse, bounds: Bounds | None = None, token: str | None = None, **options: Any) -> Iterator[Served]:
    """The server of a warehouse; `options` are those of `build_app`."""
    answers = Answers(warehouse, bounds or Bounds())
    log: list[dict[str, Any]] = []
    sessions = None if token is None else Sessions(token, time.time)
    with running(Access(build_app(answers, **options), sessions, log.append, time.monotonic)) as port:
        yield Served(port, answers, log)


@contextmanager
def running(app: Any, certificate: Certificate | None = None) -> Iterator[int]:
    """A server in a thread, stopped at the end; its port."""
    at = listening_socket("127.0.0.1", 0)
    with served_beside(app, at, certificate):
        yield at.getsockname()[1]
