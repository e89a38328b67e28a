"""Windows and epochs of the channel package: rows when a window closes, stretches that last through windows without events."""

from collections.abc import Iterator

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.completeness import note_losses
from pipeline.rules.broker.layout import CONSUMING, NONE, PRODUCING
from pipeline.rules.channel.bundles import AllChannels
from pipeline.rules.channel.layout import MEMORY_ROW, OF_WINDOW, PAUSED, UNWRITABLE
from pipeline.rules.channel.rows import connection_rows, memory_row, topic_rows
from pipeline.rules.channel.window_end import pass_borders, step_clocks
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.outcome import Rows, Window
from pipeline.rules.package import Ends, State
from pipeline.rules.records import together


class ChannelEnds(Ends):
    """What lasts: unwritable, paused, throttled, cooling down."""

    def close_window(self, state: State, window: Window) -> Iterator[Rows]:
        """Rows of `channel_backpressure`, `topic_publish_pauses` and `channel_memory`, then counters start again."""
        broker, channel, counts = state.group("broker"), state.group("channel"), state.counts
        pass_borders(_all_channels(state), window.end_us, window.border_ns, window.border_seq)
        connections, channels = broker.connections[: counts.connections], channel.channels[: counts.connections]
        is_open = connections["open"] == 1
        shown = np.flatnonzero(is_open & (channels["touched"] == 1))
        alive = connections[shown]
        note_losses(alive, "losses_at_open", broker.settings[0].losses)
        closed = counts.closed_connections
        yield connection_rows(
            together((channel.closed_connections[:closed], alive)),
            together((channel.closed_channels[:closed], channels[shown])),
            broker.settings[0],
            channel.channel_settings[0],
            window,
        )
        yield from self._topic_rows(state, window)
        low_mark = int(channel.channel_settings[0].low_mark) if broker.settings[0].started == 1 else 0
        paused = int(channels["running"][:, PAUSED].sum())
        level = memory_row(channel.write_buffers[0], broker.connectivity[0], paused, low_mark, window)
        if level is not None:
            yield level
        self._start_again(state, low_mark)

    def has_running_time(self, state: State, until_ns: int) -> bool:
        """Whether anything lasts until `until_ns`."""
        channels = state.group("channel").channels[: state.counts.connections]
        return bool(((channels["running"] == 1) & (channels["began_ns"] < until_ns)).any())

    def step_clock(self, state: State, ts_us: int, ns: int, seq: int) -> None:
        """The wall clock was set: what lasts goes on from there, cooldowns end when their time on it comes."""
        step_clocks(_all_channels(state), ts_us, ns, seq)

    def keeps(self, state: State) -> dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"]:
        """Topics whose producers were made to wait in the open window."""
        pauses = state.group("channel").topic_pauses[: state.counts.topics]
        return {"topics": (pauses["paused_connections"] > 0) | (pauses["publish_limited_times"] > 0) | (pauses["producers_paused_ns"] > 0)}

    def renumber(self, state: State, new_rows: dict[str, Array]) -> None:
        """Timers hold numbers of rows; those of connections that are gone come to nothing."""
        channel, counts = state.group("channel"), state.counts
        timers = channel.timers[: counts.timers]
        timers["connection"] = new_rows["connections"][timers["connection"]]
        left = timers[timers["connection"] != NONE]
        left = left[np.lexsort((left["kind"], left["conn"], left["due_ns"]))]  # in order, it is a heap
        channel.timers[: len(left)] = left
        counts.timers = len(left)
        channel.channel_clock[0].next_due_ns = left["due_ns"][0] if len(left) else INT64_MAX

    def _topic_rows(self, state: State, window: Window) -> Iterator[Rows]:
        pauses = state.group("channel").topic_pauses[: state.counts.topics]
        shown = np.flatnonzero((pauses["producers_paused_ns"] > 0) | (pauses["publish_limited_times"] > 0))
        if len(shown):
            yield topic_rows(state.group("broker").topics["id"][shown], pauses[shown], window)
            for name in ("producers_paused_ns", "publish_limited_times"):
                pauses[name][shown] = 0
        pauses["connections_paused_max"] = pauses["paused_connections"]

    def _start_again(self, state: State, low_mark: int) -> None:
        """Counters begin at 0, levels at what is left from before."""
        broker, channel, counts = state.group("broker"), state.group("channel"), state.counts
        connections, channels = broker.connections[: counts.connections], channel.channels[: counts.connections]
        again = np.flatnonzero((channels["touched"] == 1) | (channels["running"] == 1).any(axis=1))
        for name in OF_WINDOW:
            channels[name][again] = 0
        channels["pending_bytes_max"][again] = connections["pending_bytes"][again]
        channels["pending_bytes_at_least"][again] = low_mark * channels["running"][again, UNWRITABLE]
        for stretch, kind, names in (
            (PAUSED, PRODUCING, ("producers_paused_max", "topics_paused_max")),
            (UNWRITABLE, CONSUMING, ("consumers_unwritable_max", "subscriptions_unwritable_max")),
        ):
            lasts = channels["running"][again, stretch] == 1
            for name, field in zip(names, ("endpoints", "targets"), strict=True):
                channels[name][again] = np.where(lasts, connections[field][again, kind], 0)
        channel.write_buffers[0] = np.zeros(1, dtype=MEMORY_ROW)[0]
        counts.closed_connections = 0


def _all_channels(state: State) -> AllChannels:
    broker, channel = state.group("broker"), state.group("channel")
    return AllChannels(
        broker.connections,
        channel.channels,
        broker.attachments,
        channel.topic_pauses,
        channel.out_transitions,
        channel.timers,
        channel.channel_clock[0],
        channel.channel_settings[0],
        state.counts,
    )
