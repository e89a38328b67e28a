"""A log of which no line is an event: `load` ends with 1 and names the likely mistake, and answers speak of quarantine."""

import json
from pathlib import Path

import pytest
from capture_events import write_events
from upkeep_log import capture

from console.command_line import main


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """A small log, whose `ts` are in milliseconds."""
    write_events([{**event, "ts": event["ts"] // 1000} for event in capture("p1_batches")[:50]], tmp_path / "events" / "a.jsonl.gz")
    return tmp_path / "events"


def test_it_ends_with_1_and_a_sentence_and_every_answer_says_it(events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warehouse = ["--warehouse", str(tmp_path / "w")]
    assert main(["load", "--events", str(events), *warehouse]) == 1
    said = capsys.readouterr()
    assert "ingest: 50 lines = 0 events + 50 quarantined" in said.out
    milliseconds = capture("p1_batches")[0]["ts"] // 1000
    words = (
        "no line of the log is an event: all 50 lines were rejected (out_of_range 50); probably ts is in milliseconds "
        f"({milliseconds}), but the log's ts is in microseconds since 1970. See the table quarantine"
    )
    assert said.err == f"error: {words}\n"
    for command in (["why"], ["top"]):
        assert main([*command, *warehouse]) == 0
        assert capsys.readouterr().out == f"{words}\n"
    for command in (["explain", "persistent://a/b/c", "s"], ["report", "--out", str(tmp_path / "r.html")]):
        assert main([*command, *warehouse]) == 2
        assert capsys.readouterr().err == f"error: {words}\n"


def test_an_unknown_mistake_shows_the_first_line_s_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "events" / "a.jsonl"
    log.parent.mkdir()
    log.write_text(json.dumps({**capture("p1_batches")[0], "seq": -1}) + "\n")
    assert main(["load", "--events", str(log.parent), "--warehouse", str(tmp_path / "w")]) == 1
    assert "the only line was rejected (out_of_range 1); the first is out_of_range: seq: -1 is not in 1" in capsys.readouterr().err


def test_one_event_among_rejected_lines_is_a_log(events: Path, tmp_path: Path) -> None:
    write_events(capture("p1_batches")[:1], events / "b.jsonl.gz")
    assert main(["load", "--events", str(events), "--warehouse", str(tmp_path / "w")]) == 0


def test_lines_that_are_blank_are_no_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "events" / "a.jsonl"
    log.parent.mkdir()
    log.write_text("\n\n")
    assert main(["load", "--events", str(log.parent), "--warehouse", str(tmp_path / "w")]) == 0
    assert main(["why", "--warehouse", str(tmp_path / "w")]) == 0
    assert capsys.readouterr().out.endswith("no subscription is in the log yet\n")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"events.jsonl": ""}, "there is nothing to load: events.jsonl is empty"),
        ({"a.jsonl": "", "b.parquet.jsonl.gz": ""}, "there is nothing to load: a.jsonl, b.parquet.jsonl.gz are empty"),
        (
            {"events.json": "{}", "_SUCCESS": ""},
            "there is no file to load: taken are .jsonl, .jsonl.gz, .jsonl.zst and .parquet; there is events.json",
        ),
        ({f"{name}.log": "{}" for name in "abcde"}, "; there are a.log, b.log, c.log and 2 more"),
        ({}, "there is no file to load: taken are .jsonl, .jsonl.gz, .jsonl.zst and .parquet\n"),
    ],
)
def test_a_folder_without_a_file_to_load(tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str], words: str) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    assert main(["load", "--events", str(folder), "--warehouse", str(tmp_path / "w")]) == 2
    assert words in capsys.readouterr().err
