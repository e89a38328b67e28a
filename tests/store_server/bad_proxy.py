"""A proxy before a real store that misbehaves as it is told, or by a seed. Without a fault it hands on what comes and goes.

But for one thing: bodies that come in chunks are handed on whole, since gofakes3 keeps the marks of some chunks in its objects.
"""

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from real_store import BUCKET
from s3_server import BUSY, CUT_AFTER, CUT_BEFORE, Fault, joined

#: Beside the faults of s3_server: half of the answer comes, and credentials that are over (S3 answers 400, others 403).
CUT_AMID, EXPIRED, EXPIRED_403 = "cut amid", "expired", "expired 403"
NOW_AND_THEN = (BUSY, CUT_BEFORE, CUT_AFTER)
_REFUSED = {BUSY: (503, "SlowDown"), EXPIRED: (400, "ExpiredToken"), EXPIRED_403: (403, "ExpiredToken")}
_METHODS = ("do_GET", "do_HEAD", "do_PUT", "do_POST", "do_DELETE")
_OF_CHUNKS = ("x-amz-decoded-content-length", "x-amz-trailer", "content-encoding")
_OF_ONE_HOP = ("connection", "expect", "transfer-encoding", "content-length", "keep-alive")


def nothing(method: str, key: str) -> str | None:
    """A store that behaves."""
    return None


def by_seed(seed: int, share: float, kinds: tuple[str, ...] = NOW_AND_THEN) -> Fault:
    """A share of all requests fails; which, and how, follows from the seed and the number of the request."""
    numbers = itertools.count()

    def fault(method: str, key: str) -> str | None:
        chance = random.Random(f"{seed} {next(numbers)}")
        return chance.choice(kinds) if chance.random() < share else None

    return fault


def is_commit(method: str, key: str) -> bool:
    """Whether a request commits to a Delta table."""
    return method == "PUT" and "/_delta_log/" in key and key.endswith(".json")


class BadProxy:
    """Stands before the store at `behind` (a port). `fault` and `delay_s` may be changed while it runs; `met` counts faults."""

    def __init__(self, behind: int) -> None:
        self.behind = behind
        self.fault: Fault = nothing
        #: What each request takes at least; others go on meanwhile.
        self.delay_s = 0.0
        self.met: Counter[str] = Counter()
        self.port = 0
        self._lock = threading.Lock()

    def asked(self, method: str, key: str) -> str | None:
        """The fault of the request that came."""
        with self._lock:
            fault = self.fault(method, key)
            if fault is not None:
                self.met[fault] += 1
            return fault

    @contextmanager
    def misbehaving(self, fault: Fault, delay_s: float = 0.0) -> Iterator[Counter[str]]:
        """Until the end of the block; what was met meanwhile."""
        self.met, self.fault, self.delay_s = Counter(), fault, delay_s
        try:
            yield self.met
        finally:
            self.fault, self.delay_s = nothing, 0.0

    @contextmanager
    def serving(self) -> Iterator["BadProxy"]:
        """On a free port."""
        server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": self, **dict.fromkeys(_METHODS, _Handler.serve)})
        )
        server.daemon_threads = True
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()


class _Handler(BaseHTTPRequestHandler):
    proxy: BadProxy
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    #: Head and body go out together: who holds Python's lock while it waits for the body would wait for this thread.
    wbufsize = 1 << 20

    def handle_expect_100(self) -> bool:
        """Java's client waits for it before it sends a body."""
        super().handle_expect_100()
        self.wfile.flush()
        return True

    def log_message(self, *_: Any) -> None:
        """BadProxy counts."""

    def setup(self) -> None:
        super().setup()
        self._store = HTTPConnection("127.0.0.1", self.proxy.behind)

    def finish(self) -> None:
        self._store.close()
        super().finish()

    def serve(self) -> None:
        """Any request."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        key = unquote(urlsplit(self.path).path).lstrip("/").removeprefix(BUCKET).lstrip("/")
        fault = self.proxy.asked(self.command, key)
        time.sleep(self.proxy.delay_s)
        if fault == CUT_BEFORE:
            self._cut()
        elif fault in _REFUSED:
            status, code = _REFUSED[fault]
            content = f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
            self._answer(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(content)))], content)
        else:
            self._hand_on(body, fault)

    def _hand_on(self, body: bytes, fault: str | None) -> None:
        answer = self._asked_store(body)
        content = answer.read()
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OF_ONE_HOP]
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        if fault == CUT_AFTER:
            self._cut()
            return
        self._answer(answer.status, [*headers, ("Content-Length", length or "0")], content[: len(content) // 2] if fault else content)
        if fault == CUT_AMID:
            self._cut()

    def _asked_store(self, body: bytes) -> HTTPResponse:
        """The store ends a connection that was idle: then once more, by another."""
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower() not in _OF_ONE_HOP}
        if headers.get("x-amz-content-sha256", "").startswith("STREAMING-"):
            body, headers = joined(body), {name: value for name, value in headers.items() if name not in _OF_CHUNKS}
            headers["x-amz-content-sha256"] = "UNSIGNED-PAYLOAD"
        headers["content-length"] = str(len(body))
        for connection in (self._store, None):
            if connection is None:
                self._store.close()
            try:
                self._store.request(self.command, self.path, body, headers)
                return self._store.getresponse()
            except (RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                if connection is None:
                    raise
        raise AssertionError

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            try:
                self.wfile.write(content)
                self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):  # who asked has seen enough
                self.close_connection = True

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(2)


Condition = Callable[[str, str], bool]


def whenever(condition: Condition, kind: str, every: int = 1) -> Fault:
    """Each `every`th request of which the condition holds."""
    numbers = itertools.count(1)
    return lambda method, key: kind if condition(method, key) and next(numbers) % every == 0 else None
