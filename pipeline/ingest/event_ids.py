"""Columns of bronze that ingest computes beside the parsed ones: ids and dates."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.ids import BROKER, SUBSCRIPTION, TOPIC, US_PER_DAY, id_of


class EventIds:
    """Ids of what one task meets: each name is hashed once."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, ...], int] = {}

    def beside(self, events: pa.RecordBatch) -> dict[str, pa.Array]:
        """broker_id, topic_id and sub_id of events (EVENT_SCHEMA) as long, without nulls."""
        topics, subscriptions = events["topic"].dictionary_encode(), events["sub"].dictionary_encode()
        return {
            "broker_id": self._of_level(BROKER, events["broker"].dictionary_encode()),
            "topic_id": self._of_level(TOPIC, topics),
            "sub_id": self._of_subscriptions(topics, subscriptions),
        }

    def _id(self, *texts: str) -> int:
        if texts not in self._ids:
            self._ids[texts] = id_of(*texts)
        return self._ids[texts]

    def _of_level(self, level: str, names: pa.DictionaryArray) -> pa.Array:
        ids = [self._id(level, text) for text in names.dictionary.to_pylist()]
        return _chosen(ids, names.indices)

    def _of_subscriptions(self, topics: pa.DictionaryArray, subscriptions: pa.DictionaryArray) -> pa.Array:
        count = len(subscriptions.dictionary)
        pairs = pc.add(pc.multiply(topics.indices.cast(pa.int64()), count), subscriptions.indices.cast(pa.int64())).dictionary_encode()
        topic, subscription = topics.dictionary.to_pylist(), subscriptions.dictionary.to_pylist()
        ids = [self._id(SUBSCRIPTION, topic[pair // count], subscription[pair % count]) for pair in pairs.dictionary.to_pylist()]
        return _chosen(ids, pairs.indices)


def _chosen(ids: list[int], places: pa.Array) -> pa.Array:
    """The ids at `places`, 0 where there is no place."""
    return pc.fill_null(pa.array(ids, pa.int64()).take(places), 0)


def event_dates(events: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """UTC date of `ts`, in days since 1970, of each event."""
    return events["ts"].to_numpy(zero_copy_only=False) // US_PER_DAY
