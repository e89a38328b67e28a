"""What an event changes that has what the broker holds. Called as the other rules are (rules.py)."""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.attachments import LinkIndexes, Links, attach, attached_to, detach_all_of_subscription, owner_of
from pipeline.rules.broker.connections import ensure_connected
from pipeline.rules.broker.cursors import is_whole
from pipeline.rules.broker.layout import CONSUMING, NONE
from pipeline.rules.broker.stated import is_news, is_news_of_topic, put_right, put_topic_right
from pipeline.rules.compiled import compiled_part
from pipeline.rules.index import EMPTY, find
from pipeline.rules.records import Record, Records


@compiled_part
def needs_on_state(topic: Record, cursor: Record, settings: Record, event: Array) -> bool:
    """Whether the log does not know it all."""
    return is_news(topic, cursor, settings, event)


@compiled_part
def on_state(broker: Any, t: int, s: int, event: Array) -> None:
    """The broker says what it holds."""
    put_right(broker, t, s, event)


@compiled_part
def needs_on_topic_state(topic: Record, settings: Record, event: Array) -> bool:
    """Whether the log does not know it all."""
    return is_news_of_topic(topic, settings, event)


@compiled_part
def on_topic_state(topic: Record, ledgers: Records, ledgers_ends: Array, event: Array) -> None:
    """The broker says what the topic holds."""
    put_topic_right(topic, ledgers, ledgers_ends, event)


@compiled_part
def needs_on_consumer_state(cursor: Record, settings: Record) -> bool:
    """Whether its opening may not be in the log."""
    return cursor.open == 1 and is_whole(cursor, settings) == 0


@compiled_part
def on_consumer_state(broker: Any, counts: Record, s: int, c: int, event: Array) -> None:
    """The broker says on which connection a consumer is of which the log may not have the opening.

    If more are known than there are, some have gone unseen: nobody knows which.
    """
    subscription, endpoint = broker.subscriptions[s], owner_of(CONSUMING, event[fields.CONN])
    links = Links(
        broker.connectivity[0], broker.connections, broker.topics, broker.subscriptions, broker.attachments, broker.endpoints
    )  # fmt: skip
    e = find(broker.endpoints_index, broker.endpoints, event[fields.CONSUMER], endpoint)
    if e != EMPTY and broker.endpoints[e].attachment != NONE:
        return
    if attached_to(subscription, broker.attachments) >= broker.readings[s].consumers:
        detach_all_of_subscription(links, s)
    ensure_connected(broker.connections[c], broker.connectivity[0], broker.settings[0], event[fields.SEQ], event[fields.TS])
    indexes = LinkIndexes(broker.attachments_index, broker.endpoints_index, counts)
    attach(links, indexes, c, CONSUMING, s, event[fields.SUB_ID], event[fields.CONSUMER])
