"""How well charged causes agree with true ones: intervals of truth against rows of `subscription_causes`. Pure, in integers of ns.

Rows say how much of a window was charged to each cause, not when in it. So a window's time is right as far as the same cause is true
and charged in it: the smaller of the two. The rest of its true causes meets the rest of its charged ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

#: broker, epoch, topic, subscription.
Key = tuple[str, int, str, str]
#: (from_ns, µs to add to ns / 1000 for the wall clock), in order.
Clock = list[tuple[int, int]]
Charges = dict[tuple[Key, int], dict[str, int]]
UNKNOWN, NOT_CHARGED, NO_BACKLOG = "unknown", "(not charged)", "(no backlog)"


def label(row: Mapping[str, Any]) -> str:
    """A cause in words, with the level and dimension of a limiter."""
    return " ".join(str(part) for part in (row["cause"], row["level"], row["dimension"]) if part is not None)


def key_of(row: Mapping[str, Any]) -> Key:
    """Whose row it is."""
    return row["broker"], row["epoch"], row["topic"], row["subscription"]


def clocks(facts: Mapping[str, Any]) -> dict[tuple[str, int], Clock]:
    """(broker, epoch) → its clock, of a run's facts.json."""
    return {
        (life["broker"], life["epoch"]): [(part["from_ns"], part["ts_minus_ns_us"]) for part in life["clock"]] for life in facts["lives"]
    }


@dataclass
class Confusion:
    """Backlog time in ns. `matrix`: (true, charged) → ns. `main`: of windows, by their main causes."""

    matrix: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    main_right: int = 0
    main_wrong: int = 0
    main_unknown: int = 0

    def add(self, other: "Confusion") -> None:
        """Adds another run's."""
        for cell, ns in other.matrix.items():
            self.matrix[cell] += ns
        self.main_right += other.main_right
        self.main_wrong += other.main_wrong
        self.main_unknown += other.main_unknown

    @property
    def backlog(self) -> int:
        """True backlog time."""
        return sum(ns for (true, _), ns in self.matrix.items() if true != NO_BACKLOG)

    @property
    def right(self) -> int:
        """Time charged to its true cause."""
        return sum(ns for (true, charged), ns in self.matrix.items() if true == charged)

    @property
    def unknown(self) -> int:
        """Backlog time charged to `unknown`."""
        return sum(ns for (true, charged), ns in self.matrix.items() if charged == UNKNOWN and true not in (UNKNOWN, NO_BACKLOG))

    @property
    def wrong(self) -> int:
        """Backlog time charged to another cause, or not at all."""
        return self.backlog - self.right - self.unknown

    @property
    def charged_without_backlog(self) -> int:
        """Time that was charged and had no backlog."""
        return sum(ns for (true, _), ns in self.matrix.items() if true == NO_BACKLOG)


def compared(truth: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, Any]], of: Mapping[tuple[str, int], Clock]) -> Confusion:
    """Intervals of truth (`from_ns`, `to_ns`) against rows of `subscription_causes` (`window_start`, `window_end` in µs, `ns`).

    `of` has the clock of every epoch of the truth. Raises ValueError where the rows have windows of several lengths.
    """
    charged: Charges = {}
    lengths_us = set()
    for row in rows:
        lengths_us.add(row["window_end"] - row["window_start"])
        causes = charged.setdefault((key_of(row), row["window_start"]), defaultdict(int))
        causes[label(row)] += row["ns"]
    if len(lengths_us) > 1:
        raise ValueError(f"windows of several lengths: {sorted(lengths_us)} µs")
    true: Charges = {}
    for interval in truth:
        key = key_of(interval)
        # Without any row all of it is one window that nobody charged.
        for window, ns in split(interval["from_ns"], interval["to_ns"], of[key[:2]], *lengths_us or {2**62}):
            causes = true.setdefault((key, window), defaultdict(int))
            causes[label(interval)] += ns
    found = Confusion()
    for place in true.keys() | charged.keys():
        _add_window(found, true.get(place, {}), charged.get(place, {}))
    return found


def split(from_ns: int, to_ns: int, clock: Clock, length_us: int) -> Iterator[tuple[int, int]]:
    """(window start in µs, ns) of an interval of the monotonic clock: cut where the wall clock is set, and at the borders of windows."""
    for place, (began_ns, ahead_us) in enumerate(clock):
        ends_ns = clock[place + 1][0] if place + 1 < len(clock) else to_ns
        at_ns, end_ns = max(from_ns, began_ns), min(to_ns, ends_ns)
        while at_ns < end_ns:
            window_us = (at_ns // 1000 + ahead_us) // length_us * length_us
            border_ns = (window_us + length_us - ahead_us) * 1000
            yield window_us, min(end_ns, border_ns) - at_ns
            at_ns = border_ns


def _add_window(found: Confusion, true: Mapping[str, int], charged: Mapping[str, int]) -> None:
    _judge_main(found, true, charged)
    left_true, left_charged = dict(true), dict(charged)
    for cause in true.keys() & charged.keys():
        same = min(true[cause], charged[cause])
        found.matrix[cause, cause] += same
        left_true[cause] -= same
        left_charged[cause] -= same
    rest = [(cause, ns) for cause, ns in sorted(left_charged.items()) if ns]
    for cause, left in sorted(left_true.items()):
        ns = left
        while ns:
            if not rest:
                found.matrix[cause, NOT_CHARGED] += ns
                break
            other, there = rest.pop(0)
            met = min(ns, there)
            found.matrix[cause, other] += met
            ns -= met
            if there > met:
                rest.insert(0, (other, there - met))
    for cause, ns in rest:
        found.matrix[NO_BACKLOG, cause] += ns


def _judge_main(found: Confusion, true: Mapping[str, int], charged: Mapping[str, int]) -> None:
    """All backlog time of a window counts as its main cause is judged."""
    backlog = sum(true.values())
    if not backlog:
        return
    truly = _main(true)
    said = _main(charged) if charged else NOT_CHARGED
    if said == truly:
        found.main_right += backlog
    elif said == UNKNOWN:
        found.main_unknown += backlog
    else:
        found.main_wrong += backlog


def _main(causes: Mapping[str, int]) -> str:
    return max(sorted(causes), key=lambda cause: causes[cause])


def markdown(found: Confusion) -> str:
    """The matrix in s, and the shares of backlog time, as Markdown."""
    columns = sorted({charged for _, charged in found.matrix}, key=_order)
    lines = ["| true cause ↓ charged → | " + " | ".join(columns) + " |", "|---" + "|--:" * len(columns) + "|"]
    for true in sorted({true for true, _ in found.matrix}, key=_order):
        cells = [found.matrix.get((true, charged), 0) for charged in columns]
        lines.append(f"| {true} | " + " | ".join(f"{ns / 1e9:,.1f}" if ns else "" for ns in cells) + " |")
    lines += ["", "| share of backlog time | right | wrong | unknown |", "|---|--:|--:|--:|"]
    lines.append("| by time | " + _shares(found.right, found.wrong, found.unknown) + " |")
    lines.append("| by the main cause of a window | " + _shares(found.main_right, found.main_wrong, found.main_unknown) + " |")
    return "\n".join(lines) + "\n"


def _order(cause: str) -> tuple[bool, bool, str]:
    return cause.startswith("("), cause == UNKNOWN, cause


def _shares(*parts: int) -> str:
    whole = sum(parts) or 1
    return " | ".join(f"{100 * part / whole:.2f} %" for part in parts)


def written_into(page: str, name: str, table: str) -> str:
    """`page` with `table` between the lines `<!-- begin NAME -->` and `<!-- end NAME -->`. Raises ValueError where they are missing."""
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    if begin not in page or end not in page:
        raise ValueError(f"the page has no lines {begin.strip()} and {end}")
    before, _, rest = page.partition(begin)
    return f"{before}{begin}{table}{end}{rest.partition(end)[2]}"
