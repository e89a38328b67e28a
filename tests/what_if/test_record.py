"""The record of a broker whose topics are all replayed: reads tell how long storage takes, and those of a few topics are enough."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loaded import load_into

from pipeline.query.room import ReadingRoom
from pipeline.what_if import record
from pipeline.what_if.record import record_of
from sim.run import EVENTS, simulate
from sim.scenario import scenario_of

TOPICS = [f"persistent://shop/eu/orders-{number}" for number in range(3)]
SCENARIO: dict[str, Any] = {
    "title": "reads of a few topics",
    "duration_s": 5,
    "topics": [
        {"name": name, "publish": {"entries_per_s": 20}, "subscriptions": [{"name": "billing", "consumers": [{}]}]} for name in TOPICS
    ],
}


@pytest.mark.parametrize("topic", TOPICS)
def test_reads_are_those_of_the_first_topics_and_of_the_asked_one(topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "TIMED_TOPICS", 1)
    simulate(scenario_of(SCENARIO), 5, tmp_path / "log")
    found = record_of(
        ReadingRoom(load_into(tmp_path / "log" / EVENTS, tmp_path / "w"), consistent=True), topic, None, (None, None), may_share=True
    )
    asked = next(topic_id for topic_id, name in found.topics.items() if name == topic)
    subs = {row["sub_id"] for row in found.of("cursor_open") if row["topic_id"] in (asked, min(found.topics))}
    for name in ("read", "read_done"):
        assert set(np.unique(found.all(name)["sub_id"]).tolist()) == subs
    assert len(np.unique(found.all("ack")["sub_id"])) == len(TOPICS)
