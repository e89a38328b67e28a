"""Logs that go over midnight: events of any log, moved in time."""

from typing import Any

DAY_US = 86_400_000_000
#: Fields that hold a time besides `ts`, in ms.
_TIMES_MS = ("publish_ts", "close_ts")


def moved(events: list[dict[str, Any]], shift_us: int) -> list[dict[str, Any]]:
    """The same log `shift_us` later (whole ms), its epoch too."""
    return [
        {
            **event,
            "ts": event["ts"] + shift_us,
            "epoch": event["epoch"] + shift_us // 1000,
            **{name: event[name] + shift_us // 1000 for name in _TIMES_MS if event.get(name) is not None},
        }
        for event in events
    ]


def around_midnight(events: list[dict[str, Any]], share: float = 0.5) -> list[dict[str, Any]]:
    """The log moved so that midnight lies at `share` of its time."""
    first, last = events[0]["ts"], max(event["ts"] for event in events)
    instant = first + round((last - first) * share)
    return moved(events, (-instant % DAY_US) // 1000 * 1000)
