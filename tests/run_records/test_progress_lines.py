"""The line per micro-batch for the person who waits."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from progress_json import progress_json

from driver import watch
from driver.recorder import Recorder
from driver.watch import ProgressLines
from pipeline.upkeep.run_records.outbox import Entry, Outbox

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def lines() -> list[Entry]:
    return []


@pytest.fixture
def recorder(lines: list[Entry]) -> Recorder:
    log = Outbox("watch.log_file", lambda entries, _: lines.extend(entries), 0.01)
    return Recorder("r1", lambda: NOON, Outbox("query_progress", lambda *_: None, 0.01), log)


def tell(recorder: Recorder, text: str) -> None:
    recorder.reports.keep(text)


def tracker(*tasks_of_stages: int) -> Any:
    """Spark's tracker with stages of so many tasks; of the first stage one is done."""
    stages = [SimpleNamespace(numTasks=tasks, numCompletedTasks=int(k == 0)) for k, tasks in enumerate(tasks_of_stages)]
    return SimpleNamespace(getActiveStageIds=lambda: list(range(len(stages))), getStageInfo=stages.__getitem__)


def closed(recorder: Recorder) -> None:
    recorder.close(Outbox("run_ledger", lambda *_: None, 0.01))


def test_a_micro_batch_is_a_line_with_its_rows_seconds_and_what_waits(recorder: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    speaking = ProgressLines(recorder, {}, tracker())
    recorder.after_micro_batch("lanes", 7, {"rows_in": 1600, "newest_ts": 0})
    tell(recorder, progress_json("lanes", 7))
    tell(recorder, progress_json("ingest", 3, sources=[]))
    speaking.speak()
    speaking.speak()
    closed(recorder)
    assert capsys.readouterr().out.splitlines() == [
        "lanes  micro-batch 7: 1,600 events in 3.2 s (500/s), 3 files behind",
        "ingest micro-batch 3: nothing new in 3.2 s",
    ]


def test_a_long_micro_batch_gives_a_sign_of_life_to_person_and_log(
    recorder: Recorder, lines: list[Entry], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    query: Any = SimpleNamespace(isActive=True, status={"isTriggerActive": True, "message": "Processing new data"})
    speaking = ProgressLines(recorder, {"lanes": query}, tracker(2, 3))
    monkeypatch.setattr(watch, "SILENCE_SECONDS", 3600.0)
    monkeypatch.setattr(speaking, "_patience_s", 0.0)
    for _ in range(3):  # the first comes early, the next after a long silence only
        speaking.speak()
    closed(recorder)
    assert capsys.readouterr().out == "lanes  micro-batch 0 still runs: Processing new data (1 of 5 tasks done)\n"
    assert [(line["event"], line["query"], line["micro_batch"], line["message"]) for line in lines] == [
        ("still_runs", "lanes", 0, "Processing new data")
    ]
