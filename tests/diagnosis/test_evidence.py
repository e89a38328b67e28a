"""Subscriptions that are asked about together have the same queries; each gets its own rows."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from charges import NOON, SUBSCRIPTION, TOPIC, minute

from pipeline.diagnosis.evidence import evidence

Row = dict[str, Any]
OTHER = (f"{TOPIC}-other", "s")


class Look:
    """Answers by the table that a query names, whatever its conditions are."""

    def __init__(self, tables: dict[str, Sequence[Row]]) -> None:
        self._tables = tables
        self.asked: list[str] = []

    def rows(self, sql: str) -> list[Row]:
        """Rows of the first table that fits."""
        self.asked.append(sql)
        return [dict(row) for row in next((rows for words, rows in self._tables.items() if words in sql), [])]


def look() -> Look:
    both = [{"topic": topic, "subscription": subscription} for topic, subscription in ((TOPIC, SUBSCRIPTION), OTHER)]
    whole = {"level": "broker", "topic": None, "subscription": None}
    window = {"clock_segment": 0, "window_start": NOON, "window_end": minute(1), "log_until": minute(1), "first": NOON}
    return Look(
        {
            "max(seen_at)": [{"broker": "b1:8080", "epoch": 1, "last": NOON, **one} for one in both],
            "LIMIT 1": [window],
            "FROM noisy_neighbours": [{"limiter_topic": limiter, **one} for limiter in (None, TOPIC, OTHER[0]) for one in both],
            "FROM limiter_windows": [*({"level": "subscription", **one} for one in both), whole],
            "FROM subscription_throttle WHERE": both,
        }
    )


def test_asked_together_each_has_its_own_rows_and_those_of_its_broker() -> None:
    found = evidence(look(), TOPIC, SUBSCRIPTION, None, None, timedelta(minutes=1), [OTHER])
    assert [(row["topic"], row["subscription"]) for row in found.throttle] == [(TOPIC, SUBSCRIPTION)]
    assert [(row["level"], row["topic"]) for row in found.limits] == [("subscription", TOPIC), ("broker", None)]


def test_who_draws_on_a_limiter_of_another_topic_is_no_neighbour() -> None:
    found = evidence(look(), TOPIC, SUBSCRIPTION, None, None, timedelta(minutes=1), [OTHER])
    assert {row["limiter_topic"] for row in found.neighbours} == {None, TOPIC}
    assert {row["topic"] for row in found.neighbours} == {TOPIC, OTHER[0]}, "others on the same limiter are"


def test_the_queries_are_the_same_whoever_of_them_is_asked_about() -> None:
    one, other = look(), look()
    evidence(one, TOPIC, SUBSCRIPTION, None, None, timedelta(minutes=1), [OTHER])
    evidence(other, *OTHER, None, None, timedelta(minutes=1), [(TOPIC, SUBSCRIPTION)])
    assert one.asked == other.asked
