"""When what decides on a topic's oldest position changed last: a check looks it up at a moment of its round that the log does not have.

Invariant: if nothing changed since the round began, the row of a check shows what the broker saw. Else the broker may have seen either;
where the rules here cannot know cheaply whether anything changed (a reader behind cursors that have all), they take it that it did.
"""

from pipeline.rules.backlog.layout import NO_CHECK, NOT_SEEN, NOTHING_WAITS, SOMETHING_WAITS
from pipeline.rules.broker.cursors import TopicCursors, backlog_entries
from pipeline.rules.broker.heap import slowest
from pipeline.rules.broker.layout import NONE
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record


@compiled_part
def note_published(check: Record, ns: int) -> None:
    """The first entry of a topic without backlog."""
    if check.seen_backlog != SOMETHING_WAITS:
        check.seen_backlog, check.changed_ns = SOMETHING_WAITS, ns


@compiled_part
def note_moved(check: Record, of_topic: TopicCursors, s: int, ns: int) -> None:
    """A cursor moved: the slowest one may be another, or elsewhere, or nothing waits any more."""
    topic, ledgers, cursors = of_topic.topic, of_topic.ledgers, of_topic.cursors
    root = note_slowest(check, of_topic, ns)
    if check.seen_backlog == NOTHING_WAITS or backlog_entries(topic, ledgers, cursors[s]) > 0:
        return
    if root in (NONE, s) or backlog_entries(topic, ledgers, cursors[root]) == 0:
        check.seen_backlog, check.changed_ns = NOTHING_WAITS, ns


@compiled_part
def note_slowest(check: Record, of_topic: TopicCursors, ns: int) -> int:
    """Which cursor is the slowest, and where it stands in the metadata. Returns its row, or NONE."""
    subscriptions, cursors = of_topic.subscriptions, of_topic.cursors
    root = slowest(of_topic.topic, of_topic.heap)
    name, ledger, entry = NONE, NONE, NONE
    if root != NONE:
        name, ledger, entry = subscriptions[root].id, cursors[root].persisted_ledger, cursors[root].persisted_entry
    if name != check.seen_root or ledger != check.seen_ledger or entry != check.seen_entry:
        check.seen_root, check.seen_ledger, check.seen_entry, check.changed_ns = name, ledger, entry, ns
    return root


@compiled_part
def note_changed(check: Record, ns: int) -> None:
    """Something that is rare changed: a cursor came or went, a ledger was closed or trimmed."""
    check.seen_backlog, check.changed_ns = NOT_SEEN, ns


@compiled_part
def forget_candidate(check: Record) -> None:
    """The topic's object is gone."""
    check.uncertain, check.seen_backlog, check.changed_ns = 0, NOT_SEEN, NO_CHECK[0].changed_ns
    check.seen_root, check.seen_ledger, check.seen_entry = NONE, 0, 0
