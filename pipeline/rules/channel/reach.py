"""What the rules of channels hand to each other: rows where they can, arrays where they must (seven words each).

Compiled functions may take these, but not return them: numba returns no tuple with a row in it.
"""

from typing import NamedTuple

from pipeline.rules.records import Record, Records


class Reach(NamedTuple):
    """One channel, and what its changes reach: the topics of its producers, the transitions."""

    connection: Record
    channel: Record
    attachments: Records
    topic_pauses: Records
    transitions: Records
    counts: Record


class Timing(NamedTuple):
    """The timers of all channels."""

    timers: Records
    clock: Record
    counts: Record


class AllChannels(NamedTuple):
    """All channels, and what their timers need."""

    connections: Records
    channels: Records
    attachments: Records
    topic_pauses: Records
    transitions: Records
    timers: Records
    clock: Record
    settings: Record
    counts: Record
