"""What a lane takes that retains ten million entries over a thousand topics: memory of its process, and bytes of its state blob."""

import gc
import re
from pathlib import Path
from typing import Any

import numpy as np

from bench.fold import SETTINGS, fold_into
from bench.fold_logs import PER_LEDGER, SUBSCRIPTIONS, acknowledged, loads, numbered, rows_of
from pipeline.lanes.codec import decode, encode
from pipeline.lanes.lane import Lane
from pipeline.rules.broker.layout import BITS

TOPICS, ENTRIES = 1_000, 10_000
MICRO_BATCH_ENTRIES = 200


def bench_memory() -> dict[str, Any]:
    """MB of resident memory that the lane adds, at most and at the end; and the blob. Entries come at random times: the worst for marks.

    Every subscription has acknowledged an entry of each word of its set, which takes as much memory as any other number of holes.
    """
    warm_up, topics, random = Lane(SETTINGS), np.arange(1, TOPICS + 1), np.random.default_rng(1)
    fold_into(warm_up, numbered(loads(topics[:10])))
    before_mb = _memory_mb("VmRSS")
    lane, seq = Lane(SETTINGS), 1
    fold_into(lane, numbered(loads(topics), seq))
    seq += len(loads(topics))
    written = np.zeros(TOPICS, dtype=np.int64)
    for _ in range(ENTRIES // MICRO_BATCH_ENTRIES):
        topic = random.integers(0, TOPICS, TOPICS * MICRO_BATCH_ENTRIES)
        order = np.argsort(topic, kind="stable")
        nth = np.empty(len(topic), dtype=np.int64)
        nth[order] = np.arange(len(topic)) - np.searchsorted(topic[order], topic[order])
        number = written[topic] + nth
        place = {"ledger": 1 + number // PER_LEDGER, "entry": number % PER_LEDGER}
        publishes = rows_of("publish", len(topic), topics[topic], **place, msgs=1 + number % 3, bytes=900, publish_ts=0)
        fold_into(lane, numbered(publishes, seq))
        seq += len(publishes)
        written += np.bincount(topic, minlength=TOPICS)
    acks = numbered(acknowledged(topics, np.arange(0, ENTRIES, BITS)), seq)
    fold_into(lane, acks)
    gc.collect()
    held_mb = _memory_mb("VmRSS") - before_mb
    blob = encode(lane)
    decode(blob, SETTINGS)
    return {
        "retained_entries": int(written.sum()),
        "topics": TOPICS,
        "subscriptions": TOPICS * SUBSCRIPTIONS,
        "individually_deleted": len(acks),
        "lane_mb": held_mb,
        "peak_with_blob_mb": _memory_mb("VmHWM") - before_mb,
        "state_bytes": len(blob),
    }


def _memory_mb(kind: str) -> int:
    found = re.search(rf"{kind}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) // 1024 if found else 0
