"""How long something lasted in the open window: charged on the monotonic clock, split where the wall clock passes a border."""

from dataclasses import dataclass


@dataclass
class Stretch:
    """Lasts while it has an `anchor`: the (ts, ns) where it began, or where it was split last."""

    anchor: tuple[int, int] | None = None
    spent_ns: int = 0

    def begin(self, ts: int, ns: int) -> None:
        """It lasts from here, unless it does already."""
        if self.anchor is None:
            self.anchor = (ts, ns)

    def end(self, ns: int) -> None:
        """It lasted until `ns`."""
        if self.anchor is not None:
            self.spent_ns += max(0, ns - self.anchor[1])
        self.anchor = None

    def split(self, border: int, limit_ns: int) -> None:
        """The wall clock passes `border` before the event at `limit_ns`: never before the stretch began, never after that event."""
        if self.anchor is not None:
            ts, ns = self.anchor
            border_ns = max(ns, min(self._ns_at(border), limit_ns))
            self.end(border_ns)
            self.anchor = (max(border, ts), border_ns)

    def step(self, ts: int, ns: int) -> None:
        """The wall clock was set: it goes on at `ts`."""
        if self.anchor is not None:
            self.end(ns)
            self.anchor = (ts, ns)

    def take(self) -> int:
        """What it lasted in the window that ends (ns); the next one begins."""
        spent, self.spent_ns = self.spent_ns, 0
        return spent

    def lasts_until(self, ns: int) -> bool:
        """Whether there is time to charge before `ns`."""
        return self.anchor is not None and self.anchor[1] < ns

    def _ns_at(self, ts: int) -> int:
        assert self.anchor is not None
        return self.anchor[1] + max(0, ts - self.anchor[0]) * 1000


@dataclass
class OpenCooldown(Stretch):
    """Ends by itself at `end_ns`. The broker's limiter lives on the wall clock: it closes at `close_us`, however that is reached."""

    end_ns: int = 0
    close_us: int = 0

    def open(self, ts: int, ns: int, for_ms: int) -> bool:
        """Open from here for `for_ms`; whether it was closed before."""
        opened = self.anchor is None
        self.begin(ts, ns)
        self.end_ns, self.close_us = ns + for_ms * 1_000_000, ts + for_ms * 1000
        return opened

    def over(self, limit_ns: int, border: int | None = None) -> tuple[int, int] | None:
        """(ts, ns) of its end, if that comes by `limit_ns` (and before `border`): it lasts no longer then."""
        if self.anchor is None or self.end_ns > limit_ns or (border is not None and self.close_us >= border):
            return None
        self.end(self.end_ns)
        return self.close_us, self.end_ns

    def step(self, ts: int, ns: int) -> None:
        if self.anchor is not None:
            super().step(ts, ns)
            self.close_us = max(self.close_us, ts)
            self.end_ns = ns + (self.close_us - ts) * 1000


@dataclass
class PauseTimer:
    """Ends a pause at `due_ns`; `anchor` says where that is on the wall clock."""

    due_ns: int
    anchor: tuple[int, int]

    @property
    def due_ts(self) -> int:
        """Estimated, µs."""
        return self.anchor[0] + max(0, self.due_ns - self.anchor[1]) // 1000
