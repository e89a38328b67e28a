"""Which instant an answer is about, for people. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def time_words(at: datetime) -> str:
    """`2026-11-21T11:30:05Z`: whole seconds, those that began before."""
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


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
