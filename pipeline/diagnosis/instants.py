"""Which instant an answer is about, for people. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pipeline.diagnosis.duration import duration

#: What is foreseen for later than this has no instant: the last minutes foresee no second of another day.
_SOON = timedelta(days=1)


def time_words(at: datetime) -> str:
    """`2026-11-21T11:30:05Z`: whole seconds, those that began before."""
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def is_soon(at: datetime, now: datetime) -> bool:
    """Whether what is foreseen for `at` has an instant."""
    return at - now <= _SOON


def foreseen_words(at: datetime, now: datetime, first: datetime) -> str:
    """`at` as of `now`: its time, or how long it takes. `first` decides: the instant that the sentence is about."""
    return time_words(at) if is_soon(first, now) else duration((at - now).total_seconds())


def foreseen_at(at: datetime, now: datetime) -> str:
    """`at 2026-11-21T11:30:05Z`, or `in 2 d 19 h`."""
    return f"{'at' if is_soon(at, now) else 'in'} {foreseen_words(at, now, at)}"


def as_of_line(document: Mapping[str, Any]) -> str:
    """The instant of the answer; how it differs from the one that was asked about, and whether the log goes on."""
    words = f"{time_words(document['to'])}, {document['broker']}"
    asked = document["asked_at"]
    if asked is None or asked == document["to"]:
        return words
    if asked <= document["to"]:
        return f"{words}: the end of the window that has {time_words(asked)}"
    gone_on = "which its log has not reached" if document["now"] else "after which its log was silent"
    return f"{words}: asked about {time_words(asked)}, {gone_on}"
