"""How long the broker and its clients take for what a replay does not decide, as the record has it."""

from dataclasses import dataclass

import numpy as np

from pipeline.what_if.frequent import Events
from pipeline.what_if.record import Record

#: MESSAGE_RATE_BACKOFF_MS (§1.2), and what a timer of the broker is late by (measured on brokers 4.0.8: 0.3 ms).
RETRY_NS = 1_000_000_000 + 300_000
#: Where the log has no reads (1.0): a read from the cache, and a client's way to the broker.
USUAL_READ_NS, USUAL_GRANT_NS = 2_000_000, 1_000_000


#: A read of at most so many entries is one at the end of the log, which a publish woke.
FEW_ENTRIES, ENOUGH_READS = 5, 20
#: Two reads of a subscription that are so far apart: the first was blocked, the second is its retry.
RETRIES_NS = (1_000_000_000, 1_050_000_000)


@dataclass(frozen=True)
class Latency:
    """`read_ns`: from asking storage to the delivery; `wake_ns`: from a publish to its delivery; `grant_ns`: of permits to the broker;
    `retry_ns`: from a blocked read to the next.
    """

    read_ns: int
    wake_ns: int
    retry_ns: int = RETRY_NS
    grant_ns: int = USUAL_GRANT_NS


def latency_of(record: Record) -> Latency:
    """The usual read of the record, and from its end to the delivery; the usual retry."""
    reads, retry_ns = record.all("read_done"), _retry(record.all("read"))
    if not len(reads["ns"]):
        return Latency(USUAL_READ_NS, USUAL_READ_NS, retry_ns)
    to_delivery_ns = _to_delivery(record)
    few = reads["duration_us"][reads["entries"] <= FEW_ENTRIES]
    usual_us = np.median(reads["duration_us"])
    wake_us = np.median(few) if len(few) >= ENOUGH_READS else usual_us
    return Latency(int(usual_us) * 1000 + to_delivery_ns, int(wake_us) * 1000 + to_delivery_ns, retry_ns)


def _retry(reads: Events) -> int:
    """The usual time from a blocked read to its retry. A bucket refills only after more than its period, so a little counts."""
    between = np.diff(reads["ns"])[np.diff(reads["sub_id"]) == 0]
    retries = between[(between >= RETRIES_NS[0]) & (between < RETRIES_NS[1])]
    return int(np.median(retries)) if len(retries) >= ENOUGH_READS else RETRY_NS


def _to_delivery(record: Record) -> int:
    """The usual time from the end of a read to the next delivery of its subscription."""
    apart = []
    for sub_id in np.unique(record.all("read_done")["sub_id"]):
        ends, handed = (record.where(event_type, sub_id)["ns"] for event_type in ("read_done", "dispatch"))
        following = np.searchsorted(handed, ends)
        is_there = following < len(handed)
        apart.append(handed[following[is_there]] - ends[is_there])
    found = np.concatenate(apart)
    return int(np.median(found)) if len(found) else 0
