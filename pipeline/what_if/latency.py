"""How long the broker and its clients take for what a replay does not decide, as the record has it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.rules.array import Array
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
    """The mean read of the record, the usual one at its end that a publish woke, and from their end to the delivery; the usual retry.

    A limiter that holds a subscription lets one read through, then the retry waits: the sum of the reads decides how often that happens, so
    the mean counts. At the end of the log the number of reads counts, which the usual one decides.
    """
    reads, retry_ns = record.all("read_done"), _retry(record.all("read"))
    if not len(reads["ns"]):
        return Latency(USUAL_READ_NS, USUAL_READ_NS, retry_ns)
    to_delivery_ns = _to_delivery(record)
    is_few = reads["entries"] <= FEW_ENTRIES
    read_us = _enough(reads["duration_us"], ~is_few).mean()
    wake_us = np.median(_enough(reads["duration_us"], is_few))
    return Latency(int(read_us * 1000) + to_delivery_ns, int(wake_us * 1000) + to_delivery_ns, retry_ns)


def _enough(durations_us: Array, chosen: NDArray[np.bool]) -> NDArray[np.float64]:
    """Those of the chosen reads; of all where the chosen are not enough."""
    return (durations_us[chosen] if chosen.sum() >= ENOUGH_READS else durations_us).astype(np.float64)


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
