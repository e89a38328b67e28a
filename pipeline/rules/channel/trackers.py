"""Reasons to stop reading from a connection, set and cleared (ServerCnxThrottleTracker, §3.3): what is believed, and what is modelled.

Invariants: only TopicPublishRate and ResourceGroupPublishRate may be set more than once; any other repeat, and clearing what is not set, is
dropped. Auto-read is off exactly while any reason is set. What is modelled never feeds back into what is believed.
"""

from pipeline.rules.broker.layout import NONE, PRODUCING
from pipeline.rules.channel.bundles import Reach
from pipeline.rules.channel.layout import FIRST_COMPARED, FIRST_TYPE, PAUSED, RESOURCE_GROUP_PUBLISH_RATE, TOPIC_PUBLISH_RATE
from pipeline.rules.channel.stretches import begin, end
from pipeline.rules.channel.topics import join_topics, leave_topics
from pipeline.rules.channel.transitions import THROTTLED, UNTHROTTLED, Cause, note_transition
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record


@compiled_part
def is_counted(throttle_type: int) -> bool:
    """Whether the reason may be set more than once."""
    return throttle_type in (TOPIC_PUBLISH_RATE, RESOURCE_GROUP_PUBLISH_RATE)


@compiled_part
def mark(reach: Reach, throttle_type: int, cause: Cause) -> None:
    """Set a reason in the believed tracker; the first one pauses the connection."""
    row = reach.channel_row
    if row.believed[throttle_type] > 0 and not is_counted(throttle_type):
        row.marks_dropped += 1
        return
    row.believed[throttle_type] += 1
    row.throttled += 1
    if row.believed[throttle_type] == 1:
        begin(row, FIRST_TYPE + throttle_type, cause.ts_us, cause.ns)
    if row.throttled == 1:
        row.paused_count += 1
        begin(row, PAUSED, cause.ts_us, cause.ns)
        join_topics(reach, cause.ts_us, cause.ns)
        note_paused_producers(row, reach.connection)
    note_transition(reach, THROTTLED, throttle_type, row.throttled == 1, cause)


@compiled_part
def unmark(reach: Reach, throttle_type: int, cause: Cause) -> None:
    """Clear a reason in the believed tracker; the last one lets the connection go on."""
    row = reach.channel_row
    if row.believed[throttle_type] == 0:
        row.marks_dropped += 1
        return
    row.believed[throttle_type] -= 1
    row.throttled -= 1
    if row.believed[throttle_type] == 0:
        end(row, FIRST_TYPE + throttle_type, cause.ns)
    if row.throttled == 0:
        row.resumed_count += 1
        end(row, PAUSED, cause.ns)
        leave_topics(reach.connection, reach.attachments, reach.topic_pauses, cause.ns)
    note_transition(reach, UNTHROTTLED, throttle_type, row.throttled == 0, cause)


@compiled_part
def mark_modelled(channel: Record, throttle_type: int, carries_throttles: int) -> None:
    """Set a reason in the modelled tracker."""
    if channel.modelled[throttle_type] > 0 and not is_counted(throttle_type):
        return
    channel.modelled[throttle_type] += 1
    channel.modelled_throttled += 1
    if channel.modelled_throttled == 1:
        channel.modelled_paused_count += 1
    expect(channel, throttle_type, 1, carries_throttles)


@compiled_part
def unmark_modelled(channel: Record, throttle_type: int, carries_throttles: int) -> None:
    """Clear a reason in the modelled tracker."""
    if channel.modelled[throttle_type] == 0:
        return
    channel.modelled[throttle_type] -= 1
    channel.modelled_throttled -= 1
    if channel.modelled_throttled == 0:
        channel.modelled_resumed_count += 1
    expect(channel, throttle_type, 0, carries_throttles)


@compiled_part
def expect(channel: Record, throttle_type: int, on: int, carries_throttles: int) -> None:
    """The log is to show this change next; one that it still had to show did not happen."""
    compared = throttle_type - FIRST_COMPARED
    if compared < 0:
        return
    if channel.expected[compared] != NONE and carries_throttles == 1:
        channel.only_modelled[compared] += 1
    channel.expected[compared] = on


@compiled_part
def compare_logged(channel: Record, throttle_type: int, on: int) -> None:
    """The log shows a change of one of the two types of PIP-434."""
    compared = throttle_type - FIRST_COMPARED
    if channel.expected[compared] == on:
        channel.agreed[compared] += 1
        channel.expected[compared] = NONE
    else:
        channel.only_logged[compared] += 1


@compiled_part
def note_paused_producers(channel: Record, connection: Record) -> None:
    """How many producers and topics are made to wait now."""
    channel.producers_paused_max = max(channel.producers_paused_max, connection.endpoints[PRODUCING])
    channel.topics_paused_max = max(channel.topics_paused_max, connection.targets[PRODUCING])
