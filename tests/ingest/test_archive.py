"""Files that are read move to `ingest.archive_folder`: each once, after its micro-batch was committed, and only what is wanted."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from test_ingest_files import capture_lines, write

from pipeline.faults import BadConfig
from pipeline.ingest.archive import archive_of
from pipeline.settings import load_settings
from pipeline.sources.kind import open_source


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_files_of_committed_micro_batches_leave_and_every_line_is_read_once(tmp_path: Path, ingest_into: Callable) -> None:
    lines, events, archive = capture_lines(), tmp_path / "events", tmp_path / "archive"
    parts = [b"\n".join(lines[start::3]) + b"\n" for start in range(3)]
    write(events / "deep" / "0.jsonl", parts[0])
    write(events / "1.jsonl", parts[1])
    write(events / "2.jsonl.part", b"half a file")
    for age, name in enumerate(("2.jsonl.part", "deep/0.jsonl", "1.jsonl")):
        os.utime(events / name, (age, age))  # Spark takes the oldest file first
    settings = load_settings(None, [f"ingest.archive_folder={archive}", "ingest.max_files_per_batch=1"], {})
    ingest = replace(ingest_into(events), settings=settings).run()
    assert names(events) == ["1.jsonl", "2.jsonl.part"], "files of the newest micro-batch stay until the next one"
    write(events / "2.jsonl.part", parts[2])
    (events / "2.jsonl.part").rename(events / "2.jsonl")
    write(events / "3.jsonl", b"\n")
    write(events / "1.jsonl", parts[1] + b"\n")
    ingest.lose_last_commit()
    ingest.run()

    assert sorted(row.seq for row in ingest.rows("dispatch_events", "seq")) == list(range(1, len(lines) + 1))
    (last,) = set(names(events)) - {"1.jsonl"}
    assert "1.jsonl" in names(events), "it grew after it was read, so somebody has to look at it"
    whole = str(events.relative_to("/"))
    assert names(archive) == sorted(f"{whole}/{name}" for name in {"deep/0.jsonl", "2.jsonl", "3.jsonl"} - {last})
    assert ingest.report_grown() == 1


@pytest.mark.parametrize(
    ("events", "archive", "refused"),
    [
        ("events", "events/done", "lies in --events"),
        ("events/**/*.jsonl", "events/done", "lies in --events"),
        ("events/*.jsonl", "events/done", None),
        ("events", "done", None),
    ],
)
def test_a_folder_that_would_be_read_again_is_refused(
    spark: SparkSession, tmp_path: Path, events: str, archive: str, refused: str | None
) -> None:
    write(tmp_path / "events" / "a.jsonl", b"\n")
    source = open_source(str(tmp_path / events), load_settings(None, [], {}))
    if refused is None:
        assert archive_of(source, tmp_path / archive) is not None
        return
    with pytest.raises(BadConfig, match=refused):
        archive_of(source, tmp_path / archive)


def test_a_source_without_local_files_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    topic = open_source("kafka://localhost:9092/events", load_settings(None, [], {}))
    with pytest.raises(BadConfig, match=r"ingest\.archive_folder: --events has no files"):
        archive_of(topic, tmp_path)
    assert archive_of(topic, None) is None


def test_a_move_that_fails_names_the_setting(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "events" / "a.jsonl", b"1\n")
    write(tmp_path / "archive", b"no folder")
    source = open_source(str(tmp_path / "events"), load_settings(None, [], {}))
    archive = archive_of(source, tmp_path / "archive")
    assert archive is not None
    with pytest.raises(BadConfig, match=r"ingest\.archive_folder: .*a\.jsonl could not be moved"):
        archive(f'[["file:{tmp_path}/events/a.jsonl", 2]]')
