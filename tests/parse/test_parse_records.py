"""Records of a topic are parsed as the lines of a file are."""

import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sources.parse.file import parse_stream
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.records import parse_records

LIMITS = ParseLimits(4096, 1024, 512)
_GOOD = b'{"v":1,"broker":"b:1","epoch":1700000000000,"seq":1,"ts":1700000000000000,"type":"heartbeat","dropped":0}'
_LINES = st.sampled_from([_GOOD, b"", b" ", b"rubbish", b"[]", _GOOD.replace(b'"seq":1', b'"seq":0'), b"\xff", b"{}", _GOOD + b" "])


@given(st.lists(_LINES, max_size=12))
def test_as_the_lines_of_a_file(lines: list[bytes]) -> None:
    of_file = list(parse_stream(io.BytesIO(b"\n".join([*lines, b""])), "f.jsonl", LIMITS))
    of_topic = list(parse_records(list(lines), np.arange(1, len(lines) + 1), "f.jsonl", LIMITS))
    for kind in ("events", "rejects"):
        assert [row for block in of_topic for row in getattr(block, kind).to_pylist()] == [
            row for block in of_file for row in getattr(block, kind).to_pylist()
        ]


def test_offsets_are_the_numbers_of_the_lines_and_odd_values_count_once() -> None:
    values = [None, _GOOD, b"two\nlines", _GOOD + b"\n", b"", b"x" * 5000]
    blocks = list(parse_records(values, np.arange(100, 106), "kafka:t/0", LIMITS))
    assert sum(block.lines for block in blocks) == 4
    assert [line for block in blocks for line in block.events.column("source_line").to_pylist()] == [101, 103]
    rejects = [row for block in blocks for row in block.rejects.to_pylist()]
    assert [(row["source_line"], row["reason"]) for row in rejects] == [(102, "not_json"), (105, "text_too_long")]
