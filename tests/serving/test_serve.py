"""`serve`: the commands' own documents, over HTTP, of the tables as they are; and what strangers get who ask wrongly or too much."""

import asyncio
import gzip
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from loaded import load_into
from served import PATIENCE_S, Served, running, served
from starlette.applications import Starlette

from console.command_line import main
from driver import http_server
from driver.http_server import Certificate
from pipeline.query.room import ReadingRoom
from pipeline.serving.access import Access
from pipeline.serving.answers import Answer, Answers, Bounds, Overloaded, TooLong
from pipeline.serving.app import build_app
from pipeline.serving.metrics.text import metrics_text
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES_BY_NAME

ROOT = Path(__file__).parents[2]
CAPTURE = Path(__file__).parents[1] / "fixtures" / "captures" / "p1_batches"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return load_into(CAPTURE, tmp_path_factory.mktemp("served") / "w")


@pytest.fixture(scope="module")
def server(loaded: Warehouse) -> Iterator[Served]:
    with served(loaded) as made:
        yield made


def printed(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    capsys.readouterr()
    main(command)
    return capsys.readouterr().out


def test_why_has_the_rows_that_the_command_prints(server: Served, loaded: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "why", "--all", "--format", "json", "--warehouse", loaded.root).splitlines()
    status, answer = server.get("/v1/why", all="true")
    assert status == 200
    # The command prints times as Spark does, with a blank; documents have ISO 8601.
    assert json.loads(json.dumps(answer["subscriptions"]).replace("T", " ")) == json.loads(f"[{','.join(lines)}]".replace("T", " "))
    assert answer["subscriptions_known"] == len(lines) > 0


def test_explain_is_the_commands_document(server: Served, loaded: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    (one, *_) = server.get("/v1/why", all="true")[1]["subscriptions"]
    asked = {"topic": one["topic"], "subscription": one["subscription"]}
    command = ["explain", *asked.values(), "--warehouse", loaded.root, "--format", "json"]
    assert server.get("/v1/explain", **asked) == (200, json.loads(printed(capsys, *command)))
    command.remove(one["subscription"])
    assert server.get("/v1/explain", topic=one["topic"]) == (200, json.loads(printed(capsys, *command)))
    status, earlier = server.get("/v1/explain", **asked, at="2020-01-01T00:00:00Z")
    assert status == 404
    assert "reason" in earlier


def test_metrics_are_the_text_of_the_tables_whole_or_by_namespace(loaded: Warehouse, server: Served) -> None:
    room = ReadingRoom(loaded, consistent=True)
    assert server.get("/metrics") == (200, metrics_text(room))
    assert 'topic="persistent://' in metrics_text(room)
    with served(loaded, topics=False) as of_namespaces:
        assert of_namespaces.get("/metrics") == (200, metrics_text(room, topics=False))
    assert metrics_text(room, topics=False) != metrics_text(room)


def test_long_answers_are_gzipped_for_who_takes_that(server: Served) -> None:
    plain = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    whole, packed = server.raw(plain + b"\r\n"), server.raw(plain + b"Accept-Encoding: gzip\r\n\r\n")
    assert b"content-type: text/plain; version=0.0.4; charset=utf-8" in whole
    assert b"content-encoding: gzip" in packed
    assert len(packed) < len(whole) / 2
    texts = [answer.partition(b"\r\n\r\n")[2] for answer in (whole, packed)]
    assert gzip.decompress(texts[1]) == texts[0]
    assert all(b"vary: accept-encoding" in answer.lower() for answer in (whole, packed)), "caches keep them apart"


@pytest.mark.parametrize(
    ("path", "asked", "status", "words"),
    [
        ("/metrics", {"x": "1"}, 400, "x: not known here; known are none"),
        ("/v1/why", {"al": "true"}, 400, "al: not known here; known are all, at"),
        ("/v1/why", {"all": "yes"}, 400, "all: expected true or false"),
        ("/v1/why", {"at": "yesterday"}, 400, "at yesterday: expected an ISO 8601 time"),
        ("/v1/explain", {}, 400, "topic: name one"),
        ("/v1/explain", {"topic": "t", "subscription": "s", "window": "1y"}, 400, "window 1y: expected a number and its unit"),
        ("/v1/explain", {"topic": "x" * 2_001}, 400, "more than 2,000 characters"),
        ("/v1/explain", {"topic": "'; DROP TABLE x --", "subscription": "<script>"}, 404, "no subscription of a topic"),
        ("/v1/../../etc/passwd", {}, 404, "Not Found"),
        ("/%2e%2e/%00%ff", {}, 404, "Not Found"),
    ],
)
def test_a_wrong_question_is_one_line(server: Served, path: str, asked: dict[str, str], status: int, words: str) -> None:
    found, answer = server.get(path, **asked)
    assert found == status
    assert words in answer["reason"]


def test_nothing_is_written_by_any_method(server: Served) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert server.get("/v1/why", method)[0] == 405


def test_each_request_is_one_entry_of_the_log(server: Served) -> None:
    server.get("/healthz", x="1")
    deadline, entries = time.monotonic() + 10, list[dict[str, Any]]()
    while not entries and time.monotonic() < deadline:  # it is written when the answer is sent
        time.sleep(0.01)
        entries = [entry for entry in server.log if entry["query"] == "x=1" and entry["path"] == "/healthz"]
    (entry,) = entries
    assert {**entry, "ms": 0} == {
        "method": "GET", "path": "/healthz", "query": "x=1", "from": "127.0.0.1", "status": 200, "bytes": 3, "ms": 0,
    }  # fmt: skip


def test_a_token_opens_all_but_health(loaded: Warehouse) -> None:
    with served(loaded, token="secret") as guarded:
        assert guarded.get("/healthz") == (200, "ok\n")
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "secret"}, {"Authorization": "Bearer sécret"}):
            assert guarded.get("/v1/why", headers=headers) == (401, {"reason": "a token is asked for"})
        assert guarded.get("/v1/why", headers={"Authorization": "Bearer secret"})[0] == 200
        assert not any("secret" in str(entry) for entry in guarded.log)


def test_a_new_commit_is_in_the_answers_within_a_second(loaded: Warehouse, tmp_path: Path) -> None:
    shutil.copytree(loaded.root.removeprefix("file:"), tmp_path / "w")
    warehouse = Warehouse(f"file:{tmp_path}/w")
    with served(warehouse) as live:
        (known,) = {row["as_of"] for row in live.get("/readyz")[1]["brokers"]}
        (newest,) = ReadingRoom(warehouse).rows("SELECT * FROM broker_windows ORDER BY window_start DESC LIMIT 1")
        later = {**newest, "log_until": newest["log_until"].replace(year=2030), "window_start": newest["window_start"].replace(year=2030),
                 "window_end": newest["window_end"].replace(year=2030)}  # fmt: skip
        (manifest,) = ReadingRoom(warehouse).rows("SELECT * FROM batch_manifest WHERE query = 'lanes'")
        append_rows(warehouse, TABLES_BY_NAME["broker_windows"], [later])
        versions = {**dict(manifest["table_versions"]), "broker_windows": str(ReadingRoom(warehouse).version("broker_windows"))}
        newest = [{**one, "at": later["log_until"]} for one in manifest["newest_events"]]
        row = {**manifest, "batch_id": 1, "table_versions": versions, "newest_events": newest}
        append_rows(warehouse, TABLES_BY_NAME["batch_manifest"], [row])
        committed = time.monotonic()
        while live.get("/readyz")[1]["as_of"] == known:
            assert time.monotonic() - committed < 5, "the commit is not seen"
        assert live.get("/readyz")[1]["as_of"].startswith("2030")


def test_a_reader_that_never_asks_is_hung_up_on(loaded: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "REQUEST_S", 1.0)
    with served(loaded) as impatient:
        assert impatient.raw() == b""
        assert impatient.raw(b"GET /v1/why HTTP/1.1\r\nHost: x\r\nX-Slow: ") == b""
        whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        assert impatient.raw(whole, whole).count(b"ok\n") == 2
        assert impatient.get("/healthz") == (200, "ok\n")


@pytest.mark.parametrize(
    "bytes_sent", [b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\nX: " + b"y" * 40_000 + b"\r\n\r\n", b"GET /\r\n\r\n", b"\x00" * 100]
)
def test_no_request_at_all_is_refused(server: Served, bytes_sent: bytes) -> None:
    assert server.raw(bytes_sent).startswith((b"HTTP/1.1 400", b""))
    assert server.get("/healthz") == (200, "ok\n")


def test_many_at_once_are_all_answered_alike(server: Served) -> None:
    with ThreadPoolExecutor(50) as readers:
        answers = list(readers.map(lambda _: server.get("/v1/why", all="true"), range(500)))
    assert {status for status, _ in answers} == {200}
    assert len({json.dumps(answer) for _, answer in answers}) == 1


def test_readers_that_hang_up_leave_nothing_behind(server: Served) -> None:
    for _ in range(100):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b"GET /v1/why?all=true HTTP/1.1\r\nHost: x\r\n\r\n")
    deadline = time.monotonic() + 20
    while server.answers.at_work and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server.answers.at_work == 0
    assert server.get("/v1/why")[0] == 200


def test_more_than_can_be_done_is_refused_at_once(loaded: Warehouse) -> None:
    begun = threading.Event()

    def slow(room: ReadingRoom) -> str:
        begun.wait(20)
        return "done"

    async def ask() -> list[object]:
        answers = Answers(loaded, Bounds(threads=1, most_at_once=2))
        first, second = (asyncio.create_task(answers.of(name, slow)) for name in ("a", "b"))
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            await answers.of("c", slow)
        same = asyncio.create_task(answers.of("a", slow))
        await asyncio.sleep(0)
        begun.set()
        found = await asyncio.gather(first, second, same)
        answers.close()
        return found

    assert asyncio.run(ask()) == [Answer(b"done", None)] * 3


def test_an_answer_that_takes_too_long_is_given_up(loaded: Warehouse) -> None:
    endless = "SELECT count(*) AS n FROM range(1000000000) a CROSS JOIN range(1000000000) b"
    with served(loaded, Bounds(threads=1, most_s=2)) as bounded:

        async def ask() -> None:
            with pytest.raises(TooLong):
                await bounded.answers.of("endless", lambda room: str([room.rows(endless) for _ in range(3)]))

        asyncio.run(ask())
        assert bounded.get("/readyz")[0] == 200, "the thread is free again"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--listen", "8480"], "expected HOST:PORT"),
        (["--listen", "127.0.0.1:70000"], "expected HOST:PORT"),
        (["--listen", "192.0.2.1:8480", "--insecure"], "assign requested address"),
        (["--listen", "0.0.0.0:8480"], "other machines reach it"),
        (["--listen", "[::]:8480", "--token-file", __file__], "other machines reach it"),
        (["--tls-cert", __file__], "belong together"),
        (["--tls-cert", __file__, "--tls-key", __file__], "no certificate with its key"),
        (["--token-file", "/none"], "--token-file /none: cannot be read"),
        (["--warehouse", "/none"], "there is no warehouse at"),
    ],
)
def test_what_cannot_be_served_is_one_line(loaded: Warehouse, options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--warehouse", loaded.root, *options]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


TLS = Path(__file__).parents[1] / "fixtures" / "tls"


def test_with_tls_it_answers_whoever_trusts_its_certificate(loaded: Warehouse) -> None:
    """The certificate is a fixture for 127.0.0.1."""
    app = Access(build_app(Answers(loaded, Bounds())), None, lambda entry: None, time.monotonic)
    with running(app, Certificate(TLS / "cert.pem", TLS / "key.pem")) as port:
        trusting = ssl.create_default_context(cafile=str(TLS / "cert.pem"))
        with urllib.request.urlopen(f"https://127.0.0.1:{port}/healthz", context=trusting, timeout=PATIENCE_S) as answer:
            assert answer.read() == b"ok\n"
        with pytest.raises(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE_S)


def test_a_client_that_takes_nothing_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "TAKE_S", 0.5)
    whole = 200_000_000
    is_over = threading.Event()

    async def large(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": bytes(whole), "more_body": True})
            # It waits until the client has taken the answer. This one takes nothing before the server has hung up.
            await send({"type": "http.response.body", "body": b""})
            is_over.set()
        else:
            await Starlette()(scope, receive, send)

    with running(large) as port, socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as idle:
        idle.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert is_over.wait(PATIENCE_S)
        received = 0
        with suppress(ConnectionError):
            while more := len(idle.recv(1_000_000)):
                received += more
        assert received < whole / 2


def test_beyond_the_most_connections_it_refuses_and_then_answers_again(loaded: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 3)
    with served(loaded) as small:
        held = [socket.create_connection(("127.0.0.1", small.port)) for _ in range(3)]
        assert small.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").startswith(b"HTTP/1.1 503")
        for connection in held:
            connection.close()
        deadline = time.monotonic() + 10
        while small.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 503"):
            assert time.monotonic() < deadline


def test_what_is_gone_or_cannot_be_looked_at_is_no_answer(loaded: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is shown as if nobody were behind, and no old answer as if it were new."""
    shutil.copytree(loaded.root.removeprefix("file:"), tmp_path / "w")
    warehouse = Warehouse(f"file:{tmp_path}/w")
    with served(warehouse, Bounds(look_every_s=0.05)) as live:
        assert live.get("/v1/why", all="true")[0] == 200
        shutil.move(tmp_path / "w" / "subscription_causes", tmp_path / "causes")
        for path in ("/v1/explain", "/metrics", "/readyz"):
            status, answer = live.get(path, **({"topic": "t"} if "explain" in path else {}))
            assert status == 503
            assert "table subscription_causes is gone" in answer["reason"]
        shutil.move(tmp_path / "causes", tmp_path / "w" / "subscription_causes")
        assert live.get("/v1/why")[0] == 200

        def refused() -> tuple[int, ...]:
            raise OSError("Generic S3 error: Error performing GET: 503 SlowDown, after 10 retries")

        monkeypatch.setattr(live.answers, "_look", refused)
        deadline = time.monotonic() + 10
        while live.get("/v1/why")[0] == 200:
            assert time.monotonic() < deadline
        assert "the object store failed" in live.get("/v1/why")[1]["reason"]
        monkeypatch.undo()
        while live.get("/v1/why")[0] != 200:
            assert time.monotonic() < deadline + 10


def test_an_answer_without_rows_has_the_reason(server: Served) -> None:
    status, answer = server.get("/v1/why", at="2020-01-01T00:00:00Z")
    assert (status, answer["subscriptions_known"], answer["as_of"]) == (200, 0, None)
    assert answer["reason"] == "no window of the log begins before 2020-01-01T00:00:00Z, or nobody is in it"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_tells_where_it_answers_and_ends_on_request(loaded: Warehouse, number: int) -> None:
    command = [sys.executable, "-m", "jobs", "serve", "--warehouse", loaded.root, "--listen", "127.0.0.1:0"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        assert job.stderr is not None
        said = job.stderr.readline()
        (port,) = re.findall(r"http://127\.0\.0\.1:(\d+)/metrics", said)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE_S) as answer:
            assert answer.read() == b"ok\n"
        job.send_signal(number)
        out, rest = job.communicate(timeout=PATIENCE_S)
    assert (job.returncode, rest) == (0, "")
    assert [json.loads(line)["path"] for line in out.splitlines()] == ["/healthz"]


def test_an_address_that_somebody_else_has_is_one_line(loaded: Warehouse, server: Served, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["serve", "--warehouse", loaded.root, "--listen", f"127.0.0.1:{server.port}"]) == 2
    assert capsys.readouterr().err == f"error: --listen 127.0.0.1:{server.port}: Address already in use\n"
