"""The answer of what-if for people: a sentence, a table of both lives, small charts, and what it takes for granted. Pure."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from pipeline.diagnosis.counts import counted, entries
from pipeline.diagnosis.duration import duration
from pipeline.diagnosis.instants import time_words
from pipeline.what_if.compare import FEW_ENTRIES

Document = dict[str, Any]

CHART_COLUMNS = 60
_BARS = " ▁▂▃▄▅▆▇█"
#: What holds a subscription, after "held by".
HOLDERS = {
    "consumers": "its consumers",
    "unacked": "a cap of unacknowledged messages",
    "no_consumer": "no consumer",
    "catching_up": "reads on their way",
}


def text_lines(document: Document) -> Iterable[str]:
    """Lines for a person, the answer first."""
    if not document["self_check"]["ok"]:
        yield f"No answer: a replay with the settings as they were is not the record: {'; '.join(document['self_check']['reasons'])}."
    else:
        yield from _answer_lines(document)
    yield ""
    yield from _table(document)
    if document["self_check"]["ok"]:
        yield ""
        for one in _changed(document):
            yield from _charts(one)
        yield _check_line(document)
    yield ""
    yield "This takes for granted:"
    yield from (f"- {text}" for text in document["assumptions"])


def _changed(document: Document) -> list[Document]:
    return [one for one in document["subscriptions"] if one["changes"]]


def _answer_lines(document: Document) -> Iterable[str]:
    for one in _changed(document):
        yield f"{one['subscription']}: {_life_words(one['actual'])}; it would have been {_life_words(one['predicted'])}."
    yield _holder_line(document)
    if not document["sure"]:
        yield f"Not sure: {_doubt(_changed(document))}. The columns low and high have the range."
    if document["producers_held_from"] is not None:
        yield f"Its quota would shut producers out from {time_words(document['producers_held_from'])}: what follows is as if it did not."


def _holder_line(document: Document) -> str:
    """Who would hold the changed subscriptions longest. A backlog that nobody takes is held by nothing that could be raised."""
    if document["next_limit"] is not None:
        return f"Then {holder_words(document['next_limit'])} would hold it."
    alone = [one["subscription"] for one in _changed(document) if _longest(one["predicted"]) == "no_consumer"]
    if alone:
        return f"Then no limiter would hold it; {', '.join(alone)} would wait for a consumer."
    return "Then no limiter, no cap and no consumer would hold it for 1% of the time."


def _longest(life: Document) -> str | None:
    """The holder for the longest time; null: none is known."""
    return max(life["held_s"], key=lambda name: life["held_s"][name], default=None)


def _doubt(changed: list[Document]) -> str:
    """Why another backlog is as likely."""
    bounded = [one["subscription"] for one in changed if one["consumers"]["pace_ms"] is not None and not one["consumers"]["pace_known"]]
    if bounded:
        return f"consumers of {', '.join(bounded)} were never busy for long, so their best pace is not known"
    return "consumers would be hardly fast enough, so a few per cent of their pace decide"


def holder_words(name: str) -> str:
    """A limiter as `the topic's limit of messages`, anything else in words."""
    if name in HOLDERS:
        return HOLDERS[name]
    level, _, dimension = name.split(".")
    return f"the {level}'s limit of {dimension}"


def _life_words(life: Document) -> str:
    highest = f"{entries(life['peak'])} at most"
    if life["drained_at"] is not None:
        highest += f", gone at {time_words(life['drained_at'])}"
    if life["samples"][-1]["backlog"] > (FEW_ENTRIES if life["drained_at"] is not None else 0):
        highest += f", {life['samples'][-1]['backlog']:,} at the end"
    return highest + (f", {entries(life['evicted_entries'])} lost" if life["evicted_entries"] else "")


def _table(document: Document) -> Iterable[str]:
    header = ("subscription", "", "highest", "at the end", "low", "high", "oldest", "lowered reads", "lost", "held by")
    rows: list[tuple[str, ...]] = [header]
    for one in document["subscriptions"]:
        rows.append((one["subscription"], "as it was", *_cells(one["actual"])))
        if one["predicted"] is not None:
            rows.append(("", "would be", *_cells(one["predicted"])))
    widths = [max(len(row[k]) for row in rows) for k in range(len(header))]
    last = len(header) - 1
    for row in rows:
        yield "  ".join(row[k].ljust(widths[k]) if k in (0, 1, last) else row[k].rjust(widths[k]) for k in range(len(header))).rstrip()


def _cells(life: Document) -> tuple[str, ...]:
    last = life["samples"][-1]
    waiting = [sample["age_s"] for sample in life["samples"] if sample["backlog"]]
    oldest = "?" if None in waiting else duration(max(waiting, default=0.0))
    lowered = sum(count for levels in life["throttled"].values() for count in levels.values())
    held = _longest(life)
    return (
        f"{life['peak']:,}",
        f"{last['backlog']:,}",
        f"{last['low']:,}" if "low" in last else "",
        f"{last['high']:,}" if "high" in last else "",
        oldest,
        f"{lowered:,}",
        f"{life['evicted_entries']:,}",
        "" if held is None else f"{holder_words(held)} ({duration(life['held_s'][held])})",
    )


def _charts(one: Document) -> Iterable[str]:
    """Both backlogs over time, on one scale."""
    highest = max(1, one["actual"]["peak"], one["predicted"]["peak"])
    yield f"backlog of {one['subscription']}, up to {highest:,}"
    for name, life in (("as it was", one["actual"]), ("would be", one["predicted"])):
        yield f"{name.ljust(9)}  {_bars([sample['backlog'] for sample in life['samples']], highest)}"


def _bars(values: Sequence[int], highest: int) -> str:
    """The highest of each column's values; any above nothing is seen."""
    columns, last = min(CHART_COLUMNS, len(values)), len(_BARS) - 1
    borders = [len(values) * k // columns for k in range(columns + 1)]
    most = [max(values[begin:end]) for begin, end in pairwise(borders)]
    return "".join(_BARS[0] if value <= 0 else _BARS[min(last, max(1, round(value / highest * last)))] for value in most)


def _check_line(document: Document) -> str:
    check = document["self_check"]
    return (
        f"{time_words(document['from'])} to {time_words(document['to'])}, {document['broker']}: replayed with the settings as they were, "
        f"the backlog differs by {check['area_error']:.1%}, {counted(len(document['subscriptions']), 'subscription')}."
    )
