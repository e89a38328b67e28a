"""Cursors that are no subscription of an application: Pulsar's own (compaction, deduplication, replication), and readers. Pure.

Nobody starts their consumers, and nobody deletes them: a broker moves Pulsar's own by itself, and with `__compaction` goes the compacted
data (CompactorSubscription, PersistentReplicator, MessageDeduplication; §2.3). A reader's cursor is gone with its reader.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from pipeline.diagnosis.commands import Step, namespace_of, stats, step, told
from pipeline.diagnosis.instants import time_words
from schemas.packages.broker import KINDS_BY_NAME, KINDS_BY_PREFIX

Row = Mapping[str, Any]
Document = dict[str, Any]
SUBSCRIPTION, READER, REPLICATOR, DEDUPLICATION, COMPACTION = "subscription", "reader", "replicator", "deduplication", "compaction"
#: Moved by the broker itself.
OWN = (REPLICATOR, DEDUPLICATION, COMPACTION)


def kind_of(subscription: str, cursor: Row | None) -> str:
    """Whose cursor it is: as the newest check of it has it, else by its name alone, like the log's reader (docs/design/backlog.md)."""
    if cursor is not None and cursor.get("cursor_kind") is not None:
        return str(cursor["cursor_kind"])
    by_prefix = (kind for prefix, kind in KINDS_BY_PREFIX.items() if subscription.startswith(prefix))
    durable = cursor is None or cursor["durable"]
    return KINDS_BY_NAME.get(subscription) or next(by_prefix, SUBSCRIPTION if durable else READER)


def cluster_of(subscription: str) -> str:
    """The cluster to which a replicator's cursor replicates: `east` of `pulsar.repl.east`."""
    return next(
        (subscription.removeprefix(prefix).lstrip(".") for prefix in KINDS_BY_PREFIX if subscription.startswith(prefix)), subscription
    )


def kind_words(kind: str, subscription: str) -> str:
    """`the replicator to cluster east (pulsar.repl.east)`; the name alone of a subscription."""
    words = {
        READER: f"the reader {subscription}",
        REPLICATOR: f"the replicator to cluster {cluster_of(subscription)} ({subscription})",
        DEDUPLICATION: f"the cursor of message deduplication ({subscription})",
        COMPACTION: f"the cursor of compaction ({subscription})",
    }
    return words.get(kind, subscription)


def own_advice(document: Document) -> list[Step]:
    """What to do about one of Pulsar's own cursors that is behind."""
    return {REPLICATOR: _replicator, DEDUPLICATION: _deduplication, COMPACTION: _compaction}[document["cursor_kind"]](document)


def _replicator(document: Document) -> list[Step]:
    topic, cluster = document["topic"], cluster_of(document["subscription"])
    found = _connection(document, document["subscription"])
    words = "in its output `replication` shows whether it is connected, and since when:"
    shows = stats(f"The broker replicates to cluster {cluster}; {words}", topic)
    if found is not None and found["connected"]:
        return [
            told(f"By the log it is connected, so brokers of {cluster}, or a limit of the replicator, take less than what comes."),
            shows,
        ]
    reached = f"ask whether brokers of {cluster} can be reached. These are the clusters of the namespace:"
    when = "If it is not connected, " if found is None else "It is not connected: "
    clusters = step(when + reached, "namespaces", "get-clusters", namespace_of(topic))
    return [shows, clusters] if found is None else [clusters, shows]


def _deduplication(document: Document) -> list[Step]:
    words = "The broker moves this cursor itself, by a snapshot (brokerDeduplicationEntriesInterval). This shows where it stands:"
    return [step(words, "topics", "stats-internal", document["topic"])]


def _compaction(document: Document) -> list[Step]:
    topic = document["topic"]
    return [
        step("This shows whether the last compaction failed, and why:", "topics", "compaction-status", topic),
        told("Mend that reason first: the broker's log has it. Keep this cursor: the compacted data would go with it."),
        step("Then compact again: a compaction that succeeds moves the cursor, and its storage is free:", "topics", "compact", topic),
    ]


def compaction_words(compactions: Sequence[Row]) -> str:
    """How the compactions of the log ended: `the last 3 compactions failed, the newest at … (TimeoutException)`. In order of time."""
    if not compactions:
        return "the log has no compaction that ended"
    last = compactions[-1]
    if last["error"] is None:
        return f"the last compaction succeeded at {time_words(last['at'])}"
    failed = sum(1 for _ in takewhile(lambda one: one["error"] is not None, reversed(compactions)))
    head = "the last compaction failed" if failed == 1 else f"the last {failed:,} compactions failed, the newest"
    return f"{head} at {time_words(last['at'])} ({last['error']})"


def trouble_words(document: Document, kind: str, subscription: str) -> str | None:
    """Why one of Pulsar's own cursors may not move: a compaction that failed, or how its connection is. Null: nothing is known."""
    if kind == COMPACTION and document["compactions"] and document["compactions"][-1]["error"] is not None:
        return compaction_words(document["compactions"])
    found = _connection(document, subscription) if kind == REPLICATOR else None
    return None if found is None else connection_words(found)


def _connection(document: Document, subscription: str) -> Row | None:
    """The replicator's row of `replicators`; null: the log does not have its connection."""
    return next((one for one in document["replicators"] if one["subscription"] == subscription), None)


def connection_words(found: Row) -> str:
    """`it is not connected since …: 11 tries failed, the newest at … (PulsarClientException)`."""
    if found["connected"]:
        return f"it is connected since {time_words(found['since'])}, seen last at {time_words(found['seen_at'])}"
    head = f"it is not connected since {time_words(found['since'])}"
    if not found["failed"]:
        return head
    tries = "one try failed," if found["failed"] == 1 else f"{found['failed']:,} tries failed, the newest"
    return f"{head}: {tries} at {time_words(found['failed_at'])} ({found['error']})"
