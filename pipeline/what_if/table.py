"""Both lives of each subscription as a table of at most 100 columns, as long as its names are no longer. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.diagnosis.duration import duration

Document = dict[str, Any]

_HEADER = ("", "highest", "at end", "low–high", "oldest", "lowered", "lost", "held longest by")
#: Columns of text; the others are numbers.
_TEXTS = (0, len(_HEADER) - 1)
#: What holds a subscription, in a cell.
_HOLDERS = {"consumers": "consumers", "unacked": "a cap", "no_consumer": "no consumer", "catching_up": "reads"}
#: From here on a number has three digits and its unit.
_MOST_WHOLE = 100_000
_UNITS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
LEGEND = "lowered: reads that a limit made smaller; lost: evicted or expired; own: its subscription's limit"


def table_lines(document: Document) -> Iterable[str]:
    """A line with the name of each subscription (with its topic where there are several), and a line for each of its lives."""
    names: list[tuple[int, str]] = []
    rows: list[tuple[str, ...]] = [_HEADER]
    for one in document["subscriptions"]:
        names.append((len(rows), name_of(one, document)))
        rows.append(("  as it was", *cells(one["actual"])))
        if one["predicted"] is not None:
            rows.append(("  would be", *cells(one["predicted"])))
    widths = [max(len(row[k]) for row in rows) for k in range(len(_HEADER))]
    lines = [_line(row, widths) for row in rows]
    for at, name in reversed(names):
        lines.insert(at, name)
    yield from lines
    yield LEGEND


def name_of(one: Document, document: Document) -> str:
    """A subscription; behind its topic where the answer has several topics."""
    topics = {other["topic"] for other in document["subscriptions"]}
    return f"{one['topic']} {one['subscription']}" if len(topics) > 1 else str(one["subscription"])


def longest(life: Document) -> str | None:
    """The holder for the longest time; null: none is known."""
    return max(life["held_s"], key=lambda name: life["held_s"][name], default=None)


def short(count: int) -> str:
    """Up to six characters: `99,999`, then `123k`, `1.23M`."""
    if count < _MOST_WHOLE:
        return f"{count:,}"
    size, unit = next((size, unit) for size, unit in _UNITS if count >= size)
    return f"{count / size:.3g}{unit}" if count < 999.5 * size else f"{count / size:.0f}{unit}"


def lasting(seconds: float) -> str:
    """A duration of at most ten characters: from ten minutes on in whole minutes, from ten hours on in whole hours."""
    unit = next((unit for least, unit in ((36_000, 3_600), (600, 60)) if seconds >= least), 1)
    return duration(seconds if unit == 1 else round(seconds / unit) * unit)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(w) if k in _TEXTS else text.rjust(w) for k, (text, w) in enumerate(zip(row, widths, strict=True))).rstrip()


def cells(life: Document) -> tuple[str, ...]:
    """Of a life, as the header names them: from `highest` to `held longest by`."""
    last = life["samples"][-1]
    waiting = [sample["age_s"] for sample in life["samples"] if sample["backlog"]]
    lowered = sum(count for levels in life["throttled"].values() for count in levels.values())
    held = longest(life)
    return (
        short(life["peak"]),
        short(last["backlog"]),
        f"{short(last['low'])}–{short(last['high'])}" if "low" in last else "",
        "?" if None in waiting else lasting(max(waiting, default=0.0)),
        short(lowered),
        short(life["evicted_entries"]),
        "" if held is None else f"{_holder(held)} {lasting(life['held_s'][held])}",
    )


def _holder(name: str) -> str:
    if name in _HOLDERS:
        return _HOLDERS[name]
    level, _, dimension = name.split(".")
    return f"{'own' if level == 'subscription' else level} {dimension}"
