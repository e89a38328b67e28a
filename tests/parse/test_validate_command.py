"""`validate` names each kind of fault with its lines, and says by its exit status whether there was any."""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.validate import add_arguments, run
from pipeline.sources.parse.block import parse_text
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.lines import TextBlock
from pipeline.sources.validation.seq_ranges import SeqRanges


def validate(*words: str) -> int:
    parser = argparse.ArgumentParser("validate")
    add_arguments(parser)
    return run(parser.parse_args(list(words)))


def facts(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    validate("--json", *words)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_clean_capture_is_clean(tmp_path: Path, capture_lines: list[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "events.jsonl.gz").write_bytes(gzip.compress(b"\n".join(capture_lines)))
    for named in (str(tmp_path), f"{tmp_path}/**/events.jsonl*"):
        assert validate(named) == 0
        assert f"total: {len(capture_lines)} lines = {len(capture_lines)} events + 0 rejected" in capsys.readouterr().out


def test_faults_are_counted_with_their_first_lines(tmp_path: Path, capture_lines: list[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"\n".join([*capture_lines[:3], *[b"bad"] * 12, b"[]", *capture_lines[3:5]]))
    assert validate(str(log)) == 1
    out = capsys.readouterr().out
    assert "not_json: 12 (line 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, …), e.g. Expecting value" in out
    assert "not_an_object: 1 (line 16)" in out
    assert facts(capsys, str(log))["totals"] == {
        "lines": 18,
        "events": 5,
        "rejected": 13,
        "by_reason": {"not_an_object": 1, "not_json": 12},
    }


def test_missing_seq_are_faults_and_duplicates_are_not(
    tmp_path: Path, capture_lines: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    # The captures are two epochs; the first begins with seq 1, 2, 3 …
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([*capture_lines[:10], *capture_lines[4:6]]))
    (tmp_path / "b.jsonl").write_bytes(b"\n".join(capture_lines[13:20]))
    assert validate(str(tmp_path / "a.jsonl")) == 0
    assert validate(str(tmp_path)) == 1
    assert "missing seq 11 … 13" in capsys.readouterr().out
    (epoch,) = facts(capsys, str(tmp_path))["epochs"]
    assert {name: epoch[name] for name in ("first", "last", "missing", "duplicates")} == {
        "first": 1,
        "last": 20,
        "missing": 3,
        "duplicates": 2,
    }


def test_two_logs_of_one_broker_and_epoch_are_a_fault_that_names_both(
    tmp_path: Path, capture_lines: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    """The same event once more is a duplicate; another event with its seq is not."""
    lines = capture_lines[:10]
    other = [json.dumps({**json.loads(line), "broker": json.loads(lines[0])["broker"], "ts": json.loads(line)["ts"] + 1}) for line in lines]
    one, two = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    one.write_bytes(b"\n".join(lines))
    two.write_bytes(b"\n".join([lines[0], *(text.encode() for text in other[1:4]), lines[4], *lines[8:]]))
    assert validate(str(tmp_path)) == 1
    assert f"seq_taken: 3 events of {two} have a seq that another event of {one} has taken, first seq 2 ({two} line 2, {one} line 2)" in (
        capsys.readouterr().out
    )
    (epoch,) = facts(capsys, str(tmp_path))["epochs"]
    assert epoch["duplicates"] == 7
    assert epoch["seq_taken"] == [
        {"file": str(two), "taken_by": str(one), "events": 3, "seq": 2, "line": 2, "taken_by_line": 2},
    ]


def test_within_one_file_a_seq_with_two_contents_is_a_fault(tmp_path: Path, capture_lines: list[bytes]) -> None:
    changed = json.dumps({**json.loads(capture_lines[1]), "colour": "red"}).encode()
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([*capture_lines[:3], capture_lines[1]]))
    assert validate(str(tmp_path)) == 0
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([*capture_lines[:3], changed]))
    assert validate(str(tmp_path)) == 1


def test_a_rejected_line_with_an_envelope_is_not_missing(
    tmp_path: Path, capture_lines: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    record = json.loads(capture_lines[1])
    bad = json.dumps({**record, "level": "galaxy"}).encode()
    assert bad != capture_lines[1]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([capture_lines[0], bad, capture_lines[2]]))
    assert facts(capsys, str(tmp_path))["epochs"][0]["missing"] == 0


def test_unknown_types_and_fields_are_counted_and_allowed(
    tmp_path: Path, capture_lines: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    record = json.loads(capture_lines[0])
    (tmp_path / "a.jsonl").write_text(json.dumps({**record, "type": "hello", "colour": 1}))
    assert validate(str(tmp_path)) == 0
    capsys.readouterr()
    found = facts(capsys, str(tmp_path))
    assert (found["unknown_types"], found["unknown_fields"]) == ({"hello": 1}, {"colour": 1})


def test_parquet_is_validated_too(tmp_path: Path, capture_lines: list[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    events = parse_text(TextBlock(b"\n".join(capture_lines[:50]), 1), "f", ParseLimits()).events
    table = pa.Table.from_batches([events]).drop_columns(["type_code", "extra", "source_file", "source_line"])
    pq.write_table(table, tmp_path / "a.parquet")
    assert validate(str(tmp_path)) == 0
    assert "50 lines, 0 rejected" in capsys.readouterr().out


@pytest.mark.parametrize("content", [None, b"no parquet"])
def test_bad_arguments_are_one_clear_line(tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.parquet"
    if content:
        path.write_bytes(content)
    assert validate(str(path)) == 2
    assert capsys.readouterr().err.count("\n") == 1


@given(st.lists(st.lists(st.integers(1, 60), max_size=20), max_size=6))
def test_ranges_know_what_a_set_knows(batches: list[list[int]]) -> None:
    ranges, seen, repeats = SeqRanges(), set[int](), 0
    for batch in batches:
        ranges.add(np.array(batch, dtype=np.int64))
        for seq in batch:
            repeats += seq in seen
            seen.add(seq)
    assert ranges.duplicates == repeats
    every = [seq for batch in batches for seq in batch]
    repeated = sorted({seq for seq in seen if every.count(seq) > 1})
    assert [seq for seq in range(61) if ranges.repeated.have(np.array([seq]))[0]] == repeated
    assert ranges.repeated.number(np.array(repeated, dtype=np.int64)).tolist() == list(range(len(ranges.repeated)))
    assert ranges.missing() == (max(seen) - min(seen) + 1 - len(seen) if seen else 0)
    assert [seq for start, end in ranges.gaps() for seq in range(start, end + 1)] == [
        s for s in range(min(seen, default=0), max(seen, default=0)) if s not in seen
    ]


def test_each_epoch_shows_its_version_and_what_cannot_be_in_it(
    tmp_path: Path, capture_lines: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    start = json.loads(capture_lines[0])
    newer = {**start, "epoch": start["epoch"] + 1, "log_version": "1.2", "missing_points": ["throttle", "request"]}
    no_start = {**json.loads(capture_lines[1]), "epoch": start["epoch"] + 2}
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, (start, newer, no_start))))
    assert validate(str(tmp_path)) == 0
    old, new, unknown = capsys.readouterr().out.split("\nbroker ")[1:]
    assert "version 1.0, seq 1" in old
    assert "  not in this version: flow, consumer_blocked, " in old
    assert ", read.broker_msgs_tokens, " in old
    assert "version 1.2, seq 1" in new
    assert "not in this version" not in new
    assert new.endswith("  the broker lacks points: throttle, request")
    assert "version unknown" in unknown
    first, second, third = facts(capsys, str(tmp_path))["epochs"]
    assert (first["log_version"], second["log_version"], third["log_version"]) == ("1.0", "1.2", None)
    assert (second["not_in_version"], second["missing_points"]) == ([], ["throttle", "request"])
