"""An incident: a small log, what is true in it, and what the answers about it must be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from incidents.scene import Scene


class Stretch(NamedTuple):
    """From `from_s` to `to_s` each of these causes is right; none: no backlog. `behind`: None where it follows from the causes."""

    topic: str
    subscription: str
    from_s: float
    to_s: float
    causes: tuple[str, ...]
    behind: bool | None = None


@dataclass(frozen=True)
class Check:
    """What is right of one answer. One of `explain` (topic, subscription), `why` (the same) and `sql` says what is asked.

    `at`: seconds after the start, `window`: seconds, both of `explain`. `exit`: the status of the process. `document`: keys of the document
    (as `limits[0].rate`), or columns of the row of `why`, with their values; `within`: least and most; `unlike`: values that are wrong.
    `says`, `never`: words of the text. `rows`: of the query.
    """

    what: str
    explain: tuple[str, str] | None = None
    why: tuple[str, str] | None = None
    sql: str | None = None
    at: float | None = None
    window: int = 600
    exit: int | None = None
    document: Mapping[str, Any] = field(default_factory=dict)
    within: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    unlike: Mapping[str, Any] = field(default_factory=dict)
    says: Sequence[str] = ()
    never: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()


@dataclass(frozen=True)
class Incident:
    """`report`: where it was reported in public, or how it was found. `scenes`: its brokers; the log of each ends at `until` seconds.

    `loose`: subscriptions of which no truth is stated, with the reason.
    """

    name: str
    report: str
    until: float
    scenes: Callable[[], Sequence[Scene]]
    truth: Sequence[Stretch]
    checks: Sequence[Check]
    loose: Mapping[tuple[str, str], str] = field(default_factory=dict)
