"""`serve`: the commands' own documents, over HTTP, of the tables as they are; and what strangers get who ask wrongly or too much."""

import asyncio
import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from loaded import load_into
from served import Served, served

from console.command_line import main
from driver import http_server
from pipeline.query.room import ReadingRoom
from pipeline.serving.answers import Answers, Bounds, Overloaded, TooLong
from pipeline.serving.metrics.text import metrics_text
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES_BY_NAME

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
        append_rows(warehouse, TABLES_BY_NAME["batch_manifest"], [{**manifest, "batch_id": 1, "table_versions": versions}])
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

    def slow(room: ReadingRoom) -> bytes:
        begun.wait(20)
        return b"done"

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

    assert asyncio.run(ask()) == [b"done"] * 3


def test_an_answer_that_takes_too_long_is_given_up(loaded: Warehouse) -> None:
    endless = "SELECT count(*) AS n FROM range(1000000000) a CROSS JOIN range(1000000000) b"
    with served(loaded, Bounds(threads=1, most_s=0.5)) as bounded:

        async def ask() -> None:
            with pytest.raises(TooLong):
                await bounded.answers.of("endless", lambda room: str(room._duckdb.execute(endless).fetchall()).encode())

        asyncio.run(ask())
        assert bounded.get("/readyz")[0] == 200, "the thread is free again"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--listen", "8480"], "expected HOST:PORT"),
        (["--listen", "127.0.0.1:0"], "expected HOST:PORT"),
        (["--listen", "0.0.0.0:8480"], "other machines reach it"),
        (["--listen", "[::]:8480", "--token-file", __file__], "other machines reach it"),
        (["--tls-cert", __file__], "belong together"),
        (["--token-file", "/none"], "--token-file /none: cannot be read"),
        (["--warehouse", "/none"], "there is no warehouse at"),
    ],
)
def test_what_cannot_be_served_is_one_line(loaded: Warehouse, options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--warehouse", loaded.root, *options]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
