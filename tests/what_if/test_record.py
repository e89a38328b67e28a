"""The record of a broker whose topics are all replayed: reads tell how long storage takes, and those of a few topics are enough."""

from datetime import UTC, datetime, timedelta
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


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """A warehouse of the scenario."""
    folder = tmp_path_factory.mktemp("record")
    simulate(scenario_of(SCENARIO), 5, folder / "log")
    return ReadingRoom(load_into(folder / "log" / EVENTS, folder / "w"), consistent=True)


#: As parts of the topic's life: 0 is its first event, 1 its last one; null: no bound.
SPANS: list[tuple[float | None, float | None]] = [
    (None, None), (0.4, None), (None, 0.6), (0.4, 0.6), (-0.5, 1.5), (-0.5, 0.5), (0.5, 1.5), (0, 1), (-2, -1), (2, 3), (2, None),
    (None, -1), (0.6, 0.4),
]  # fmt: skip


@pytest.mark.parametrize("span", SPANS)
def test_a_record_has_a_beginning_and_an_end_where_the_life_goes_on_beyond_the_span(
    span: tuple[float | None, float | None], room: ReadingRoom
) -> None:
    rows = room.rows(f"SELECT min(ts) AS first, max(ts) AS last FROM dispatch_events WHERE topic = '{TOPICS[0]}'")
    first, last = rows[0]["first"], rows[0]["last"]
    begin_us, end_us = (None if part is None else int(first + part * (last - first)) for part in span)
    stretch = record_of(room, TOPICS[0], None, (_time(begin_us), _time(end_us)), may_share=False).stretch
    assert stretch.from_us == (begin_us if begin_us is not None and begin_us > first else None)
    assert stretch.to_us == (end_us if end_us is not None and max(begin_us or 0, first) < end_us < last else None)


def _time(us: int | None) -> datetime | None:
    return None if us is None else datetime.fromtimestamp(0, UTC) + timedelta(microseconds=us)
