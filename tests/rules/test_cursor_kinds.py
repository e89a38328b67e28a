"""Whose cursor a row of `subscription_backlog` is about: by the log's `cursor_kind`, by its name where the log has none (version 1.0)."""

from typing import Any

import pytest
from lane_tables import tables_of
from log_builder import SUB, TOPIC, Log

KINDS_BY_NAME = [
    ("billing", True, "subscription"),
    ("reader-1e357e2abc", False, "reader"),
    ("reader-of-mine", True, "subscription"),
    ("pulsar.dedup", True, "deduplication"),
    ("pulsar.repl.eu", True, "replicator"),
    ("__compaction", True, "compaction"),
]


def kinds(log: Log) -> dict[str, Any]:
    log.add("quota_check", topic=TOPIC, duration_us=5)
    return {row["subscription"]: row["cursor_kind"] for row in tables_of(log.events)["subscription_backlog"]}


@pytest.mark.parametrize(("sub", "durable", "kind"), KINDS_BY_NAME)
def test_a_log_without_kinds_has_them_by_name(sub: str, durable: bool, kind: str) -> None:
    log = Log().start().add("cursor_open", topic=TOPIC, sub=sub, durable=durable, ledger=5, entry=-1)
    assert kinds(log)[sub] == kind


@pytest.mark.parametrize("kind", ["subscription", "reader", "replicator", "deduplication", "compaction"])
def test_the_kind_that_the_log_has_counts(kind: str) -> None:
    """A replicator's prefix is a setting of the broker: its name need not tell."""
    log = Log().start().add("cursor_open", topic=TOPIC, sub="to-eu", durable=True, cursor_kind=kind, ledger=5, entry=-1)
    assert kinds(log) == {SUB: "subscription", "to-eu": kind}


def test_a_cursor_whose_opening_was_not_seen_has_no_kind() -> None:
    log = Log().start().add("mark_delete", topic=TOPIC, sub="met", ledger=5, entry=3, persisted=False)
    assert kinds(log) == {SUB: "subscription", "met": None}
