"""The recorder never raises and never waits; what it cannot do it tells once, on stderr."""

import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from progress_json import progress_json

from driver import recorder as module
from driver.recorder import INBOX, Recorder
from pipeline.upkeep.run_records.outbox import Entry, Outbox

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
COUNTS = {"rows_in": 16, "newest_ts": 0, "state_bytes": 9}
Write = Callable[[Sequence[Entry], int], None]


def full(_entries: Sequence[Entry], _number: int) -> None:
    raise OSError(28, "No space left on device")


def hanging(_entries: Sequence[Entry], _number: int) -> None:
    threading.Event().wait()


class Kept:
    """A writer, and a recorder over it."""

    def __init__(self, progress: Write | None = None, ledger: Write | None = None) -> None:
        self.rows: list[Entry] = []
        self.lines: list[Entry] = []
        self.lost: list[str | None] = []
        self.ledger = Outbox("run_ledger", ledger or (lambda *_: None), 0.01)
        log = Outbox("watch.log_file", lambda entries, _: self.lines.extend(entries), 0.01)
        self.recorder = Recorder("r1", lambda: NOON, Outbox("query_progress", progress or self._keep, 0.01), log, self.lost.append)

    def _keep(self, entries: Sequence[Entry], _number: int) -> None:
        self.rows.extend(entries)

    def told(self, *progress: str) -> list[Entry]:
        for text in progress:
            self.recorder.reports.keep(text)
        return self.recorder.take()

    def closed(self) -> "Kept":
        self.recorder.close(self.ledger)
        return self


def test_what_the_source_lost_is_reported_to_the_person_the_ledger_and_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept()
    kept.recorder.source_opened("topic t: partition 0 is gone")
    kept.closed()
    assert kept.lost == ["topic t: partition 0 is gone"]
    assert [(line["level"], line["event"], line["lost"]) for line in kept.lines] == [("WARN", "records_lost", *kept.lost)]
    assert capsys.readouterr().out == "WARNING: topic t: partition 0 is gone; going on with what is there (kafka.on_loss = go_on)\n"


def test_a_source_that_lost_nothing_is_only_in_the_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept()
    kept.recorder.source_opened(None)
    kept.closed()
    assert (kept.lost, kept.lines, capsys.readouterr().out) == ([None], [], "")


def test_a_micro_batch_is_told_once_to_the_person_the_table_and_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept()
    kept.recorder.after_micro_batch("lanes", 7, COUNTS)
    assert [(row["query"], row["batch_id"], row["rows_in"]) for row in kept.told(progress_json("lanes", 7))] == [("lanes", 7, 16)]
    assert kept.told() == []
    kept.closed()
    assert [(row["batch_id"], row["rows_in"], row["run_id"]) for row in kept.rows] == [(7, 16, "r1")]
    (line,) = kept.lines
    assert (line["event"], line["query"], line["micro_batch"], line["rows_in"], line["ts"]) == ("micro_batch", "lanes", 7, 16, NOON)
    assert "batch_id" not in line
    assert (kept.recorder.micro_batches, kept.recorder.unrecorded, capsys.readouterr().err) == (1, 0, "")


def test_queries_of_others_and_triggers_without_news_are_none_of_its_business() -> None:
    kept = Kept()
    idle = progress_json("lanes", 8, durationMs={"triggerExecution": 2})
    assert kept.told(progress_json("somebody's", 1), progress_json(None, 2), idle) == []  # type: ignore[arg-type]  # a query without a name
    assert kept.closed().rows == []


def test_a_progress_of_another_form_is_told_and_the_next_one_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept()
    rows = kept.told("{}", "no json", progress_json("ingest", 1))
    assert [row["batch_id"] for row in rows] == [1]
    kept.closed()
    assert capsys.readouterr().err == "WARNING: a progress of Spark was not understood: KeyError: 'name'. The job is not affected\n"


def test_too_many_at_once_push_out_the_oldest_and_are_counted() -> None:
    kept = Kept()
    for batch_id in range(INBOX + 5):
        kept.recorder.after_micro_batch("ingest", batch_id, COUNTS)
    rows = kept.told(*(progress_json("ingest", batch_id) for batch_id in range(INBOX + 5)))
    assert (rows[0]["batch_id"], rows[0]["rows_in"], len(rows)) == (5, 16, INBOX)
    assert kept.recorder.unrecorded == 5
    kept.closed()


@pytest.mark.parametrize("table", ["query_progress", "run_ledger"])
def test_a_full_disk_is_told_once_and_counted(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept(progress=full) if table == "query_progress" else Kept(ledger=full)
    for batch_id in range(3):
        kept.ledger.put({"n": batch_id})
        kept.told(progress_json("ingest", batch_id))
        time.sleep(0.05)
    kept.closed()
    words = f"WARNING: {table} could not be written: [Errno 28] No space left on device. The job is not affected\n"
    assert capsys.readouterr().err == words
    assert kept.recorder.unrecorded == (3 if table == "query_progress" else 0)


def test_a_writer_that_hangs_is_left_behind_at_the_end(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSE_WAIT_S", 0.3)
    kept = Kept(progress=hanging, ledger=hanging)
    kept.ledger.put({"n": 1})
    kept.told(progress_json("ingest", 1))
    began = time.monotonic()
    kept.closed()
    assert 0.3 <= time.monotonic() - began < 5
    assert capsys.readouterr().err.splitlines() == [
        f"WARNING: {name}: its writer hangs and is left behind, 1 entries are not written. The job is not affected"
        for name in ("query_progress", "run_ledger")
    ]
    assert [line["event"] for line in kept.lines] == ["micro_batch"], "the others are written all the same"


def test_the_last_words_of_a_query_are_waited_for_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, query = Kept(), SimpleNamespace(runId="22222222-0000-0000-0000-000000000000")
    queries: Any = [query]
    threading.Timer(0.1, kept.recorder.reports.end, [query.runId]).start()
    began = time.monotonic()
    kept.recorder.wait_for_last_words(queries)
    assert time.monotonic() - began < module.LAST_WORDS_S
    monkeypatch.setattr(module, "LAST_WORDS_S", 0.1)
    queries.append(SimpleNamespace(runId="another, which never ends"))
    kept.recorder.wait_for_last_words(queries)
    kept.closed()
