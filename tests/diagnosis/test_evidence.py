"""Subscriptions that are asked about together have the same queries; each gets its own rows."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from charges import NOON, SUBSCRIPTION, TOPIC, minute

from pipeline.diagnosis.asked import Named
from pipeline.diagnosis.evidence import Evidence, evidence

Row = dict[str, Any]
OWN = Named(None, TOPIC, SUBSCRIPTION)
OTHER = Named(None, f"{TOPIC}-other", "s")
#: The same subscription on another broker: its topic has moved since.
ELSEWHERE = Named("b2:8080", TOPIC, SUBSCRIPTION)
MINUTE = timedelta(minutes=1)


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
    here, there = {"broker": "b1:8080", "epoch": 1}, {"broker": "b2:8080", "epoch": 7}
    both = [{**here, "topic": one.topic, "subscription": one.subscription} for one in (OWN, OTHER)]
    all_three = [*both, {**there, "topic": TOPIC, "subscription": SUBSCRIPTION}]
    whole = [{**life, "level": "broker", "topic": None, "subscription": None} for life in (here, there)]
    window = {"clock_segment": 0, "window_start": NOON, "window_end": minute(1), "log_until": minute(1), "first": NOON}
    return Look(
        {
            "max(seen_at)": [{**one, "last": NOON} for one in all_three],
            "LIMIT 1": [window],
            "FROM noisy_neighbours": [{"limiter_topic": limiter, **one} for limiter in (None, TOPIC, OTHER.topic) for one in all_three],
            "FROM limiter_windows": [*({"level": "subscription", **one} for one in all_three), *whole],
            "FROM subscription_throttle WHERE": all_three,
            "FROM broker_windows WHERE broker": [{**life, **window} for life in (here, there)],
            "FROM broker_windows WHERE (": [{**life, **window} for life in (here, there)],
        }
    )


def asked(look: Look, one: Named, together: Sequence[Named]) -> Evidence:
    return evidence(look, one.topic, one.subscription, one.broker, None, MINUTE, together)


def test_asked_together_each_has_its_own_rows_and_those_of_its_broker() -> None:
    found = asked(look(), OWN, [OTHER, ELSEWHERE])
    assert [(row["broker"], row["topic"], row["subscription"]) for row in found.throttle] == [("b1:8080", TOPIC, SUBSCRIPTION)]
    assert [(row["broker"], row["level"], row["topic"]) for row in found.limits] == [
        ("b1:8080", "subscription", TOPIC),
        ("b1:8080", "broker", None),
    ]
    assert [row["broker"] for row in found.broker_windows] == ["b1:8080"]


def test_on_another_broker_it_has_the_rows_of_that_one() -> None:
    found = asked(look(), ELSEWHERE, [OWN, OTHER])
    assert (found.broker, found.epoch) == ("b2:8080", 7)
    for rows in (found.throttle, found.limits, found.neighbours, found.broker_windows):
        assert {(row["broker"], row["epoch"]) for row in rows} == {("b2:8080", 7)}


def test_who_draws_on_a_limiter_of_another_topic_is_no_neighbour() -> None:
    found = asked(look(), OWN, [OTHER])
    assert {row["limiter_topic"] for row in found.neighbours} == {None, TOPIC}
    assert {row["topic"] for row in found.neighbours} == {TOPIC, OTHER.topic}, "others on the same limiter are"


def test_the_queries_are_the_same_whoever_of_them_is_asked_about() -> None:
    """But for those that look for the windows of its broker."""
    everybody = [OWN, OTHER, ELSEWHERE]
    looks = [look() for _ in everybody]
    for one, own in zip(everybody, looks, strict=True):
        asked(own, one, everybody)
    first, *others = [[sql for sql in own.asked if "LIMIT 1" not in sql] for own in looks]
    assert len(first) > 10
    assert others == [first, first]
