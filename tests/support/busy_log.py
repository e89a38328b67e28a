"""A log in which much happens, cut into micro-batches, and with events missing."""

import random

import numpy as np
from lane_rows import lane_rows
from log_builder import EPOCH, SUB, TOPIC, Log


def busy_log(epoch: int = EPOCH, seconds: int = 150) -> list[dict]:
    """Two and a half minutes with all three limiters, blocked reads, an unload and a reload."""
    log = Log(epoch).start().rate("subscription", 20).rate("topic", 50, 10_000, limiter="classic")
    for second in range(seconds):
        log.at(second).publish(3, ledger=5 + second // 60).read(broker=(-1, -1), topic=(50, 9_000), sub=(0 if second % 3 else 20, -1))
        log.at(second + 0.2).dispatch(7, 700).add("mark_delete", topic=TOPIC, sub=SUB, ledger=5, entry=2, persisted=False)
        log.at(second + 0.5).add("heartbeat", dropped=0)
        if second == 70:
            log.add("topic_unload", topic=TOPIC).add("topic_load", topic=TOPIC).add(
                "dispatcher_open", topic=TOPIC, sub=SUB, sub_type="Shared"
            )
    return log.events


def cut(events: list[dict], rng: random.Random, batches: int) -> list[list[np.ndarray]]:
    """Random micro-batches of random chunks, shuffled inside, with repeats; two micro-batches make one ingest batch."""
    borders = sorted(rng.sample(range(1, len(events)), batches - 1))
    parts = [events[a:b] for a, b in zip([0, *borders], [*borders, len(events)], strict=True)]
    micro_batches = []
    for number, part in enumerate(parts):
        rows = lane_rows(part + rng.sample(part, len(part) // 10), ingest_batch=number // 2)
        rng.shuffle(order := list(range(len(rows))))
        micro_batches.append(np.array_split(rows[order], rng.randint(1, 4)))
    for first in range(0, len(parts) - 1, 2):
        if rng.random() < 0.5:  # one ingest commit's files in another order, over several micro-batches
            micro_batches[first], micro_batches[first + 1] = micro_batches[first + 1], micro_batches[first]
    return micro_batches


def without(events: list[dict], *seqs: int) -> list[dict]:
    return [event for event in events if event["seq"] not in seqs]
