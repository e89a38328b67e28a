"""Twice the limit that holds a subscription, in the report: what a replay gives, or why nobody knows."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.what_if_real import Side, side
from console.command_line import main
from pipeline.diagnosis.answer import answer as explained
from pipeline.what_if import answer
from pipeline.what_if.compare import self_check
from pipeline.what_if.doubled import doubled

TOPIC_LIMIT = {"level": "topic", "dimension": "msg", "rate": 50, "period_s": 1.0}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Side:
    """A real broker's topic: its two subscriptions share 50 messages/s, 100 are published each second."""
    return side("topic_rate_50_to_200", "a", tmp_path_factory.mktemp("doubled"))


@pytest.fixture(scope="module")
def document(held: Side) -> dict[str, Any]:
    """Of `explain`, amid its load."""
    at = held.span[0] + timedelta(seconds=40)
    found = explained(held.room, held.changed["topic"], "billing", None, at, timedelta(minutes=1))
    return {**found, "cause": "throttled", "level": "topic", "dimension": "msg", "limits": [TOPIC_LIMIT]}


def test_twice_the_limit_is_replayed_with_its_range(held: Side, document: dict[str, Any]) -> None:
    first, *others = doubled(held.room, document) or []
    assert first.startswith("With topic.dispatch_rate.messages=100: billing: ")
    assert "it would have been" in first
    assert others[-1].startswith("At the end ")
    assert not [line for line in others if "column" in line]


def test_only_a_limiter_that_is_in_force_is_doubled(held: Side, document: dict[str, Any]) -> None:
    assert doubled(held.room, {**document, "cause": "no_permits"}) is None
    assert doubled(held.room, {**document, "limits": []}) is None
    assert doubled(held.room, {**document, "limits": [{**TOPIC_LIMIT, "rate": -1}]}) is None


def test_nobody_knows_where_the_replay_is_not_the_record(held: Side, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = doubled(held.room, {**document, "epoch": document["epoch"] - 1}) or []
    assert line.endswith("not known, because the broker has started anew since.")
    other = self_check(np.full((1, 1), 100), np.zeros((1, 1), dtype=np.int64), (0, 0), (0, 0), 0)
    monkeypatch.setattr(answer, "_checked", lambda *_: other)
    (line,) = doubled(held.room, document) or []
    assert line.endswith("is not the record: its backlog differs by 100% of what it was.")
    assert "would" not in line


def test_the_report_has_it(held: Side, tmp_path: Path) -> None:
    out, warehouse = tmp_path / "r.html", held.room.warehouse.root
    at = (held.span[0] + timedelta(seconds=40)).isoformat()
    assert main(["report", "--at", at, "--window", "1m", "--warehouse", warehouse, "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "<h3>Twice the limit that holds it</h3>" in text
    assert "With topic.dispatch_rate.messages=100: " in text
