"""Tables that `backfill` swaps and `maintain` cleans while answers are computed: each is right, of before or of after, or a clear 503."""

import asyncio
import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from loaded import load_into
from query.conftest import append
from served import Served, served

from pipeline.query.room import ReadingRoom
from pipeline.serving.answers import Answers, Bounds
from pipeline.serving.metrics.text import metrics_text
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import WRITTEN_BY, Warehouse
from schemas.tables import TABLES_BY_NAME

CAPTURE = Path(__file__).parents[1] / "fixtures" / "captures" / "p1_batches"
#: No answer is kept: each request is computed.
NOTHING_KEPT = Bounds(most_kept_bytes=0, look_every_s=0.02)
PRODUCERS, BACKLOG = "SELECT sum(producers) AS n FROM topic_backlog", "SELECT sum(msg_backlog) AS n FROM subscription_backlog"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    load_into(CAPTURE, tmp_path_factory.mktemp("swapped") / "w")
    return tmp_path_factory.getbasetemp() / "swapped0" / "w"


@pytest.fixture
def warehouse(loaded: Path, tmp_path: Path) -> Warehouse:
    shutil.copytree(loaded, tmp_path / "w")
    return Warehouse(f"file:{tmp_path}/w")


def delta_of(warehouse: Warehouse, table: str) -> DeltaTable:
    return DeltaTable(warehouse.table(table))


def swap(warehouse: Warehouse, table: str, column: str) -> None:
    """One commit that adds 1 to each value, as a backfill's: its writer reports that it is no blind append."""
    delta_of(warehouse, table).update({column: f"{column} + 1"})
    log = Path(warehouse.table(table).removeprefix("file:")) / "_delta_log"
    entry = log / f"{delta_of(warehouse, table).version():020}.json"
    lines = [json.loads(line) for line in entry.read_text("utf-8").splitlines()]
    for line in lines:
        line.get("commitInfo", {})["isBlindAppend"] = False
    entry.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def end_of_backfill(warehouse: Warehouse) -> None:
    """The row that makes its swaps count."""
    of_it = {"reason": "asked", "swapped": True, "finished_at": datetime.now(UTC) + timedelta(seconds=1), "settings": []}
    append(warehouse, "backfills", [of_it])


def merge_and_clean(warehouse: Warehouse) -> None:
    """As `maintain` does it with files that nobody has needed for a week."""
    for table in WRITTEN_BY["lanes"]:
        delta = delta_of(warehouse, table)
        delta.optimize.compact()
        time.sleep(0.002)  # in the millisecond of a commit nothing is older than now
        delta.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)


def one_more_row(warehouse: Warehouse, table: str) -> None:
    """A second file, so that there is something to merge; with values that no answer shows."""
    (row, *_) = ReadingRoom(warehouse).rows(f"SELECT * FROM {table} LIMIT 1")
    append_rows(warehouse, TABLES_BY_NAME[table], [{**row, "broker": "elsewhere:8080"}])


@contextmanager
def asking(server: Served, *paths: str) -> Iterator[list[tuple[str, int, Any]]]:
    """What a client gets that asks for these paths all the time."""
    found: list[tuple[str, int, Any]] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            found.extend((path, *server.get(path)) for path in paths)

    client = threading.Thread(target=ask)
    client.start()
    try:
        yield found
    finally:
        done.set()
        client.join()


def test_an_answer_during_a_backfill_is_of_before_or_of_after(warehouse: Warehouse) -> None:
    with served(warehouse, NOTHING_KEPT) as server:
        (_, before) = server.get("/metrics")
        with asking(server, "/metrics") as found:
            swap(warehouse, "topic_backlog", "producers")
            amid = len(found)
            while len(found) < amid + 3:
                time.sleep(0.01)
            swap(warehouse, "subscription_backlog", "msg_backlog")
            end_of_backfill(warehouse)
            deadline = time.monotonic() + 20
            while found[-1][2] == before:
                assert time.monotonic() < deadline, "the swapped rows are not seen"
                time.sleep(0.01)
    after = metrics_text(ReadingRoom(warehouse, consistent=True))
    assert after != before
    assert {(status, text) for _, status, text in found if status != 503} == {(200, before), (200, after)}
    assert all("reason" in answer for _, status, answer in found if status == 503)


def test_answers_go_on_while_files_are_merged_and_deleted(warehouse: Warehouse) -> None:
    for table in ("topic_backlog", "subscription_backlog", "subscription_causes", "subscription_throttle"):
        one_more_row(warehouse, table)
    manifest = max(ReadingRoom(warehouse).rows("SELECT * FROM batch_manifest WHERE query = 'lanes'"), key=lambda row: row["batch_id"])
    versions = {name: str(ReadingRoom(warehouse).version(name)) for name in dict(manifest["table_versions"])}
    append_rows(warehouse, TABLES_BY_NAME["batch_manifest"], [{**manifest, "batch_id": 1, "table_versions": versions}])
    room = ReadingRoom(warehouse, consistent=True)
    with served(warehouse, NOTHING_KEPT) as server:
        expected = {path: server.get(path) for path in ("/metrics", "/v1/why")}
        with asking(server, *expected) as found:
            merge_and_clean(warehouse)
            cleaned = len(found)
            while len(found) < cleaned + 4:
                time.sleep(0.01)
    with pytest.raises(Exception, match="is gone while it was read"):
        room.rows("SELECT * FROM topic_backlog")  # the files of before are gone indeed
    for path, status, answer in found:
        assert (status, answer) == expected[path] or (status == 503 and "ask again" in answer["reason"])
    assert [status for _, status, _ in found[-4:]] == [200] * 4


def test_an_answer_whose_files_go_between_two_of_its_queries_is_computed_anew_as_a_whole(warehouse: Warehouse) -> None:
    """It does not have one half of before and one of after."""
    begun: list[int] = []

    def two_queries(room: ReadingRoom) -> str:
        producers = room.rows(PRODUCERS)[0]["n"]
        if not begun:
            begun.append(producers)
            for table, column in (("topic_backlog", "producers"), ("subscription_backlog", "msg_backlog")):
                swap(warehouse, table, column)
            end_of_backfill(warehouse)
            time.sleep(0.002)
            delta_of(warehouse, "subscription_backlog").vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
        return json.dumps([producers, room.rows(BACKLOG)[0]["n"]])

    async def ask() -> bytes:
        answers = Answers(warehouse, Bounds())
        try:
            return (await answers.of("two", two_queries)).body
        finally:
            answers.close()

    before = [ReadingRoom(warehouse, consistent=True).rows(sql)[0]["n"] for sql in (PRODUCERS, BACKLOG)]
    assert json.loads(asyncio.run(ask())) == [ReadingRoom(warehouse, consistent=True).rows(sql)[0]["n"] for sql in (PRODUCERS, BACKLOG)]
    assert begun == before[:1], "it had read the first table as it was"
