"""An independent bookkeeper of channels (PIP-434): what one broker's log says, in slow and obvious Python.

It shares no code with the product; it was written from the semantics reference (part C), the log contract and the captures.
Use it to judge the machine:

    books = keep_channels(events)                  # contract events of one broker, any order, repeats and gaps allowed
    books.channel_backpressure == rows_of_ours     # lists of dicts, timestamps in µs, sorted by their grain

The parts: channel_settings (both vocabularies), channel_limiter (cooldown), channel_tracker (seven types), channel_stretch (time),
channel_connection (one connection), channel_memory (the broker's buffers), channel_epoch (what each event does), epoch_time (windows).

When a comparison fails: first differing row, only its differing columns; let hypothesis shrink the log (channel_random.channel_logs());
ask the text who is right; the captures decide between both (tests/captures/test_channel_captures.py).
"""

from dataclasses import dataclass, field

from bookkeeper.books import Books, one_life, replay
from bookkeeper.channel_connection import Row
from bookkeeper.channel_epoch import EpochChannels
from bookkeeper.epoch_time import Event, ns_of

GRAINS = {
    "channel_backpressure": ("epoch", "conn", "opened_at", "clock_segment", "window_start"),
    "channel_transitions": ("epoch", "seq", "conn", "change", "throttle_type"),
    "channel_memory": ("epoch", "clock_segment", "window_start"),
    "topic_publish_pauses": ("epoch", "topic", "clock_segment", "window_start"),
    "unwritable_reads": ("epoch", "topic", "subscription", "clock_segment", "window_start"),
}


@dataclass
class ChannelBooks:
    """Rows of the tables, sorted by their grain. `unwritable_reads` has `reads_by_unwritable_channel` of `subscription_throttle`."""

    channel_backpressure: list[Row] = field(default_factory=list)
    channel_transitions: list[Row] = field(default_factory=list)
    channel_memory: list[Row] = field(default_factory=list)
    topic_publish_pauses: list[Row] = field(default_factory=list)
    unwritable_reads: list[Row] = field(default_factory=list)

    def total(self, column: str) -> int:
        """Sum of a column of `channel_backpressure`."""
        return sum(row[column] for row in self.channel_backpressure)


def keep_channels(events: list[Event], *, window_ms: int = 60_000, clock_step_ms: int = 1_000, lateness_ms: int = 10_000) -> ChannelBooks:
    """The tables after all `events` of one broker; every window closes and every gap is given up.

    An epoch ends at its `broker_stop`, or when a newer one is `lateness_ms` old.
    Tombstones are {"tombstone": True, broker, epoch, seq, ts, ns}. ValueError if there are several brokers.
    """
    brokers = {event["broker"] for event in events}
    if len(brokers) > 1:
        raise ValueError(f"one broker at a time, not {sorted(brokers)}")
    books = ChannelBooks()
    lives = {epoch: one_life([e for e in events if e["epoch"] == epoch], Books()) for epoch in sorted({e["epoch"] for e in events})}
    for epoch, life in lives.items():
        over = life[-1].get("type") == "broker_stop" or any(
            newer > epoch and ns_of(other[-1]) - ns_of(other[0]) >= lateness_ms * 1_000_000 for newer, other in lives.items()
        )
        channels = EpochChannels(life[0]["broker"], epoch, window_ms, clock_step_ms)
        replay(channels, life, None)
        if over:
            channels.end()
        else:
            channels.drain()
        for table in GRAINS:
            getattr(books, table).extend(channels.rows[table])
    for table, grain in GRAINS.items():
        getattr(books, table).sort(key=lambda row, grain=grain: tuple("" if row[name] is None else row[name] for name in grain))
    return books
