"""The likely mistake of a log of which no line is an event: each kind of file that people have, through the parser, to a sentence."""

import gzip
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.sources.parse.file import ParseLimits, parse_stream
from pipeline.sources.parse.no_event import MOST_LINES, Rejected, likely_mistake

START_US = 1_764_064_800_000_000
Event = dict[str, Any]


def events(count: int = 30) -> list[Event]:
    """Events as a collector writes them."""
    return [
        {"v": 1, "broker": "b:8080", "epoch": START_US // 1000, "seq": seq, "ts": START_US + seq, "type": "heartbeat", "dropped": 0}
        for seq in range(1, count + 1)
    ]


def lines_of(change: Callable[[Event], Any] = lambda event: event) -> bytes:
    """A file of the changed events, one a line."""
    return "".join(f"{json.dumps(change(event))}\n" for event in events()).encode()


def rejected(content: bytes, name: str = "events.jsonl") -> list[Rejected]:
    """What the parser says of each line of a file; none of them is an event."""
    blocks = list(parse_stream(io.BytesIO(content), name, ParseLimits()))
    assert sum(block.events.num_rows for block in blocks) == 0
    rows = [row for block in blocks for row in block.rejects.to_pylist()]
    return [Rejected(row["reason"], row["detail"], row["raw"]) for row in rows]


TABLE = "\n".join([",".join(events()[0]), *(",".join(map(str, event.values())) for event in events())]).encode()
PARQUET = io.BytesIO()
pq.write_table(pa.Table.from_pylist(events()), PARQUET)
KINDS = {
    "ts in ms": (lines_of(lambda e: {**e, "ts": e["ts"] // 1000}), f"ts is in milliseconds ({START_US // 1000})"),
    "ts in s": (lines_of(lambda e: {**e, "ts": e["ts"] // 1_000_000}), f"ts is in seconds ({START_US // 1_000_000})"),
    "ts in ns": (lines_of(lambda e: {**e, "ts": e["ts"] * 1000}), "ts is in nanoseconds"),
    "epoch in s": (lines_of(lambda e: {**e, "epoch": e["epoch"] // 1000}), "epoch is in seconds"),
    "epoch in us": (lines_of(lambda e: {**e, "epoch": e["epoch"] * 1000}), "epoch is in microseconds"),
    "ts as a text": (lines_of(lambda e: {**e, "ts": "2026-11-21T11:00:00Z"}), 'ts is a text ("2026-11-21T11:00:00Z")'),
    "one array": (f"[{', '.join(map(json.dumps, events()))}]".encode(), "one JSON array"),
    "an array over lines": (("[" + ",\n".join(map(json.dumps, events())) + "]\n").encode(), "one JSON array"),
    "an array, set out": (json.dumps(events(), indent=2).encode(), "one JSON array"),
    "objects, set out": ("\n".join(json.dumps(event, indent=2) for event in events()).encode(), "takes several lines"),
    "utf-16": (lines_of().decode().encode("utf-16"), "UTF-16"),
    "utf-16 without a mark": (lines_of().decode().encode("utf-16-be"), "UTF-16"),
    "utf-32": (lines_of().decode().encode("utf-32"), "UTF-32"),
    "gzip": (gzip.compress(lines_of()), "is gzip, but its name does not say so: let it end in .jsonl.gz"),
    "zstd": (pa.compress(lines_of(), codec="zstd", asbytes=True), "is zstd, but its name does not say so: let it end in .jsonl.zst"),
    "parquet": (PARQUET.getvalue(), "is Parquet, but its name does not say so: let it end in .parquet"),
    "csv": (TABLE, "between commas"),
    "tsv": (TABLE.replace(b",", b"\t"), "between tabs"),
    "single quotes": ("".join(f"{event}\n" for event in events()).encode(), "single quotes"),
    "a broker's log": (b"2026-11-21T11:00:00,123 [main] INFO  org.apache.pulsar - started\n" * 5, "is it another log"),
    "another version": (lines_of(lambda e: {**e, "v": 2}), "another version: v is 2, expected 1"),
    "other objects": (lines_of(lambda e: {"level": "INFO", "message": "started"}), "v is absent. Is it another log?"),
    "wrapped as text": (lines_of(lambda e: {"offset": 3, "value": json.dumps(e)}), "inside of another object, in its field value"),
    "wrapped": (lines_of(lambda e: {"@timestamp": "t", "event": e}), "inside of another object, in its field event"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_of_another_kind_is_recognised(kind: str) -> None:
    content, words = KINDS[kind]
    assert words in (likely_mistake(rejected(content)[:MOST_LINES]) or "nothing")


@pytest.mark.parametrize(
    "content",
    [
        lines_of(lambda e: {name: value for name, value in e.items() if name != "dropped"}),
        lines_of(lambda e: {**e, "seq": -e["seq"]}),
        lines_of(lambda e: {**e, "ts": 7}),
        lines_of().replace(b":", b"="),
    ],
    ids=["a field is missing", "seq is negative", "ts is no time in any unit", "no JSON"],
)
def test_of_any_other_log_nobody_knows(content: bytes) -> None:
    assert likely_mistake(rejected(content)) is None


def test_without_rejected_lines_there_is_no_mistake() -> None:
    assert likely_mistake([]) is None
