"""Subscriptions of several brokers, asked about together: each has its own answers, and most questions are asked once for all."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from capture_events import capture_events
from captured_warehouse import append_logs
from real_captures import CAPTURES, NEEDS_CAPTURES

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.asked import Named
from pipeline.pages.report.cached_look import AskedOnce
from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

HALF_AN_HOUR = timedelta(minutes=30)


@NEEDS_CAPTURES
def test_subscriptions_of_several_brokers_are_asked_about_together(tmp_path: Path) -> None:
    """The same log from a broker and its twin: each has its own answers, and most questions are asked once for both."""
    warehouse = Warehouse(f"file:{tmp_path}/warehouse")
    create_missing_tables(warehouse)
    log = list(capture_events(CAPTURES / "c_broker_limit"))
    append_logs(warehouse, [log, [{**event, "broker": "twin:8080"} for event in log]])
    room = ReadingRoom(warehouse)
    found = room.rows("SELECT DISTINCT broker, topic, subscription FROM subscription_causes ORDER BY ALL")
    named = [Named(row["broker"], row["topic"], row["subscription"]) for row in found]
    (end,) = room.rows("SELECT max(log_until) AS at FROM broker_windows")
    stretch = (end["at"], HALF_AN_HOUR)
    asked: list[list[str]] = []

    class Counting:
        def rows(self, sql: str) -> list[dict[str, Any]]:
            asked[-1].append(sql)
            return room.rows(sql)

    def answers(chosen: Sequence[Named]) -> list[dict[str, Any]]:
        asked.append([])
        once = AskedOnce(Counting())
        return [answer(once, one.topic, one.subscription, one.broker, *stretch, chosen) for one in chosen]

    own = [one for one in named if one.broker != "twin:8080"]
    assert 0 < len(own) == len(named) / 2
    alone, together = answers(own), answers(named)
    assert [one for one in together if one["broker"] != "twin:8080"] == alone
    twins = [one for one in together if one["broker"] == "twin:8080"]
    assert [one["backlog"] for one in twins] == [one["backlog"] for one in alone]
    assert twins == [answer(room, one.topic, one.subscription, one.broker, *stretch) for one in named if one.broker == "twin:8080"]
    assert len(asked[1]) - len(asked[0]) <= len(asked[0]) / 2
