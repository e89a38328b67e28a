"""Rows of a replay for topics, their ledgers and their entries; those that were there before the record are there from the beginning."""

from typing import Any

import numpy as np

from pipeline.rules.broker.layout import NONE
from pipeline.rules.records import Records, empty_rows
from pipeline.rules.replay.layout import ENTRY, LEDGER, TOPIC
from pipeline.what_if.changes import Changes
from pipeline.what_if.given import Target, copies
from pipeline.what_if.scale import Scale
from pipeline.what_if.world import World


def topic_rows(world: World, target: Target, changes: Changes) -> tuple[Records, Records, Records]:
    """(topics, ledgers, entries) of all topics, the ledgers and the entries of each one after the other."""
    topics = empty_rows(TOPIC, len(world.scales))
    ledger_parts: list[Records] = []
    entry_parts: list[Records] = []
    first_ledger = first_entry = first_sub = 0
    for number, scale in enumerate(world.scales):
        entries = _entries(scale, changes.publish_factor if number == target.topic else 1.0)
        ledgers = _ledgers(scale, entries)
        topic = topics[number]
        topic.first_entry, topic.published, topic.room = first_entry, int(scale.earlier.sum()), max(1, len(entries))
        topic.first_ledger, topic.limiter = first_ledger, 1 + number
        topic.ledgers = int(np.flatnonzero(scale.earlier)[-1]) + 1 if topic.published else 0
        topic.first_sub, topic.subs = first_sub, len(world.subs_of(number))
        topic.size_limit = topic.time_limit_s = topic.held_from_ns = NONE
        entries["ledger"] += first_ledger
        first_ledger, first_entry, first_sub = first_ledger + len(ledgers), first_entry + len(entries), first_sub + int(topic.subs)
        ledger_parts.append(ledgers)
        entry_parts.append(entries)
    return topics, _together(ledger_parts, LEDGER), _together(entry_parts, ENTRY)


def _entries(scale: Scale, publish_factor: float) -> Records:
    """Entries of a topic in order; `ledger` counts from the topic's first. Of those from before only their ledger's mean size is known."""
    times = copies(len(scale.publishes["ns"]), publish_factor)
    earlier = int(scale.earlier.sum())
    old = np.repeat(np.arange(len(scale.ledgers)), scale.earlier)
    entries = empty_rows(ENTRY, earlier + int(times.sum()))
    entries["ledger"][:earlier], entries["ledger"][earlier:] = old, np.repeat(scale.ledger_rows(scale.publishes["ledger"]), times)
    entries["msgs"][:earlier], entries["msgs"][earlier:] = 1, np.repeat(scale.publishes["msgs"], times)
    entries["bytes"][:earlier], entries["bytes"][earlier:] = _mean_bytes(scale)[old], np.repeat(scale.publishes["bytes"], times)
    entries["publish_ms"][earlier:] = np.repeat(scale.publishes["publish_ts"], times)
    return entries


def _mean_bytes(scale: Scale) -> Any:
    """Of entries from before, by ledger: as its close has it, else as the publishes of the record are."""
    usual = int(scale.publishes["bytes"].mean()) if len(scale.publishes["bytes"]) else 1
    return np.where(scale.mean_bytes > 0, scale.mean_bytes, usual)


def _ledgers(scale: Scale, entries: Records) -> Records:
    """Ledgers of a topic as they are at the beginning; `first` is where each begins."""
    ledgers = empty_rows(LEDGER, len(scale.ledgers))
    counts = np.bincount(entries["ledger"], minlength=len(ledgers))[: len(ledgers)] if len(entries) else np.zeros(len(ledgers))
    ledgers["first"] = np.cumsum(counts) - counts
    ledgers["entries"] = scale.earlier
    ledgers["bytes"] = scale.earlier * _mean_bytes(scale)
    return ledgers


def _together(parts: list[Records], kind: np.dtype[Any]) -> Records:
    whole = empty_rows(kind, sum(map(len, parts)))
    for name in kind.names or ():
        if parts:
            whole[name] = np.concatenate([part[name] for part in parts])
    return whole
