"""`serve` beside many clients, slow ones and hostile ones among them: each request is answered or refused, nothing leaks, nothing dies."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from loaded import load_into
from many_clients import asked, held
from served import Served, served

from pipeline.warehouse.layout import Warehouse

CAPTURE = Path(__file__).parents[1] / "fixtures" / "captures" / "p1_batches"
#: Path → the statuses that it may get. 503: more answers are asked for at once than the server takes on.
PATHS = {
    "/healthz": {200},
    "/metrics": {200, 503},
    "/metrics/clean": {200, 503},
    "/metrics/clean?topic=persistent://*/orders": {200, 503},
    "/": {200, 503},
    "/v1/why?all=true": {200, 503},
    "/readyz": {200, 503},
    "/v1/explain": {400},
    "/v1/explain?topic=%3Cscript%3E": {404, 503},
    "/admin/v2/persistent/shop/eu/nobody/stats": {404, 503},
    "/nowhere": {404},
    "/static/x/..%2f..%2fpage.js": {404},
}


#: Threads that the server makes when it first needs them, and keeps: for answers, and to look at the tables.
MORE_THREADS = 4


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return load_into(CAPTURE, tmp_path_factory.mktemp("served") / "w")


@pytest.fixture(scope="module")
def server(loaded: Warehouse) -> Iterator[Served]:
    with served(loaded) as made:
        made.get("/metrics")
        yield made


@pytest.mark.parametrize(
    ("requests", "at_once"),
    [
        (400, 60),
        pytest.param(
            10_000, 400,
            marks=pytest.mark.slow(reason="half a minute of both cores; the same with 400 requests runs by default"),
        ),
    ],
)  # fmt: skip
def test_requests_beside_slow_readers_and_half_open_ones_are_all_answered(server: Served, requests: int, at_once: int) -> None:
    threads, files = threading.active_count(), open_files()
    with (
        held(server.port, b"", at_once // 8),
        held(server.port, b"GET /v1/why HTTP/1.1\r\nHost: x\r\nX-Slow: ", at_once // 8),
        held(server.port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20, at_once // 8),
    ):
        found = asyncio.run(asked(server.port, list(PATHS), requests, at_once))
    assert sum(found.values()) == requests
    assert {(path, status) for path, status in found if status not in PATHS[path]} == set()
    assert all(found[path, 200] for path, statuses in PATHS.items() if 200 in statuses)
    until = time.monotonic() + 30
    while (server.answers.at_work or open_files() > files) and time.monotonic() < until:
        time.sleep(0.05)
    assert server.answers.at_work == 0
    assert threading.active_count() <= threads + MORE_THREADS
    assert open_files() <= files, "no connection is left"
    assert server.get("/healthz") == (200, "ok\n")


def open_files() -> int:
    """Of this process, the server among it."""
    return len(os.listdir("/proc/self/fd"))


HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /healthz?" + b"x" * 40_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        HEAD + b"X: " + b"y" * 40_000 + b"\r\n\r\n",
        HEAD + b"X: y\r\n" * 5_000 + b"\r\n",
        HEAD + b"X" * 20_000 + b": y\r\n\r\n",
        HEAD + b"Cookie: a=" + b"z" * 17_000 + b"\r\n\r\n",
    ],
    ids=["query", "value", "many", "name", "a little more than there may be"],
)
def test_a_head_that_is_too_long_is_refused(server: Served, request_bytes: bytes) -> None:
    assert server.raw(request_bytes).startswith((b"HTTP/1.1 400", b"HTTP/1.1 431"))
    assert server.get("/healthz") == (200, "ok\n")


def test_a_head_that_is_nearly_too_long_is_answered(server: Served) -> None:
    assert server.raw(HEAD + b"X: " + b"y" * 15_000 + b"\r\n\r\n").startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/static/../../../../etc/passwd",
        "/static/x/..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/static/x/%2e%2e%5c%2e%2e%5cpage.js",
        "/%",
        "/%zz",
        "/%00",
        "/v1/why%2f..%2f..%2fhealthz",
        "/admin/v2/persistent/%2e%2e/%2e%2e/x/stats",
        "/admin/v2/persistent/a/b/%252e%252e/stats",
        "/admin/v2/../../healthz",
        "/at/%2e%2e/admin/v2/clusters",
        "//healthz",
        "/healthz/",
        "/\xff\xfe",
        "http://elsewhere/etc/passwd",
    ],
)
def test_no_path_leads_out(server: Served, path: str) -> None:
    answer = server.raw(b"GET " + path.encode("latin-1") + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer[9:10] in (b"3", b"4"), answer[:200]
    assert b"root:" not in answer
    assert server.get("/healthz") == (200, "ok\n")


@pytest.mark.parametrize(
    "query", ["topic=%", "topic=%zz", "topic=%00", "topic=..%2f..", "topic=%ff", "topic=a&topic=b", "&&&=", "topic=%5b"]
)
def test_no_query_makes_it_fail(server: Served, query: str) -> None:
    for path in ("/metrics/clean", "/v1/explain", "/topic"):
        answer = server.raw(f"GET {path}?{query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 4")), (path, answer[:200])
