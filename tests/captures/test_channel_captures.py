"""The channel bookkeeper against real brokers: their pauses and resumes, and every `throttle` event explained or listed."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from bookkeeper.channel_tracker import DECIDED
from bookkeeper.channels import ChannelBooks, keep_channels
from capture_events import capture_events
from real_captures import CAPTURES, EVERY_CAPTURE, NEEDS_CAPTURES

LARGE = CAPTURES.parent / "captures-large"
DEEP = "aa_deep_backlog"
CHANNEL_TYPES = {
    *("broker_start", "broker_stop", "heartbeat", "conn_open", "conn_close", "writability", "throttle", "request"),
    *("consumer_open", "consumer_close", "producer_open", "producer_close", "topic_load", "topic_unload", "read"),
}
_COUNT = re.compile(r"^pulsar_broker_connection_rate_limit_count_total\{.*operation_name=\"(paused|resumed)\"\} (\S+)", re.MULTILINE)
_LIMITED = re.compile(r"^pulsar_publish_rate_limit_times\{.*topic=\"([^\"]*)\"\} (\S+)", re.MULTILINE)

pytestmark = [pytest.mark.captures, NEEDS_CAPTURES]


def folder(name: str) -> Path:
    return (LARGE if name == DEEP else CAPTURES) / name


@cache
def events_of(name: str) -> list[dict[str, Any]]:
    """What says something about channels, renumbered: nothing in a capture is lost."""
    chosen = [event for event in capture_events(folder(name)) if event["type"] in CHANNEL_TYPES]
    seqs: dict[int, int] = {}
    for event in chosen:
        seqs[event["epoch"]] = event["seq"] = seqs.get(event["epoch"], 0) + 1
    return chosen


@cache
def books_of(name: str) -> ChannelBooks:
    return keep_channels(events_of(name))


@cache
def books_without_throttle(name: str) -> ChannelBooks:
    """By `writability`, `request` and settings alone: the log as if the broker had never said that it paused."""
    events = [event for event in events_of(name) if event["type"] != "throttle"]
    seqs: dict[int, int] = {}
    renumbered = []
    for event in events:
        seqs[event["epoch"]] = seqs.get(event["epoch"], 0) + 1
        renumbered.append({**event, "seq": seqs[event["epoch"]]})
    return keep_channels(renumbered)


def counted_by_broker(name: str) -> tuple[int, int]:
    """Pauses and resumes that the broker exports; it exports none before the first."""
    counts = dict(_COUNT.findall((folder(name) / "otel.txt").read_text()))
    return int(float(counts.get("paused", 0))), int(float(counts.get("resumed", 0)))


def counted(books: ChannelBooks) -> tuple[int, int]:
    return books.total("paused_count"), books.total("resumed_count")


def agreement(books: ChannelBooks) -> dict[str, tuple[int, int, int]]:
    """Per type: agreed, only logged, only modelled."""
    return {name: tuple(books.total(f"{name}_{v}") for v in ("agreed", "only_logged", "only_modelled")) for name in DECIDED.values()}


@EVERY_CAPTURE
def test_pauses_and_resumes_equal_the_brokers(name: str) -> None:
    assert counted(books_of(name)) == counted_by_broker(name)


@EVERY_CAPTURE
def test_the_rules_alone_find_the_same(name: str) -> None:
    assert counted(books_without_throttle(name)) == counted_by_broker(name)


@EVERY_CAPTURE
def test_every_throttle_event_is_explained_by_writability_and_request_alone(name: str) -> None:
    logged = [event for event in events_of(name) if event["type"] == "throttle"]
    assert {event["throttle_type"] for event in logged} <= set(DECIDED), "the limits behind the others are not in the log"
    expected = {of: (sum(event["throttle_type"] == full for event in logged), 0, 0) for full, of in DECIDED.items()}
    assert agreement(books_of(name)) == expected


@EVERY_CAPTURE
def test_levels_and_marks_fit(name: str) -> None:
    books = books_of(name)
    assert books.total("mark_mismatches") == 0
    for row in books.channel_backpressure:
        assert row["complete"]
        assert row["throttled_ns_by_outbound_buffer_full"] == row["unwritable_ns"] <= row["paused_ns"]
    beats = [event["pending_bytes"] for event in events_of(name) if event["type"] == "heartbeat"]
    assert max(row["write_buf_memory_used_bytes_max"] for row in books.channel_memory) >= max(beats)
    assert books.channel_memory[-1]["write_buf_memory_used_bytes"] == beats[-1]


@pytest.mark.parametrize(
    ("name", "conn", "most", "of_the_channel"), [("o_unwritable", 3, 45_159_623, 44_831_943), ("y_incident", 19, 4_225_134, 3_045_486)]
)
def test_a_hanging_clients_channel_is_found_in_the_sum(name: str, conn: int, most: int, of_the_channel: int) -> None:
    """A heartbeat is exact; the other channels hold their high mark at most."""
    books = books_of(name)
    assert max(row["write_buf_memory_used_bytes_max"] for row in books.channel_memory if row["max_exact"]) == most
    proven = {row["conn"]: 0 for row in books.channel_backpressure}
    for row in books.channel_backpressure:
        proven[row["conn"]] = max(proven[row["conn"]], row["pending_bytes_at_least"])
    assert max(proven, key=lambda of: proven[of]) == conn
    assert proven[conn] == of_the_channel


def test_a_broker_counts_a_pause_for_each_producer_of_the_connection() -> None:
    """`o_unwritable` ends before the broker's first round of statistics, which would set it to 0."""
    metrics = dict(_LIMITED.findall((folder("o_unwritable") / "metrics.txt").read_text()))
    ours = {row["topic"]: row["publish_limited_times"] for row in books_of("o_unwritable").topic_publish_pauses}
    assert ours == {topic: int(times) for topic, times in metrics.items() if times != "0"} == {"persistent://real/o/one-small": 1263}


def test_reads_shrink_while_the_channel_is_unwritable() -> None:
    """Twelve more reads of one entry in `o_unwritable` come within half a ms of a crossing: another thread asked."""
    reads = {
        (row["subscription"], name): row["reads_by_unwritable_channel"]
        for name in ("o_unwritable", "y_incident")
        for row in books_of(name).unwritable_reads
    }
    assert reads == {("stopped", "o_unwritable"): 468, ("thumbnails", "y_incident"): 73}
    topics = {row["topic"]: row["reads_by_unwritable_channel"] for row in books_of("o_unwritable").unwritable_reads}
    assert topics == {"persistent://real/o/one": 637, "persistent://real/o/two": 468}
    single = [e for e in events_of("o_unwritable") if e["type"] == "read" and e["want_msgs"] == 1 and e["permits"] > 1]
    assert len(single) - sum(topics.values()) == 12


@pytest.mark.skipif(not (LARGE / DEEP).exists(), reason="no large captures beside the project")
def test_queued_requests_go_on_before_the_broker_forgets_its_pause() -> None:
    """Under load only the log knows when a refusal pauses; a connection closed while paused is never resumed (114, 113)."""
    books = books_of(DEEP)
    assert counted(books) == counted_by_broker(DEEP) == (114, 113)
    assert agreement(books) == {"outbound_buffer": (0, 0, 0), "cooldown": (221, 6, 80)}
    assert (books.total("modelled_paused_count"), books.total("requests"), books.total("requests_limited")) == (153, 13_234, 12_382)
    assert counted(books_without_throttle(DEEP)) == (153, 152)
