"""What the rules of channels hand to each other: rows where they can, arrays where they must (seven words each).

Compiled functions may take these, but not return them: numba returns no tuple with a row in it.
"""

from typing import NamedTuple

from pipeline.rules.records import Record, Records


class Reach(NamedTuple):
    """One channel, and what its changes reach: the topics of its producers, the transitions."""

    connection: Record
    channel_row: Record
    attachments: Records
    topic_pauses: Records
    out_transitions: Records
    counts: Record


class Timing(NamedTuple):
    """The timers of all channels."""

    timers: Records
    channel_clock: Record
    counts: Record


class Closing(NamedTuple):
    """Where the rows of connections that end are copied to."""

    closed_connections: Records
    closed_channels: Records
    counts: Record


class AllChannels(NamedTuple):
    """All channels, and what their timers need."""

    connections: Records
    channels: Records
    attachments: Records
    topic_pauses: Records
    out_transitions: Records
    timers: Records
    channel_clock: Record
    channel_settings: Record
    counts: Record
