"""What must hold of the quota bookkeeper's own books on any log."""

from itertools import pairwise
from typing import Any

from bookkeeper.quota_books import Event, QuotaBooks
from bookkeeper.quota_random import quota_logs
from hypothesis import given, settings
from suite.examples import examples

from schemas.events import FIELDS, TYPES_BY_NAME

EXAMPLES = settings(max_examples=examples(80), deadline=None)
Events = list[Event]


def kept(events: Events) -> QuotaBooks:
    books = QuotaBooks()
    for event in events:
        books.apply(event)
    return books


@EXAMPLES
@given(quota_logs())
def test_random_quota_logs_keep_the_contract(events: Events) -> None:
    for event in events:
        declared = TYPES_BY_NAME[event["type"]]
        assert set(declared.required) <= set(event)
        for name in set(event) & {*declared.required, *declared.optional}:
            assert FIELDS[name].kind != "long" or FIELDS[name].minimum <= event[name] <= FIELDS[name].maximum, name
    assert [(event["epoch"], event["seq"]) for event in events] == sorted({(event["epoch"], event["seq"]) for event in events})
    assert all(earlier["ts"] <= later["ts"] for earlier, later in pairwise(events))


@EXAMPLES
@given(quota_logs(honest=True))
def test_an_honest_broker_does_what_the_books_expect(events: Events) -> None:
    assert [row for row in kept(events).evictions if not row["agrees"]] == []


@EXAMPLES
@given(quota_logs())
def test_decisions_stay_the_same_without_what_the_broker_said_of_them(events: Events) -> None:
    blind = kept([event for event in events if event["type"] != "quota_exceeded"])
    decided = ("topic", "decision", "policy", "backlog_size", "oldest_name", "evictions_size", "evictions_time")
    assert [[row[name] for name in decided] for row in blind.checks] == [[row[name] for name in decided] for row in kept(events).checks]


@EXAMPLES
@given(quota_logs())
def test_every_check_of_a_round_is_booked_once(events: Events) -> None:
    of_rounds = [event for event in events if event["type"] == "quota_check" and "cause" not in event]
    assert len(kept(events).checks) == sum(not event["topic"].endswith("__change_events") for event in of_rounds)


@EXAMPLES
@given(quota_logs())
def test_backlogs_are_never_negative_and_no_subscription_holds_more_than_the_ledgers(events: Events) -> None:
    books = kept(events)
    for row in books.checks:
        assert row["backlog_size"] >= 0
        for sub in row["subscriptions"]:
            assert sub["msg_backlog"] >= 0
            assert sub["msgs"] is None or sub["msgs"] >= sub["msg_backlog"]
    for topic in books.topics.values():
        for cursor in topic.cursors.values():
            assert topic.backlog_entries(cursor) <= sum(ledger.entries for ledger in topic.ledgers.values())
            assert 0 <= topic.size_from(cursor.mark) <= topic.total_size()


@EXAMPLES
@given(quota_logs(known=True))
def test_what_the_log_has_seen_from_the_start_is_known(events: Events) -> None:
    for row in kept(events).checks:
        assert row["complete"]
        for sub in row["subscriptions"]:
            assert sub["msgs"] is not None
            assert (sub["true_oldest_publish_ts_ms"] is None) == (sub["msg_backlog"] == 0)


@EXAMPLES
@given(quota_logs())
def test_a_probe_changes_nothing(events: Events) -> None:
    books = kept(events)
    before = repr(books)
    for topic in books.topics:
        books.probe(topic, events[-1]["ts"] // 1000 + 5_000)
    assert repr(books) == before


@EXAMPLES
@given(quota_logs())
def test_counters_of_evictions_add_up_since_the_load(events: Events) -> None:
    sums: dict[str, list[int]] = {}
    checks = iter(kept(events).checks)
    for event in events:
        if event["type"] in ("topic_load", "broker_start"):
            for topic in [event["topic"]] if "topic" in event else list(sums):
                sums[topic] = [0, 0]
        elif event["type"] == "quota_check" and "cause" not in event and event["topic"] in sums:
            row = next(checks)
            evicts: Any = row["policy"] == "consumer_backlog_eviction"
            counts = sums[row["topic"]]
            counts[0] += evicts and row["decision"] == "size"
            counts[1] += evicts and row["decision"] == "time"
            assert [row["evictions_size"], row["evictions_time"]] == counts
    assert next(checks, None) is None
