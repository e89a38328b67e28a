"""One bad line, one reason: the rule of pipeline/sources/parse/line.py, case by case."""

import json
from typing import Any

import pytest

from pipeline.sources.parse.line import Envelope, ParsedEvent, ParseLimits, Reject, parse_line
from schemas.tables.bronze import REASONS

LIMITS = ParseLimits()
HEARTBEAT: dict[str, Any] = {
    "v": 1,
    "broker": "b:1",
    "epoch": 1_700_000_000_000,
    "seq": 5,
    "ts": 1_700_000_000_000_000,
    "ns": 7,
    "type": "heartbeat",
    "dropped": 0,
}
READ = {**HEARTBEAT, "type": "read", "topic": "t", "sub": "s", "sub_type": "Shared", "want_msgs": 1, "want_bytes": 1}
RATE = {**HEARTBEAT, "type": "dispatch_rate", "msg_rate": 1, "byte_rate": 1, "period_s": 1, "relative": False, "limiter": "classic"}
START = {**HEARTBEAT, "type": "broker_start", "cluster": "c", "version": "4", "settings": {"a": "b"}}
ACK = {**HEARTBEAT, "type": "ack", "topic": "t", "sub": "s", "consumer": 1, "ack_type": "individual", "ledger": 1, "entry": 2}
ENVELOPE = Envelope("b:1", 1_700_000_000_000, 5, 1_700_000_000_000_000, 7)


def line(record: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps({**record, **changes}, separators=(",", ":")).encode()


def without(record: dict[str, Any], name: str) -> bytes:
    return json.dumps({key: value for key, value in record.items() if key != name}).encode()


def changed(record: dict[str, Any], old: bytes, new: bytes) -> bytes:
    raw = line(record)
    assert old in raw
    return raw.replace(old, new)


# (raw line, reason, part of the detail, whether the envelope could be read)
REJECTED = [
    (b"{", "not_json", "", False),
    (b"hello", "not_json", "", False),
    (line(HEARTBEAT)[:-5], "not_json", "", False),
    (line(HEARTBEAT) + line(HEARTBEAT), "not_json", "Extra data", False),
    (line(HEARTBEAT) + b"}", "not_json", "Extra data", False),
    (b"\xef\xbb\xbf" + line(HEARTBEAT), "not_json", "", False),
    (changed(HEARTBEAT, b'"dropped":0', b'"dropped":NaN'), "not_json", "NaN", False),
    (changed(HEARTBEAT, b'"dropped":0', b'"x":-Infinity'), "not_json", "Infinity", False),
    (changed(HEARTBEAT, b'"dropped":0', b'"dropped":00'), "not_json", "", False),
    (changed(HEARTBEAT, b'"dropped":0', b'"dropped":0,"dropped":0'), "not_json", 'repeated key "dropped"', False),
    (changed(HEARTBEAT, b'"dropped":0', b'"x":{"a":1,"a":1}'), "not_json", 'repeated key "a"', False),
    (changed(HEARTBEAT, b"b:1", b"b\t1"), "not_json", "control character", False),
    (b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "not_json", "nested deeper", False),
    (changed(HEARTBEAT, b"b:1", b"b\xff1"), "invalid_utf8", "0xff", False),
    (changed(HEARTBEAT, b"b:1", b"b\\ud8001"), "invalid_utf8", "surrogate", False),
    (changed(HEARTBEAT, b'"dropped":0', b'"dropped":0,"x":{"\\udc00":1}'), "invalid_utf8", "surrogate", False),
    (b"[1]", "not_an_object", "[1]", False),
    (b"null", "not_an_object", "null", False),
    (b"1.5", "not_an_object", "1.5", False),
    (b"{}", "missing_envelope_field", "v", False),
    (without(HEARTBEAT, "seq"), "missing_envelope_field", "seq", False),
    (line(HEARTBEAT, broker=None), "missing_envelope_field", "broker", False),
    (without(HEARTBEAT, "type"), "missing_envelope_field", "type", True),
    (line(HEARTBEAT, v=2), "unknown_version", "v is 2", False),
    (line(HEARTBEAT, v=0, seq=None), "unknown_version", "v is 0", False),
    (line(HEARTBEAT, v=2**70), "unknown_version", "v is", False),
    (line(HEARTBEAT, v="1"), "wrong_type", 'v: "1"', False),
    (line(HEARTBEAT, v=True), "wrong_type", "v: true", False),
    (line(HEARTBEAT, v=1.0), "wrong_type", "v: 1.0", False),
    (line(HEARTBEAT, seq="5"), "wrong_type", 'seq: "5" is not a long', False),
    (line(HEARTBEAT, broker=1), "wrong_type", "broker: 1 is not a string", False),
    (line(HEARTBEAT, type=1), "wrong_type", "type: 1", True),
    (line(HEARTBEAT, ns=1.5), "wrong_type", "ns: 1.5", False),
    (changed(HEARTBEAT, b'"dropped":0', b'"dropped":1e3'), "wrong_type", "dropped: 1e3", True),
    (line(HEARTBEAT, dropped=False), "wrong_type", "dropped: false", True),
    (line(HEARTBEAT, topic=["a"]), "wrong_type", "topic", True),
    (line(HEARTBEAT, type="new_type", durable="yes"), "wrong_type", "durable", True),
    (line(START, settings=[]), "wrong_type", "settings", True),
    (line(START, settings={"a": None}), "wrong_type", 'settings."a"', True),
    (line(START, settings={"a": 1}), "wrong_type", 'settings."a"', True),
    (line(ACK, ack_set=1), "wrong_type", "ack_set", True),
    (line(ACK, ack_set=[1, None]), "wrong_type", "ack_set", True),
    (line(ACK, ack_set=[2**63]), "out_of_range", "ack_set", True),
    (line(HEARTBEAT, epoch=0), "out_of_range", "epoch: 0", False),
    (line(HEARTBEAT, ts=-1), "out_of_range", "ts: -1", False),
    (line(HEARTBEAT, ts=253_402_300_799_000_000), "out_of_range", "ts", False),
    (line(HEARTBEAT, seq=0), "out_of_range", "seq: 0", False),
    (line(HEARTBEAT, seq=2**63 - 1), "out_of_range", "seq", False),
    (line(HEARTBEAT, broker=""), "out_of_range", "broker is empty", False),
    (line(READ, sub=""), "out_of_range", "sub is empty", True),
    (line(HEARTBEAT, dropped=-1), "out_of_range", "dropped: -1", True),
    (line(HEARTBEAT, msg_rate=2**63), "out_of_range", "msg_rate", True),
    (changed(HEARTBEAT, b'"dropped":0', b'"dropped":' + b"9" * 5000), "out_of_range", "beyond 64 bits", True),
    (line(READ, want_msgs=2**31), "out_of_range", "want_msgs", True),
    (line(READ, left_bytes=-2), "out_of_range", "left_bytes: -2", True),
    (line(READ, sub_type="shared"), "bad_enum", 'sub_type: "shared"', True),
    (line(HEARTBEAT, phase=""), "bad_enum", "phase", True),
    (without(HEARTBEAT, "dropped"), "missing_field", "heartbeat without dropped", True),
    (line(READ, want_bytes=None), "missing_field", "read without want_bytes", True),
    (line(RATE), "missing_field", "dispatch_rate without level", True),
    (line(RATE, level="topic"), "missing_field", "dispatch_rate without topic", True),
    (line(RATE, level="subscription", topic="t"), "missing_field", "dispatch_rate without sub", True),
    (line(READ, topic="t" * 65_537), "text_too_long", "topic of 65537 bytes", True),
    (line(READ, topic="é" * 40_000), "text_too_long", "topic of 80000 bytes", True),
    (line(START, settings={"a": "b" * 65_537}), "text_too_long", "settings", True),
    (line(HEARTBEAT, other="x" * 65_537), "text_too_long", "unknown fields", True),
    (line(HEARTBEAT, broker="x" * 65_537), "text_too_long", "broker", False),
    (line(HEARTBEAT, other=["x" * 1000] * 2000), "text_too_long", "line of", True),
    (b" " * 2_000_000, "text_too_long", "line of 2000000 bytes", False),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "reason", "detail", "has_envelope"), REJECTED, ids=lambda value: str(value)[:40])
def test_a_line_that_breaks_the_contract_has_its_reason(raw: bytes, reason: str, detail: str, has_envelope: bool) -> None:
    outcome = parse_line(raw, LIMITS)
    assert isinstance(outcome, Reject)
    assert outcome.reason == reason
    assert detail in outcome.detail
    assert outcome.envelope == (ENVELOPE if has_envelope else None)


def test_every_reason_of_a_line_by_itself_has_a_case() -> None:
    """A file is truncated, and a place is taken, by what lies around the line."""
    assert {reason for _, reason, _, _ in REJECTED} == set(REASONS) - {"truncated_file", "seq_taken"}


# (raw line, values that the event must have)
ACCEPTED = [
    (line(HEARTBEAT), {"type_code": 4, "dropped": 0, "seq": 5}),
    (line(HEARTBEAT, pending_bytes=None, topic=None), {"dropped": 0}),
    (changed(HEARTBEAT, b'"dropped":0', b' "dropped" : -0 '), {"dropped": 0}),
    (line(HEARTBEAT, type="new_type"), {"type": "new_type", "type_code": 0, "dropped": 0}),
    (line(HEARTBEAT, type=""), {"type": "", "type_code": 0}),
    (line(HEARTBEAT, topic="t", cause="a\\b\u0000ü"), {"topic": "t", "cause": "a\\b\u0000ü"}),
    (line(HEARTBEAT, topic="😀"), {"topic": "😀"}),
    (line(START), {"settings": {"a": "b"}}),
    (line(START, settings={}), {"settings": {}}),
    (line(ACK, batch_index=-1, ack_set=[-1, 2**63 - 1]), {"ack_set": [-1, 2**63 - 1]}),
    (line(RATE, level="broker"), {"level": "broker"}),
    (line(RATE, level="subscription", topic="t", sub="s", msg_rate=-(2**63)), {"msg_rate": -(2**63)}),
    (line(READ, topic="t" * 65_536), {"topic": "t" * 65_536}),
]


@pytest.mark.parametrize(("raw", "expected"), ACCEPTED, ids=lambda value: str(value)[:40])
def test_a_line_that_keeps_the_contract_is_an_event(raw: bytes, expected: dict[str, Any]) -> None:
    outcome = parse_line(raw, LIMITS)
    assert isinstance(outcome, ParsedEvent)
    assert {name: outcome.values[name] for name in expected} == expected
    assert None not in outcome.values.values()


def test_unknown_fields_are_kept_as_they_came() -> None:
    raw = changed(HEARTBEAT, b'"ns":7', b'"z" : 1.50, "a":[1e400, {"b": null}],"n":null,"\xc3\xa9":"\xc3\xa9\\n","big":' + b"1" * 500)
    outcome = parse_line(raw, LIMITS)
    assert isinstance(outcome, ParsedEvent)
    assert outcome.values["extra"] == '{"z":1.50,"a":[1e400,{"b":null}],"n":null,"é":"é\\n","big":' + "1" * 500 + "}"
    assert "ns" not in outcome.values


def test_the_first_fault_in_contract_order_is_the_reason_whatever_the_order_of_keys() -> None:
    raw = b'{"dropped":-1,"sub":1,"topic":"","type":"heartbeat","ts":1,"seq":5,"epoch":"x","broker":"b","v":1}'
    outcome = parse_line(raw, LIMITS)
    assert isinstance(outcome, Reject)
    assert (outcome.reason, outcome.detail) == ("wrong_type", 'epoch: "x" is not a long')


def test_an_absent_ns_is_derived_for_the_envelope_of_a_reject() -> None:
    outcome = parse_line(line(HEARTBEAT, ns=None, dropped=-1), LIMITS)
    assert isinstance(outcome, Reject)
    assert outcome.envelope is not None
    assert outcome.envelope.ns == HEARTBEAT["ts"] * 1000
