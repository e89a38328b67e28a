"""One epoch of one broker: its state, the pass over its events, and what happens at borders of windows and at its end.

The lane hands events over in `seq` order, all of one window at a time, and reports when a window closes, when events were lost, and when
the epoch is over. The model returns outcomes as values and does nothing else.
"""

from collections.abc import Iterator

import numpy as np

from pipeline.faults import invariant
from pipeline.rules.array import Array
from pipeline.rules.backlog.ends import probe
from pipeline.rules.fields import CONN
from pipeline.rules.fold import fold
from pipeline.rules.outcome import Rows, Window
from pipeline.rules.packages import PACKAGES
from pipeline.rules.state import BrokerState, Layout
from schemas.events import CODES
from schemas.lane_columns import COLUMN, LANE_COLUMNS

LAYOUT = Layout(PACKAGES)
# numba keeps compiled code by the classes of a rule's arguments: in another process it finds only classes that can be imported by name.
for _group in (LAYOUT.stores_of_packages, *LAYOUT.groups.values()):
    _group.__module__ = __name__
    globals()[_group.__name__] = _group
EPOCH = COLUMN["epoch"]


class BrokerModel:
    """The broker's entities and all packages of rules, over one state."""

    def __init__(self, kept: dict[str, Array] | None = None) -> None:
        """A broker of which nothing is known, or the one of which `arrays()` was taken."""
        self.state = BrokerState(LAYOUT, kept)

    def fold(self, events: Array) -> list[Rows]:
        """Apply events in order: int64 [n, LANE_COLUMNS], all in the open window. Returns rows that do not wait for its end."""
        events = np.ascontiguousarray(events)  # any other layout would be compiled for anew
        rows: list[Rows] = []
        done, grown_at = 0, -1
        while done < len(events):
            done = fold(self.state.groups, self.state.counts, events, done)
            rows += self._taken(int(events[0, EPOCH]))
            if done < len(events):
                invariant(done != grown_at, "the fold wants more room for an event than a state can grow at once")
                self.state.grow()
                grown_at = done
        return rows

    def lose(self, events: int) -> None:
        """So many events were lost here: nothing that is alive is complete any more."""
        settings = self.state.group("broker").settings[0]
        settings.losses += 1
        settings.events_lost += events

    def close_window(self, window: Window) -> Iterator[Rows]:
        """Rows of the window; its counters start again."""
        self.state.grow()
        for package in PACKAGES:
            yield from package.ends.close_window(self.state, window)

    def has_running_time(self, until_ns: int) -> bool:
        """Whether a window without any event must be closed too, because something lasts into it (such as a blocked read)."""
        return any(package.ends.has_running_time(self.state, until_ns) for package in PACKAGES)

    def step_clock(self, ts_us: int, ns: int, seq: int) -> None:
        """The broker's wall clock was set: from event `seq` on, which comes next, (ts_us, ns) is one instant."""
        self.state.grow()
        for package in PACKAGES:
            package.ends.step_clock(self.state, ts_us, ns, seq)

    def end_epoch(self, epoch: int, ts_us: int, ns: int) -> list[Rows]:
        """The broker process is gone: everything that lives ends at (ts_us, ns). The open window is closed afterwards."""
        counts, broker = self.state.counts, self.state.group("broker")
        ends = np.zeros((counts.topics + counts.connections, len(LANE_COLUMNS)), dtype=np.int64)
        unloads, closes = ends[: counts.topics], ends[counts.topics :]
        unloads[:, COLUMN["type_code"]] = CODES["topic_unload"]
        unloads[:, COLUMN["topic_id"]] = broker.topics["id"][: counts.topics]
        closes[:, COLUMN["type_code"]] = CODES["conn_close"]
        closes[:, CONN] = broker.connections["id"][: counts.connections]
        ends[:, COLUMN["ts"]], ends[:, COLUMN["ns"]], ends[:, COLUMN["epoch"]] = ts_us, ns, epoch
        rows = self.fold(ends)
        self.state.grow()
        for package in PACKAGES:
            package.ends.end_epoch(self.state, ts_us, ns)
        return [*rows, *self._taken(epoch)]

    def end_log(self, epoch: int, ts_us: int, ns: int) -> list[Rows]:
        """Nothing more will come after (ts_us, ns), though the process may live. The open window is closed afterwards."""
        self.state.grow()
        for package in PACKAGES:
            package.ends.end_log(self.state, ts_us, ns)
        return self._taken(epoch)

    def waits(self, before_us: int) -> bool:
        """Whether a row of a time before `before_us` may still come, though that time is over."""
        return any(package.ends.waits(self.state, before_us) for package in PACKAGES)

    def probe(self, now_us: int, epoch: int) -> list[Rows]:
        """Rows as of a check of every topic at this moment, without a decision; changes nothing but the room for rows that go out."""
        self.state.grow()
        probe(self.state, now_us)
        return self._taken(epoch)

    def arrays(self) -> dict[str, Array]:
        """The whole state as named int64 arrays, compacted: what the constructor takes."""
        return self.state.saved()

    def ordered_arrays(self) -> dict[str, Array]:
        """As `arrays()`, in an order that follows from what is in them: equal states have equal arrays."""
        return self.state.saved(ordered=True)

    def _taken(self, epoch: int) -> list[Rows]:
        plain = ((table, rows.view(np.ndarray)) for table, rows in self.state.taken(epoch))  # fields of records cost ten times as much
        return [Rows(table, {name: rows[name] for name in rows.dtype.names or ()}, len(rows)) for table, rows in plain]
