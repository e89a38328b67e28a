"""Files that are read and gone leave the log of Spark's file source; nothing else does, and the query goes on from it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from test_ingest_files import capture_lines, write

from pipeline.ingest import query
from pipeline.ingest.source_log import files_until, planned_files
from pipeline.ingest.source_log_cleanup import forget_gone_files
from pipeline.settings import load_settings

INTERVAL = "spark.sql.streaming.fileSource.log.compactInterval"


@pytest.fixture
def compacts_often(spark: SparkSession) -> Iterator[None]:
    """Each second file of the log has all before it."""
    spark.conf.set(INTERVAL, "2")
    yield
    spark.conf.unset(INTERVAL)


def log_files(checkpoint: str) -> list[Path]:
    return sorted(Path(checkpoint.removeprefix("file:"), "sources", "0").glob("*.compact"), key=lambda file: int(file.stem))


@pytest.mark.usefixtures("compacts_often")
def test_what_is_gone_is_forgotten_and_nothing_is_read_twice(spark: SparkSession, tmp_path: Path, ingest_into: Callable) -> None:
    lines, events = capture_lines(), tmp_path / "events"
    ingest = ingest_into(events)
    for number in range(4):
        write(events / f"{number} %20.jsonl", b"\n".join(lines[number::5]) + b"\n")
        ingest.run()
    (events / "0 %20.jsonl").unlink()
    (events / "2 %20.jsonl").unlink()
    newest = log_files(ingest.warehouse.checkpoint("ingest"))[-1]
    assert newest.name == "3.compact"

    assert forget_gone_files(ingest.warehouse, "ingest") == 2
    assert forget_gone_files(ingest.warehouse, "ingest") == 0
    assert files_until(ingest.warehouse, "ingest", 3) == {f"file:{events}/{number} %20.jsonl" for number in (1, 3)}

    write(events / "4.jsonl", b"\n".join(lines[4::5]) + b"\n")
    ingest.run()
    assert sorted(row.seq for row in ingest.rows("dispatch_events", "seq")) == list(range(1, len(lines) + 1))
    assert planned_files(ingest.warehouse, "ingest", 4) == [f"file:{events}/4.jsonl"]
    write(events / "5.jsonl", b"\n")
    ingest.run()
    assert files_until(ingest.warehouse, "ingest", 5) == {
        f"file:{events}/{name}" for name in ("1 %20.jsonl", "3 %20.jsonl", "4.jsonl", "5.jsonl")
    }, "Spark compacted what was left"


@pytest.mark.usefixtures("compacts_often")
def test_files_of_an_unfinished_micro_batch_stay(spark: SparkSession, tmp_path: Path, ingest_into: Callable) -> None:
    events = tmp_path / "events"
    ingest = ingest_into(events)
    for number in range(2):
        write(events / f"{number}.jsonl", capture_lines()[number] + b"\n")
        ingest.run()
    ingest.lose_last_commit()
    for number in range(2):
        (events / f"{number}.jsonl").rename(tmp_path / f"{number}.jsonl")
    assert forget_gone_files(ingest.warehouse, "ingest") == 1
    assert planned_files(ingest.warehouse, "ingest", 1) == [f"file:{events}/1.jsonl"]
    (tmp_path / "1.jsonl").rename(events / "1.jsonl")
    ingest.run()
    assert sorted(row.seq for row in ingest.rows("dispatch_events", "seq")) == [1, 2]


@pytest.mark.usefixtures("compacts_often")
@pytest.mark.parametrize("archives", [True, False])
def test_a_job_with_an_archive_forgets(
    spark: SparkSession, tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch, *, archives: bool
) -> None:
    """Without one, files that somebody else took away are remembered: they may come back."""
    monkeypatch.setattr(query, "EVERY_BATCHES", 1)
    events = tmp_path / "events"
    settings = load_settings(None, [f"ingest.archive_folder={tmp_path / 'archive'}"] if archives else [], {})
    ingest = replace(ingest_into(events), settings=settings)
    for number in range(4):
        write(events / f"{number}.jsonl", capture_lines()[number] + b"\n")
        ingest.run()
        if not archives:
            (events / f"{number}.jsonl").unlink()
    seen = {file.rpartition("/")[2] for file in files_until(ingest.warehouse, "ingest", 3)}
    assert seen == ({"2.jsonl", "3.jsonl"} if archives else {f"{number}.jsonl" for number in range(4)})


def test_a_log_that_was_never_compacted_stays(spark: SparkSession, tmp_path: Path, ingest_into: Callable) -> None:
    write(tmp_path / "events" / "a.jsonl", capture_lines()[0] + b"\n")
    ingest = ingest_into(tmp_path / "events").run()
    (tmp_path / "events" / "a.jsonl").unlink()
    assert forget_gone_files(ingest.warehouse, "ingest") == 0
