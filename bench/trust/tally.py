"""Judgements, counted and shown: what is stored, and the table of docs/design/causes.md. Pure."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.trust.judge import OPEN, RIGHT, UNKNOWN, WRONG, Judgement

LEVELS = ("high", "medium", "low")
#: What a level promises: the least share of right ones, of those that name a cause.
PROMISES = {"high": 0.99, "medium": 0.85}
WORDS = (RIGHT, WRONG, UNKNOWN)
#: Of each kind so many cases are stored (of each log) and printed, to be looked at.
FEW = 3


@dataclass
class Tally:
    """`counts`: cause as it was said (without level and dimension) → level of confidence → word → how many.

    `cases`: wrong ones, wrong all-clears and false alarms, in words; `false_clears` and `false_alarms` count all of them.
    """

    counts: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    asked: int = 0
    open: int = 0
    false_clears: int = 0
    false_alarms: int = 0
    cases: dict[str, list[str]] = field(default_factory=dict)

    def take(self, one: Judgement, confidence: str, case: str) -> None:
        """Count a judgement; `case` says where it was made."""
        self.asked += 1
        if one.word == OPEN:
            self.open += 1
        else:
            cause = one.cause if one.cause.startswith("(") else one.cause.split(" ")[0]
            levels = self.counts.setdefault(cause, {})
            words = levels.setdefault(confidence, {})
            words[one.word] = words.get(one.word, 0) + 1
        self.false_clears += one.false_clear
        self.false_alarms += one.false_alarm
        if one.word == WRONG:
            self._keep(f"wrong, {confidence}", f"{case}: {one.cause}, true: {one.true}")
        if one.false_clear:
            self._keep("wrong all-clear", f"{case}: {one.cause}, true: {one.true}")
        if one.false_alarm:
            self._keep("false alarm", f"{case}: {one.cause}")

    def _keep(self, kind: str, case: str) -> None:
        self.cases.setdefault(kind, []).append(case)

    def add(self, other: "Tally") -> None:
        """Add another log's."""
        for cause, levels in other.counts.items():
            for level, words in levels.items():
                mine = self.counts.setdefault(cause, {}).setdefault(level, {})
                for word, count in words.items():
                    mine[word] = mine.get(word, 0) + count
        self.asked, self.open = self.asked + other.asked, self.open + other.open
        self.false_clears, self.false_alarms = self.false_clears + other.false_clears, self.false_alarms + other.false_alarms
        for kind, cases in other.cases.items():
            self.cases.setdefault(kind, []).extend(cases)

    def total(self, level: str) -> dict[str, int]:
        """The words of all causes with this level."""
        return {word: sum(levels.get(level, {}).get(word, 0) for levels in self.counts.values()) for word in WORDS}

    def share(self, level: str) -> float | None:
        """Of the answers with this level that name a cause, the share of right ones; None without any."""
        total = self.total(level)
        named = total[RIGHT] + total[WRONG]
        return total[RIGHT] / named if named else None


def stored(tallies: Mapping[str, Tally]) -> str:
    """All that is kept of a run, as JSON: a reviewer reads its difference."""
    logs = {
        name: {
            "asked": one.asked,
            "open": one.open,
            "counts": {
                cause: {level: words for level in LEVELS if (words := _sorted(levels.get(level, {})))}
                for cause, levels in sorted(one.counts.items())
            },
            "wrong all-clears": one.false_clears,
            "false alarms": one.false_alarms,
            "cases": {kind: cases[:FEW] for kind, cases in sorted(one.cases.items())},
        }
        for name, one in sorted(tallies.items())
    }
    return json.dumps(logs, indent=1, ensure_ascii=False) + "\n"


def restored(text: str) -> dict[str, Tally]:
    """What `stored` made, but for the cases that it left out."""
    return {
        name: Tally(one["counts"], one["asked"], one["open"], one["wrong all-clears"], one["false alarms"], one["cases"])
        for name, one in json.loads(text).items()
    }


def together(tallies: Iterable[Tally]) -> Tally:
    """All of them as one."""
    whole = Tally()
    for one in tallies:
        whole.add(one)
    return whole


def markdown(whole: Tally, logs: int) -> str:
    """The table: a row per cause that was said, a column per level: right of those that name a cause."""
    lines = [
        f"{whole.asked:,} answers about {logs} logs; {whole.open:,} of them are about stretches of which the truth is not known.",
        "",
        "| cause of the answer | " + " | ".join(LEVELS) + " | wrong | unknown |",
        "|---|" + "--:|" * (len(LEVELS) + 2),
    ]
    for cause, levels in sorted(whole.counts.items(), key=lambda item: (item[0].startswith("("), item[0] == UNKNOWN, item[0])):
        lines.append(_row(cause, {level: levels.get(level, {}) for level in LEVELS}))
    lines.append(_row("**all**", {level: whole.total(level) for level in LEVELS}))
    shares = ((level, whole.share(level)) for level in LEVELS)
    lines += ["", "| | " + " | ".join(LEVELS) + " |", "|---|" + "--:|" * len(LEVELS)]
    lines.append("| right | " + " | ".join("" if share is None else f"{100 * share:.1f} %" for _, share in shares) + " |")
    lines.append("| promised | " + " | ".join(f"{100 * PROMISES[level]:.0f} %" if level in PROMISES else "" for level in LEVELS) + " |")
    lines += ["", f"Wrong all-clears: {whole.false_clears:,}. False alarms: {whole.false_alarms:,}."]
    return "\n".join(lines) + "\n"


def _row(cause: str, levels: Mapping[str, Mapping[str, int]]) -> str:
    cells = []
    for level in LEVELS:
        right, wrong = levels[level].get(RIGHT, 0), levels[level].get(WRONG, 0)
        cells.append(f"{right:,} of {right + wrong:,}" if right + wrong else "")
    sums = [sum(words.get(word, 0) for words in levels.values()) for word in (WRONG, UNKNOWN)]
    return f"| {cause} | " + " | ".join([*cells, *(f"{count:,}" if count else "" for count in sums)]) + " |"


def _sorted(words: Mapping[str, int]) -> dict[str, int]:
    return {word: words[word] for word in WORDS if words.get(word)}


def broken_promises(whole: Tally) -> list[str]:
    """What the corpus says against the promises, in words; empty where all are kept."""
    found = [
        f"{level}: {share:.2%} are right, {PROMISES[level]:.0%} are promised"
        for level in PROMISES
        if (share := whole.share(level)) is not None and share < PROMISES[level]
    ]
    return found + ([f"{whole.false_clears} wrong all-clears"] if whole.false_clears else [])


def cases_of(whole: Tally, most: int | None = None) -> list[str]:
    """Cases that are not right, by kind: all, or the first `most` of each kind."""
    return [f"{kind}: {case}" for kind, cases in sorted(whole.cases.items()) for case in cases[:most]]


def facts_of(document: Mapping[str, Any]) -> str:
    """What an answer says, for a case."""
    return f"{document['status']} ({document['confidence']})"
