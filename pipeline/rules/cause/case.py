"""What the rules of causes hand to each other: one subscription, or all of one topic, with the broker's rows that decide on its cause.

Compiled functions may take these, but not return them: numba returns no tuple with a row in it.
"""

from typing import NamedTuple

from pipeline.rules.records import Record, Records


class Case(NamedTuple):
    """One subscription: what is known of it and charged to it, and the broker's rows of it and around it."""

    charge: Record
    chain: Record  # of its topic
    s: int  # number of its row
    topic: Record
    subscription: Record
    cursor: Record
    reading: Record
    dispatcher: Record
    settings: Record
    pace: Record
    connectivity: Record


class Cases(NamedTuple):
    """All subscriptions of one topic."""

    charges: Records
    chain: Record
    topic: Record
    subscriptions: Records
    cursors: Records
    readings: Records
    dispatchers: Records
    settings: Record
    pace: Record
    connectivity: Record
    attachments: Records
    connections: Records
