"""Windows and epochs of the broker itself: what is kept of what is gone, and how rows that moved find each other again."""

from typing import Any

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.blocks import clear
from pipeline.rules.broker.chains import chain_anew, rows_of_topics
from pipeline.rules.broker.layout import (
    ATTACHMENT_ROW,
    CONNECTION_ROW,
    CONNECTIVITY_ROW,
    CURSOR_ROW,
    DEFAULT_INTERVAL_S,
    DISPATCHER_ROW,
    ENDPOINT_ROW,
    HEAP_ROW,
    LEDGER_ROW,
    LIMITER_ROW,
    MARK_ROW,
    NO_READING,
    NONE,
    READING_ROW,
    SETTINGS_ROW,
    SUBSCRIPTION_ROW,
    TOPIC_ROW,
    WORD_ROW,
)
from pipeline.rules.outcome import Rows, Window
from pipeline.rules.package import Arena, Beside, Ends, Family, Pool, Single, State, Store
from pipeline.rules.records import Record
from pipeline.rules.segments import BEGIN, DROPPED, USED, places_of

#: How long what is known of a topic that was unloaded is kept for its return.
UNLOADED_FOR_US = 600_000_000

STORES: tuple[Store, ...] = (
    Single("settings", SETTINGS_ROW, first=(("check_enabled", 1), ("check_interval_s", DEFAULT_INTERVAL_S))),
    Single("broker_limiter", LIMITER_ROW),
    Family("topics", "topic", TOPIC_ROW),
    Beside("topic_limiters", "topic_limiter", LIMITER_ROW, of="topics"),
    Arena("ledgers", LEDGER_ROW, of="topics", segment="ledgers"),
    Arena("heap", HEAP_ROW, of="topics", segment="heap"),
    Pool("marks", MARK_ROW, of="topics", segment="marks"),
    Family("subscriptions", "subscription", SUBSCRIPTION_ROW),
    Beside("cursors", "cursor", CURSOR_ROW, of="subscriptions"),
    Pool("words", WORD_ROW, of="cursors", segment="words"),
    Beside("readings", "reading", READING_ROW, of="subscriptions"),
    Beside("dispatchers", "dispatcher", DISPATCHER_ROW, of="subscriptions"),
    Beside("subscription_limiters", "subscription_limiter", LIMITER_ROW, of="subscriptions"),
    Single("connectivity", CONNECTIVITY_ROW),
    Family("connections", "connection", CONNECTION_ROW),
    Family("attachments", "attachment", ATTACHMENT_ROW),
    Family("endpoints", "endpoint", ENDPOINT_ROW),
)
#: Chains of attachments: whose field holds a number of a row of which family.
_LINKS = (
    ("connections", "first_attachment", "attachments"),
    ("topics", "first_attachment", "attachments"),
    ("subscriptions", "first_attachment", "attachments"),
    ("attachments", "connection", "connections"),
    ("attachments", "first_endpoint", "endpoints"),
    ("attachments", "next_of_connection", "attachments"),
    ("attachments", "previous_of_connection", "attachments"),
    ("attachments", "next_of_target", "attachments"),
    ("attachments", "previous_of_target", "attachments"),
    ("endpoints", "attachment", "attachments"),
    ("endpoints", "next", "endpoints"),
    ("endpoints", "previous", "endpoints"),
)


class BrokerEnds(Ends):
    """The broker has no rows of its own."""

    def close_window(self, state: State, window: Window) -> tuple[Rows, ...]:
        """Publish times of topics, and deleted entries of cursors, that went long ago and did not come back are forgotten; so is it that a
        cursor is gone.
        """
        broker, counts, before_us = state.group("broker"), state.counts, window.start_us - UNLOADED_FOR_US
        topics = broker.topics[: counts.topics]
        gone = (topics["unloaded_at"] > 0) & (topics["unloaded_at"] < before_us)
        for t in np.flatnonzero(gone & (topics["marks"][:, USED] > 0)):
            clear(topics["marks"][t], broker.marks)
            topics["mark_count"][t], topics["mark_within_ms"][t], topics["unloaded_at"][t] = 0, 0, 0
        cursors = broker.cursors[: counts.subscriptions]
        for s in np.flatnonzero((cursors["open"] == 0) & (cursors["deleted"] > 0) & (cursors["closed_at"] < before_us)):
            clear(cursors["words"][s], broker.words)
            cursors["deleted"][s], cursors["closed_at"][s] = 0, 0
        is_past = (cursors["gone_at"] > 0) & (cursors["gone_at"] < before_us)
        cursors["gone_at"][is_past] = 0
        broker.readings[: counts.subscriptions][is_past & (cursors["open"] == 0)] = NO_READING[0]
        return ()

    def keeps(self, state: State) -> dict[str, "np.ndarray[Any, np.dtype[np.bool_]]"]:
        """Topics that live or of which publish times, producers or quotas are known; subscriptions that are open, have deleted
        entries, or are known to be gone.

        Open connections, and what hangs on them.
        """
        broker, counts = state.group("broker"), state.counts
        topics, cursors = broker.topics[: counts.topics], broker.cursors[: counts.subscriptions]
        is_known = (topics["size_policy"] != NONE) | (topics["time_policy"] != NONE) | (topics["first_attachment"] != NONE)
        is_known |= topics["average_known"] == 1
        is_consumed = (broker.subscriptions["first_attachment"] != NONE)[: counts.subscriptions]
        return {
            "topics": (topics["alive"] != 0) | (topics["producers"] != 0) | (topics["marks"][:, USED] != 0) | is_known,
            "subscriptions": (cursors["open"] == 1)
            | (cursors["deleted"] > 0)
            | (cursors["gone_at"] > 0)
            | (broker.readings["known"] == 1)[: counts.subscriptions]
            | is_consumed,
            "connections": (broker.connections["open"] == 1)[: counts.connections],
            "attachments": (broker.attachments["endpoints"] > 0)[: counts.attachments],
            "endpoints": (broker.endpoints["attachment"] != NONE)[: counts.endpoints],
        }

    def renumber(self, state: State, new_rows: dict[str, Array]) -> None:
        """Chains and heaps hold numbers of rows."""
        broker, counts = state.group("broker"), state.counts
        _renumber_attachments(broker, counts, new_rows)
        topics, cursors = broker.topics[: counts.topics], broker.cursors[: counts.subscriptions]
        of_subscriptions = new_rows["subscriptions"]
        places = places_of(topics["heap"][:, BEGIN] + topics["heap"][:, DROPPED], topics["heap"][:, USED])
        broker.heap["cursor"][places] = of_subscriptions[broker.heap["cursor"][places]]
        is_open = np.flatnonzero(cursors["open"] == 1)
        topics["first_cursor"], topics["first_subscription"] = NONE, NONE
        subscriptions = broker.subscriptions[: counts.subscriptions]
        owners = rows_of_topics(topics, subscriptions)
        topics["subscriptions"] = np.bincount(owners, minlength=len(topics))
        chain_anew(topics["first_subscription"], subscriptions["next_of_topic"], np.arange(len(subscriptions)), owners)
        chain_anew(topics["first_cursor"], cursors["next_of_topic"], is_open, owners[is_open])
        cursors["previous_of_topic"][is_open] = NONE
        has_next = is_open[cursors["next_of_topic"][is_open] != NONE]
        cursors["previous_of_topic"][cursors["next_of_topic"][has_next]] = has_next


def _renumber_attachments(broker: Any, counts: Record, new_rows: dict[str, Array]) -> None:
    """All rows that a chain passes are kept, so each number has a new one."""
    attachments = broker.attachments[: counts.attachments]
    is_producing = attachments["owner"] >= 0
    for kind, family in ((is_producing, "topics"), (~is_producing, "subscriptions")):
        attachments["target"][kind] = new_rows[family][attachments["target"][kind]]
    for family, field, of in _LINKS:
        numbers = getattr(broker, family)[: getattr(counts, family)][field]
        numbers[...] = new_rows[of][numbers]
