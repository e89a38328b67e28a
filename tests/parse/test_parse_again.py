"""A rejected line, parsed again: the same rule, row by row, beside what is known of the line."""

import json

import pyarrow as pa

from pipeline.sources.parse.file import ParseLimits
from pipeline.sources.parse.line import ParsedEvent, parse_line
from pipeline.sources.parse.second_parse import parse_again
from schemas.tables.bronze import PARSED_FIELDS

LIMITS = ParseLimits()


def lines(*texts: str | None) -> pa.RecordBatch:
    """Lines 1, 2, … of a file, with a column that is nobody's."""
    count = len(texts)
    columns = {"text": texts, "source_file": ["f"] * count, "source_line": range(1, count + 1), "x": [7] * count}
    schema = pa.schema({"text": pa.string(), "source_file": pa.string(), "source_line": pa.int64(), "x": pa.int64()})
    return pa.RecordBatch.from_pydict(columns, schema=schema)


def test_every_line_gets_its_own_verdict_in_its_place(capture_lines: list[bytes]) -> None:
    good, wrong = capture_lines[5].decode(), json.dumps({**json.loads(capture_lines[6]), "seq": "x"})
    rows = parse_again(lines(wrong, good, None, "{half", good), LIMITS).to_pylist()
    assert [row["new_reason"] for row in rows] == ["wrong_type", None, None, "not_json", None]
    assert [row["new_detail"] is None for row in rows] == [False, True, True, False, True]
    assert [row["event"] is not None for row in rows] == [False, True, False, False, True]
    assert [row["x"] for row in rows] == [7] * 5
    assert [(row["event"]["source_file"], row["event"]["source_line"]) for row in rows if row["event"]] == [("f", 2), ("f", 5)]


def test_an_event_is_what_the_rule_says_whatever_its_type(capture_lines: list[bytes]) -> None:
    rows = parse_again(lines(*(line.decode() for line in capture_lines)), LIMITS).to_pylist()
    names = [field.name for field in PARSED_FIELDS]
    for row, line in zip(rows, capture_lines, strict=True):
        outcome = parse_line(line, LIMITS)
        assert isinstance(outcome, ParsedEvent)
        event = {name: dict(value) if isinstance(value, list) and name == "settings" else value for name, value in row["event"].items()}
        assert list(event) == names
        wanted = {**outcome.values, "source_file": "f", "source_line": row["source_line"]}
        assert {name: value for name, value in event.items() if value is not None} == wanted


def test_a_text_that_is_blank_is_no_event_and_the_others_keep_their_places(capture_lines: list[bytes]) -> None:
    good = capture_lines[5].decode()
    rows = parse_again(lines("", good, " \r", None, '{"a":\n1}', good), LIMITS).to_pylist()
    assert [row["new_reason"] for row in rows] == ["not_json", None, "not_json", None, "missing_envelope_field", None]
    assert [row["event"]["source_line"] if row["event"] else None for row in rows] == [None, 2, None, None, None, 6]


def test_no_lines_are_no_verdicts() -> None:
    assert parse_again(lines(), LIMITS).num_rows == 0
