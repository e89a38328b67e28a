"""Who fills a quota, since when producers are shut out, and whether Pulsar's own cursors do their work."""

from typing import Any

import pytest
from charges import TOPIC, minute

from pipeline.diagnosis.own_cursors import compaction_words, kind_of, own_advice
from pipeline.diagnosis.quota_fillers import evicted_lines, producer_lines, who, who_lines
from pipeline.diagnosis.topic_rows import TopicRows


def cursor(name: str, entry: int, backlog: int, kind: str | None = None, **more: Any) -> dict[str, Any]:
    """A row of subscription_backlog."""
    return {
        "subscription": name, "durable": True, "msg_backlog": backlog, "backlog_size": backlog * 20_000, "oldest_age_ms": backlog * 1_000,
        "mark_delete_ledger": 7, "mark_delete_entry": entry, "cursor_kind": kind, **more,
    }  # fmt: skip


def decision(m: int, closed: int, action: str = "disconnect_producers") -> dict[str, Any]:
    """A row of quota_evictions at the check of minute m."""
    return {"action": action, "check_number": m, "decided_at": minute(m), "quota_type": "size", "policy": "producer_request_hold",
            "producers_closed": closed}  # fmt: skip


def topic(*cursors: dict[str, Any], **more: Any) -> TopicRows:
    """Its check of minute 4."""
    check = {"check_number": 4, "check_time": minute(4), "oldest_backlog_message_age_seconds": 239, "backlog_quota_limit_time": -1,
             "producers": 0, "topic": TOPIC}  # fmt: skip
    none: dict[str, Any] = {"decisions": [], "moves": [], "producer_events": [], "compactions": [], "replicators": [],
                            "closes_by": None, "tells_refusals": False, "is_age_precise": False}  # fmt: skip
    return TopicRows(**{**none, "check": check | more.pop("check", {}), "cursors": list(cursors), "log_version": "1.1", **more})


def test_the_slowest_durable_cursor_fills_the_quota_whatever_its_kind() -> None:
    rows = topic(cursor("cache", 590, 9), cursor("__compaction", -1, 600), cursor("view", -1, 700, durable=False), cursor("idle", 599, 0))
    found = who(rows)
    assert [(one["subscription"], one["cursor_kind"]) for one in found["holders"]] == [
        ("__compaction", "compaction"),
        ("cache", "subscription"),
    ]
    assert who_lines(found) == [
        "the cursor of compaction (__compaction) is the slowest cursor at the check of 2026-01-05T12:04:00Z: 600 entries,"
        " 12,000,000 bytes are behind it; its oldest message is 10 min old",
        "next is cache (9 entries)",
        "the log has no compaction that ended",
    ]


def test_where_the_check_evicted_the_figures_are_those_before() -> None:
    move = {"check_number": 4, "decided_at": minute(4), "subscription": "slow", "entries_evicted": 540}
    earlier = {**move, "check_number": 2, "decided_at": minute(2), "entries_evicted": 10}
    found = who(topic(cursor("slow", 0, 1_400), moves=[earlier, move]))
    assert "at the check of 2026-01-05T12:04:00Z, before it evicted: 1,400 entries" in who_lines(found)[0]
    assert evicted_lines(found) == ["slow lost 550 entries to quotas, the last time at 2026-01-05T12:04:00Z"]


@pytest.mark.parametrize(
    ("events", "refused", "words"),
    [
        ([], None, "how many were refused since is not in this log"),
        ([{"type": "quota_check", "n": 9}, {"type": "producer_open", "n": 2}], 7, "7 were refused since, 2 were let in"),
    ],
)
def test_producers_are_shut_out_since_the_last_check_that_closed_some(
    events: list[dict[str, Any]], refused: int | None, words: str
) -> None:
    rows = topic(cursor("slow", 0, 9), decisions=[decision(1, 2), decision(2, 0), decision(4, 1)], producer_events=events)
    found = who(rows)
    told = {"refused": refused, "since": minute(4), "closed": 1, "first_since": minute(1), "times": 2}
    assert found["producers_shut_out"] | told == found["producers_shut_out"], "they came back in between"
    assert producer_lines(found) == [
        f"the size quota (producer_request_hold) cut producers off at 2026-01-05T12:04:00Z: 1 was closed, {words}",
        "it cut producers off 2 times since 2026-01-05T12:01:00Z",
    ]


def test_who_stays_out_is_shut_out_since_the_first_check() -> None:
    found = who(topic(cursor("slow", 0, 9), decisions=[decision(1, 2), decision(2, 0), decision(4, 0)]))
    assert found["producers_shut_out"] | {"since": minute(1), "closed": 2, "times": 1} == found["producers_shut_out"]
    assert producer_lines(found) == [
        "the size quota (producer_request_hold) cut producers off at 2026-01-05T12:01:00Z: 2 were closed,"
        " how many were refused since is not in this log"
    ]


def test_a_log_that_has_refusals_tells_how_many_there_were() -> None:
    """Also of a size quota, where nobody looks up an age; none is written where none was."""
    cut = {"decisions": [decision(4, 1)], "tells_refusals": True}
    refused = topic(cursor("slow", 0, 9), producer_events=[{"type": "producer_refused", "n": 12}], **cut)
    assert "1 was closed, 12 were refused since" in producer_lines(who(refused))[0]
    assert "0 were refused since" in producer_lines(who(topic(cursor("slow", 0, 9), **cut)))[0]
    lost = topic(cursor("slow", 0, 9), check={"incomplete_reason": "events_lost"}, **cut)
    assert "how many were refused since is not in this log" in producer_lines(who(lost))[0]


def test_producers_that_may_publish_again_are_not_shut_out() -> None:
    assert who(topic(cursor("slow", 0, 9), decisions=[decision(1, 2), decision(2, 0)]))["producers_shut_out"] is None
    assert who(topic(cursor("slow", 0, 9), decisions=[decision(4, 0, "evict")]))["producers_shut_out"] is None


@pytest.mark.parametrize(
    ("believed", "words"),
    [
        (-1, "10 min old; the broker sees no age yet, for the ledger of that message is still open"),
        (60, "10 min old; the broker sees 1 min, for it counts from when the ledger of that message was closed"),
        (600, None),
    ],
)
def test_the_true_age_stands_beside_the_one_that_the_broker_sees(believed: int, words: str | None) -> None:
    check = {"oldest_backlog_message_age_seconds": believed, "backlog_quota_limit_time": 300}
    lines = who_lines(who(topic(cursor("slow", 0, 600), check=check)))
    assert any("quota of 5 min" in line and (words or "") in line for line in lines) == (words is not None)


def test_a_broker_that_reads_the_oldest_message_counts_from_no_ledger() -> None:
    check = {"oldest_backlog_message_age_seconds": -1, "backlog_quota_limit_time": 300}
    assert not any("ledger" in line for line in who_lines(who(topic(cursor("slow", 0, 600), check=check, is_age_precise=True))))


def test_the_age_of_a_reader_is_none_that_the_broker_looks_at() -> None:
    reader = cursor("tail", -1, 900, durable=False)
    assert who(topic(reader, cursor("slow", 0, 600)))["age"]["true_ms"] == 600_000
    assert who(topic(reader))["age"] is None


def test_when_the_broker_will_see_the_age_follows_from_the_open_ledger() -> None:
    check = {"oldest_backlog_message_age_seconds": -1, "backlog_quota_limit_time": 300}
    found = who(topic(cursor("slow", 0, 600), check=check, closes_by=minute(256)))
    assert (found["age"]["counts_by"], found["age"]["exceeds_by"]) == (minute(256), minute(261))
    assert who_lines(found)[-1].endswith(
        "it counts from when that ledger is closed, at the latest at 2026-01-05T16:16:00Z (managedLedgerMaxLedgerRolloverTimeMinutes)."
        " The age quota of 5 min goes by that: if the message still waits then, it is exceeded by 2026-01-05T16:21:00Z"
    )


@pytest.mark.parametrize(
    ("name", "row", "kind"),
    [
        ("billing", None, "subscription"),
        ("pulsar.repl.west", None, "replicator"),
        ("__compaction", cursor("__compaction", 0, 0), "compaction"),
        ("tail", cursor("tail", 0, 0, durable=False), "reader"),
        ("acme.repl.west", cursor("acme.repl.west", 0, 0, "replicator"), "replicator"),
    ],
)
def test_whose_cursor_it_is_the_table_has_else_its_name(name: str, row: dict[str, Any] | None, kind: str) -> None:
    assert kind_of(name, row) == kind


FAILED, SUCCEEDED = ({"at": minute(m), "error": error} for m, error in ((2, "TimeoutException"), (3, None)))


def test_how_compactions_ended_is_told() -> None:
    assert compaction_words([SUCCEEDED, FAILED, FAILED]).startswith("the last 2 compactions failed, the newest at 2026-01-05T12:02")
    assert compaction_words([FAILED]) == "the last compaction failed at 2026-01-05T12:02:00Z (TimeoutException)"
    assert compaction_words([FAILED, SUCCEEDED]) == "the last compaction succeeded at 2026-01-05T12:03:00Z"


def test_whether_a_replicator_is_connected_is_told_of_each_that_is_behind() -> None:
    lost = {"subscription": "pulsar.repl.east", "connected": False, "since": minute(1), "failed": 0, "error": None, "failed_at": None}
    tried = {**lost, "subscription": "pulsar.repl.west", "failed": 11, "error": "PulsarClientException", "failed_at": minute(3)}
    cursors = [cursor(name, -1, 9, "replicator") for name in ("pulsar.repl.east", "pulsar.repl.north", "pulsar.repl.west")]
    lines = who_lines(who(topic(*cursors, replicators=[lost, tried])))
    assert lines[2:] == [
        "the replicator to cluster east (pulsar.repl.east): it is not connected since 2026-01-05T12:01:00Z",
        "the replicator to cluster west (pulsar.repl.west): it is not connected since 2026-01-05T12:01:00Z:"
        " 11 tries failed, the newest at 2026-01-05T12:03:00Z (PulsarClientException)",
    ]


@pytest.mark.parametrize(
    ("replicators", "steps"),
    [
        ([], ["in its output `replication`", "If it is not connected"]),
        ([True], ["By the log it is connected", "in its output `replication`"]),
        ([False], ["It is not connected", "in its output `replication`"]),
    ],
)
def test_advice_about_a_replicator_begins_with_what_the_log_has(replicators: list[bool], steps: list[str]) -> None:
    document = {"topic": TOPIC, "subscription": "pulsar.repl.east", "cursor_kind": "replicator",
                "replicators": [{"subscription": "pulsar.repl.east", "connected": one} for one in replicators]}  # fmt: skip
    assert [words in step.do for words, step in zip(steps, own_advice(document), strict=True)] == [True, True]
