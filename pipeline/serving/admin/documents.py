"""Rows as Pulsar's statistics: `TopicStats` of one topic, and of a partitioned topic by adding its partitions as Pulsar does."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pipeline.serving.admin.fields import ANY, EARLIEST, LAST, SUBSCRIPTION_FIELDS, SUM, TOPIC_FIELDS, Field

Document = dict[str, Any]
Row = Mapping[str, Any]
_AGE, _OLDEST, _EARLIEST = "oldestBacklogMessageAgeSeconds", "oldestBacklogMessageSubscriptionName", "earliestMsgPublishTimeInBacklogs"


def topic_document(topic: Row | None, subscriptions: Sequence[Row]) -> Document:
    """`GET …/stats`. `topic` is None where no check of the topic is in the tables yet: then its subscriptions are there alone."""
    found = {row["subscription"]: _known(row, SUBSCRIPTION_FIELDS) for row in subscriptions}
    document = {} if topic is None else _known(topic, TOPIC_FIELDS)
    if topic is not None and topic["producers"] is not None:
        # How many there are is known, and nothing else of them.
        document["publishers"] = [{} for _ in range(topic["producers"])]
    if topic is not None and all(row["oldest_ms"] is not None for row in subscriptions):
        document[_EARLIEST] = min((row["oldest_ms"] for row in subscriptions if row["oldest_ms"] > 0), default=0)
    return document | {"subscriptions": found}


def partitioned_document(partitions: Mapping[str, Document], *, each: bool) -> Document:
    """`GET …/partitioned-stats` of the documents of its partitions, in their order; `each`: with these, under their names.

    A field is left out where one partition does not have it: a part of a sum is no sum.
    """
    of_topics = list(partitions.values())
    document = _added(of_topics, TOPIC_FIELDS)
    if all(_AGE in one for one in of_topics):
        # Pulsar begins with 0 and takes what is greater, the name with it.
        oldest = max(of_topics, key=lambda one: one[_AGE])
        document[_AGE] = max(oldest[_AGE], 0)
        if oldest[_AGE] > 0 and _OLDEST in oldest:
            document[_OLDEST] = oldest[_OLDEST]
    if all(_EARLIEST in one for one in of_topics):
        document[_EARLIEST] = _earliest([one[_EARLIEST] for one in of_topics])
    if all("publishers" in one for one in of_topics):
        # Without their names Pulsar lays the producers of partitions on one another.
        document["publishers"] = max((one["publishers"] for one in of_topics), key=len)
    names = dict.fromkeys(name for one in of_topics for name in one["subscriptions"])
    document["subscriptions"] = {
        name: _added([one["subscriptions"][name] for one in of_topics if name in one["subscriptions"]], SUBSCRIPTION_FIELDS)
        for name in names
    }
    return document | ({"partitions": dict(partitions)} if each else {})


def _known(row: Row, fields: Iterable[Field]) -> Document:
    return {field.name: row[field.column] for field in fields if row[field.column] is not None}


def _added(documents: Sequence[Document], fields: Iterable[Field]) -> Document:
    added: Document = {}
    for field in fields:
        add = _ADDING.get(field.partitions)
        if add is not None and all(field.name in one for one in documents):
            added[field.name] = add([one[field.name] for one in documents])
    return added


def _earliest(values: Sequence[int]) -> int:
    """As Pulsar: the lesser one of two, the greater one where either is 0."""
    found = 0
    for value in values:
        found = min(found, value) if found and value else max(found, value)
    return found


_ADDING: Mapping[str, Callable[[Sequence[Any]], Any]] = {SUM: sum, LAST: lambda values: values[-1], ANY: any, EARLIEST: _earliest}
