"""The quick path says of every line what parse_line says."""

import json
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.sources.parse import block as quick_path
from pipeline.sources.parse.block import parse_text
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.lines import TextBlock
from pipeline.sources.parse.outcome import ParsedBlock, assemble, parse_singly

LIMITS = ParseLimits()
VALUES = [
    b"null", b"NaN", b"-Infinity", b"1.0", b"1e3", b"-1", b"-0", b"01", b"0", b"1 2", b"9223372036854775807", b"9223372036854775808",
    b"true", b"{}", b"[]", b"[1]", b"[null,1]", b'{"a":{"b":null}}', b'"x"', b'""', b'" "', b'"5"', b'"\\u0041"', b'"\\ud800"', b'"a\tb"',
    b'"\xc3\xa9"', b'"\xc3"', b'"{"', b'"}"', b'"|"', b'":"', b'"read"', b'"unknown_type"', b'"classic"', b'"a":1', b"",
]  # fmt: skip
INSERTED = [b" ", b'"', b"{", b"}", b":", b",", b"\t", b"\r", b"null", b"\\", b'"a":1,', b"\x00", b"\n", b"\xef\xbb\xbf", b"\xff"]
WHOLE = [
    b"",
    b" ",
    b"null",
    b"{}",
    b"[]",
    b"5",
    b'""',
    b"{",
    b"}",
    b'{"type":"ack"}',
    b'{"type":"read',
    b'{"v":1}null{}',
    b"null}",
    b'{"v":1}{"v":1}',
]


def line_by_line(text: bytes, first_line: int, limits: ParseLimits = LIMITS) -> ParsedBlock:
    """The block as parse_line alone has it."""
    numbered = [(number, raw) for number, raw in enumerate(text.split(b"\n"), first_line) if raw.strip()]
    numbers = [number for number, _ in numbered]
    slow = parse_singly([raw for _, raw in numbered], list(range(len(numbered))), numbers, "f", limits)
    return assemble([], slow, np.array(numbers, dtype=np.int64), "f", len(numbered))


def assert_same(text: bytes, limits: ParseLimits = LIMITS) -> ParsedBlock:
    quick, slow = parse_text(TextBlock(text, 3), "f", limits), line_by_line(text, 3, limits)
    quick.events.validate(full=True)
    assert quick.lines == slow.lines
    assert quick.rejects.to_pylist() == slow.rejects.to_pylist()
    assert quick.events.equals(slow.events)
    return quick


@st.composite
def damaged(draw: st.DrawFn, raw: bytes) -> bytes:
    """`raw` with one thing wrong, or nothing."""
    place = draw(st.integers(0, len(raw) - 1))
    how = draw(st.sampled_from(["not", "byte", "cut", "insert", "value", "key", "order", "append", "whole"]))
    if how == "byte":
        return raw[:place] + bytes([draw(st.integers(0, 255))]) + raw[place + 1 :]
    if how == "cut":
        return raw[:place] + raw[place + draw(st.sampled_from([1, 2, 30])) :]
    if how == "insert":
        return raw[:place] + draw(st.sampled_from(INSERTED)) + raw[place:]
    if how == "value":
        spans = [match.span(1) for match in re.finditer(rb':("[^"]*"|[^,}]*)', raw)]
        start, end = draw(st.sampled_from(spans))
        return raw[:start] + draw(st.sampled_from(VALUES)) + raw[end:]
    if how in ("key", "order"):
        record = json.loads(raw)
        if how == "key":
            record.pop(draw(st.sampled_from(sorted(record))))
            record[draw(st.sampled_from(["zz", "sub", "settings", "ack_set", "entries", "extra"]))] = draw(
                st.sampled_from([1, None, "x", {}, [1], 1.5])
            )
        else:
            record = dict(draw(st.permutations(list(record.items()))))
        return json.dumps(record, separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (",", " : ")]))).encode()
    if how == "append":
        return raw + draw(st.sampled_from([b"{}", b"null", b" ", b",", b"}", raw, b"null}"]))
    return draw(st.sampled_from(WHOLE)) if how == "whole" else raw


@settings(max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_mutated_real_lines_come_out_as_parse_line_has_them(capture_lines: list[bytes], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(capture_lines), min_size=1, max_size=12))
    text = b"\n".join(data.draw(damaged(raw)) for raw in chosen) + data.draw(st.sampled_from([b"", b"\n"]))
    assert_same(text)
    assert_same(text, ParseLimits(max_line_bytes=280, max_text_bytes=260, raw_bytes=50))


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("kind", [b"publish", b"read", b"ack", b"mark_delete"])
def test_every_field_of_a_line_with_every_odd_value_among_good_neighbours(capture_lines: list[bytes], kind: bytes, value: bytes) -> None:
    good = next(raw for raw in capture_lines if b'"type":"' + kind + b'"' in raw)
    bad = [good[: m.start(1)] + value + good[m.end(1) :] for m in re.finditer(rb':("[^"]*"|[^,}]*)', good)]
    block = assert_same(b"\n".join([good, *bad, good]))
    assert block.events.column("source_line").to_pylist()[0] == 3
    assert block.events.column("source_line").to_pylist()[-1] == 3 + len(bad) + 1


def test_real_lines_take_the_quick_path(capture_lines: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    singly: list[bytes] = []
    original = quick_path.parse_singly
    monkeypatch.setattr(quick_path, "parse_singly", lambda raws, *rest: singly.extend(raws) or original(raws, *rest))
    block = parse_text(TextBlock(b"\n".join(capture_lines), 1), "f", LIMITS)
    assert block.events.num_rows == len(capture_lines)
    assert {json.loads(raw)["type"] for raw in singly} <= {"broker_start", "dispatch_rate"}


@pytest.mark.parametrize("damage", [b'"ledger":x', b'"ledger":"5"', b'"ledger":1.0', b'"ledger":5,"ledger":5', b'"ledger":5,"new":1'])
def test_a_damaged_line_does_not_send_its_neighbours_to_the_slow_path(
    capture_lines: list[bytes], damage: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = [raw for raw in capture_lines if b'"type":"publish"' in raw]
    refused = re.sub(rb'"ledger":\d+', damage, good[0])
    singly: list[bytes] = []
    original = quick_path.parse_singly
    monkeypatch.setattr(quick_path, "parse_singly", lambda raws, *rest: singly.extend(raws) or original(raws, *rest))
    block = parse_text(TextBlock(b"\n".join([*good, refused, *good]), 1), "f", LIMITS)
    assert singly == [refused]
    assert block.lines == 2 * len(good) + 1
    assert set(block.rejects.column("source_line").to_pylist()) <= {len(good) + 1}


def test_blank_lines_are_not_counted_but_advance_line_numbers(capture_lines: list[bytes]) -> None:
    block = parse_text(TextBlock(b"\n  \n" + capture_lines[5] + b"\n\n\t\n" + capture_lines[6] + b"\n\n", 10), "f", LIMITS)
    assert block.lines == 2
    assert block.events.column("source_line").to_pylist() == [12, 15]
