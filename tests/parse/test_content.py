"""Equal contents have equal numbers, whatever file they came from; any change of a field is another number."""

import json
from typing import Any

import numpy as np
import pytest

from pipeline.sources.parse.block import parse_text
from pipeline.sources.parse.content import Hashes, content_hashes
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.lines import TextBlock

EVENT = {"v": 1, "broker": "b:8080", "epoch": 1_764_064_800_000, "seq": 7, "ts": 1_764_064_800_000_001}
ACK = {**EVENT, "type": "ack", "topic": "persistent://a/b/c", "sub": "s", "consumer": 1, "ack_type": "individual", "ledger": 3, "entry": 0}
START = {**EVENT, "type": "broker_start", "cluster": "c", "version": "4.0.8", "settings": {"a": "1", "b": "2"}}


def hashes(*events: dict[str, Any], file: str = "f") -> Hashes:
    """Of events that a file holds, one a line."""
    text = "".join(f"{json.dumps(event)}\n" for event in events).encode()
    block = parse_text(TextBlock(text, 1), file, ParseLimits())
    assert block.rejects.num_rows == 0
    return content_hashes(block.events)


def test_the_same_line_elsewhere_is_the_same_content() -> None:
    other_order = dict(reversed(ACK.items()))
    settings = {**START, "settings": {"b": "2", "a": "1"}}
    assert hashes(ACK, START).tolist() == hashes(other_order, settings, file="g").tolist()
    assert hashes(START)[0] == hashes(ACK, ACK, START)[2]


@pytest.mark.parametrize(
    "change",
    [
        {"ts": ACK["ts"] + 1},
        {"ns": ACK["ts"] * 1000},
        {"topic": "persistent://a/b/d"},
        {"ledger": 0, "entry": 3},
        {"entry": -1},
        {"batch_index": -1, "ack_set": [1, -1]},
        {"batch_index": -1, "ack_set": [-1, 1]},
        {"colour": "red"},
        {"ack_type": "cumulative"},
        {"type": "something_new"},
    ],
)
def test_any_other_field_is_another_content(change: dict[str, Any]) -> None:
    assert hashes(ACK)[0] != hashes({**ACK, **change})[0]


def test_a_setting_is_content() -> None:
    assert hashes(START)[0] != hashes({**START, "settings": {"a": "2", "b": "1"}})[0]


def test_many_contents_have_as_many_numbers() -> None:
    many = hashes(*({**ACK, "ledger": number // 100, "entry": number % 100} for number in range(5_000)))
    assert len(np.unique(many)) == 5_000
