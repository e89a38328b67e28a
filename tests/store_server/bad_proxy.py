"""A proxy before a real store that misbehaves as it is told, or by a seed. Without a fault it hands on what comes and goes.

But for one thing: bodies that come in chunks are handed on whole, since gofakes3 keeps the marks of some chunks in its objects.
"""

import multiprocessing
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import TracebackType
from urllib.parse import unquote, urlsplit

from proxy import ProxyHandler, listening
from real_store import BUCKET
from s3_server import BUSY, CUT_AFTER, CUT_AMID, CUT_BEFORE, Fault, joined

#: Beside the faults of s3_server: credentials that are over (S3 answers 400, others 403).
EXPIRED, EXPIRED_403 = "expired", "expired 403"
NOW_AND_THEN = (BUSY, CUT_BEFORE, CUT_AFTER)
_REFUSED = {BUSY: (503, "SlowDown"), EXPIRED: (400, "ExpiredToken"), EXPIRED_403: (403, "ExpiredToken")}
_OF_CHUNKS = ("x-amz-decoded-content-length", "x-amz-trailer", "content-encoding")


def nothing(method: str, key: str) -> str | None:
    """A store that behaves."""
    return None


def is_commit(method: str, key: str) -> bool:
    """Whether a request commits to a Delta table."""
    return method == "PUT" and "/_delta_log/" in key and key.endswith(".json")


def is_commit_of_bronze(method: str, key: str) -> bool:
    """Whether a request commits events."""
    return is_commit(method, key) and "/dispatch_events/" in key


def anything(method: str, key: str) -> bool:
    """Every request."""
    return True


@dataclass
class BySeed:
    """A share of all requests fails; which, and how, follows from the seed and the number of the request."""

    seed: int
    share: float
    kinds: tuple[str, ...] = NOW_AND_THEN
    number: int = 0

    def __call__(self, method: str, key: str) -> str | None:
        self.number += 1
        chance = random.Random(f"{self.seed} {self.number}")
        return chance.choice(self.kinds) if chance.random() < self.share else None


@dataclass
class Whenever:
    """Each `every`th request of which the condition holds; with `lasting` all requests from the first of these on."""

    condition: Callable[[str, str], bool]
    kind: str
    every: int = 1
    lasting: bool = False
    number: int = 0

    def __call__(self, method: str, key: str) -> str | None:
        has_begun = self.lasting and self.number >= self.every
        if not has_begun and not self.condition(method, key):
            return None
        self.number += 1
        return self.kind if has_begun or self.number % self.every == 0 else None


class BadProxy:
    """Stands before the store at `behind` (a port), in a process of its own, from `with` to its end.

    Clients may hold Python's lock while they wait for an answer: a thread beside them could not give it.
    """

    def __init__(self, behind: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._control, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(behind, other), daemon=True)
        self.port = 0

    def __enter__(self) -> "BadProxy":
        self._process.start()
        self.port = self._control.recv()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.join()

    @contextmanager
    def misbehaving(self, fault: Fault, delay_s: float = 0.0) -> Iterator[Counter[str]]:
        """Until the end of the block; after it, how often each kind was met. `delay_s`: what each request takes at least."""
        met = Counter[str]()
        self._told(fault, delay_s)
        try:
            yield met
        finally:
            met.update(self._told(nothing, 0.0))

    def _told(self, fault: Fault, delay_s: float) -> Counter[str]:
        self._control.send((fault, delay_s))
        met: Counter[str] = self._control.recv()
        return met


@dataclass
class _State:
    """What the proxy's threads share."""

    fault: Fault = nothing
    delay_s: float = 0.0
    met: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def asked(self, method: str, key: str) -> str | None:
        """The fault of the request that came."""
        with self.lock:
            fault = self.fault(method, key)
            if fault is not None:
                self.met[fault] += 1
            return fault


def _serve(behind: int, control: Connection) -> None:
    """On a free port, until the process is killed or nobody is there to control it."""
    state = _Handler.proxy = _State()
    _Handler.behind = behind
    control.send(listening(_Handler).server_port)
    while True:
        try:
            fault, delay_s = control.recv()
        except EOFError:
            return
        with state.lock:
            control.send(state.met)
            state.fault, state.delay_s, state.met = fault, delay_s, Counter()


class _Handler(ProxyHandler):
    proxy: _State

    def serve(self) -> None:
        """Any request."""
        body = self.body()
        key = unquote(urlsplit(self.path).path).lstrip("/").removeprefix(BUCKET).lstrip("/")
        fault = self.proxy.asked(self.command, key)
        time.sleep(self.proxy.delay_s)
        if fault == CUT_BEFORE:
            self._cut()
        elif fault in _REFUSED:
            status, code = _REFUSED[fault]
            content = f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
            self.send_response_only(status)
            self.answer([("Content-Type", "application/xml"), ("Content-Length", str(len(content)))], content)
        else:
            self._handed_on(body, fault)

    def _handed_on(self, body: bytes, fault: str | None) -> None:
        answer = self.asked(self.command, self.path, *self._as_the_store_takes_it(body))
        content = answer.read()
        if fault == CUT_AFTER:
            self._cut()
            return
        self.hand_on(answer, content[: len(content) // 2] if fault == CUT_AMID else content, len(content))
        if fault == CUT_AMID:
            self._cut()

    def _as_the_store_takes_it(self, body: bytes) -> tuple[bytes, dict[str, str]]:
        headers = self.headers_handed_on()
        if headers.get("x-amz-content-sha256", "").startswith("STREAMING-"):
            kept = {name: value for name, value in headers.items() if name not in _OF_CHUNKS}
            return joined(body), {**kept, "x-amz-content-sha256": "UNSIGNED-PAYLOAD"}
        return body, headers

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(2)
