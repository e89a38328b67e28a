"""The answer of what-if for people: a sentence, a table of both lives, small charts, and what it takes for granted. Pure."""

from collections.abc import Iterable
from typing import Any

from pipeline.diagnosis.counts import counted, entries
from pipeline.diagnosis.instants import time_words
from pipeline.what_if.assumptions import SHUT_OUT
from pipeline.what_if.chart import chart_lines
from pipeline.what_if.compare import FEW_ENTRIES
from pipeline.what_if.projected_words import projection_lines
from pipeline.what_if.table import longest, name_of, table_lines

Document = dict[str, Any]

#: Subscriptions that have a sentence and charts, at most: the ones with the largest backlogs.
MOST_SHOWN = 5
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
        yield from answer_lines(document)
    yield ""
    yield from table_lines(document)
    if document["self_check"]["ok"]:
        yield ""
        for one in _worst(document):
            yield from chart_lines(name_of(one, document), one)
        yield ""
        if document["until"] is not None:
            yield from projection_lines(document, _worst(document))
        yield from _check_lines(document)
    yield ""
    yield "This takes for granted:"
    yield from (f"- {text}" for text in document["assumptions"])


def _changed(document: Document) -> list[Document]:
    return [one for one in document["subscriptions"] if one["changes"]]


def _worst(document: Document) -> list[Document]:
    """Those that change, the largest backlogs of either life first."""
    return sorted(_changed(document), key=lambda one: -max(one["actual"]["peak"], one["predicted"]["peak"]))[:MOST_SHOWN]


def answer_lines(document: Document, named_range: str = " The column low–high has the range.") -> Iterable[str]:
    """Sentences of a document whose self-check is ok: both lives, the holder, and each doubt; `named_range`: where its range is shown."""
    worst = _worst(document)
    for one in worst:
        yield f"{one['subscription']}: {_life_words(one['actual'])}; it would have been {_life_words(one['predicted'])}."
    if len(worst) < len(_changed(document)):
        yield f"{counted(len(_changed(document)) - len(worst), 'more subscription')}, with smaller backlogs: in the table."
    yield _holder_line(document)
    if not document["sure"]:
        yield f"Not sure: {_doubt(document)}.{named_range}"
    if document["producers_held_from"] is not None:
        yield f"Its quota would shut producers out from {time_words(document['producers_held_from'])}: what follows is as if it did not."


def _holder_line(document: Document) -> str:
    """Who would hold the changed subscriptions longest. A backlog that nobody takes is held by nothing that could be raised."""
    if document["next_limit"] is not None:
        return f"Then {holder_words(document['next_limit'])} would hold it."
    alone = [one["subscription"] for one in _changed(document) if longest(one["predicted"]) == "no_consumer"]
    if alone:
        return f"Then no limiter would hold it; {', '.join(alone)} would wait for a consumer."
    return "Then no limiter, no cap and no consumer would hold it for 1% of the time."


def _doubt(document: Document) -> str:
    """Why another backlog is as likely."""
    if SHUT_OUT in document["assumptions"]:
        return SHUT_OUT
    bounded = [
        one["subscription"] for one in _changed(document) if one["consumers"]["pace_ms"] is not None and not one["consumers"]["pace_known"]
    ]
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


def _check_lines(document: Document) -> Iterable[str]:
    yield f"Compared: {time_words(document['from'])} to {time_words(document['to'])}, {document['broker']}."
    yield (
        f"Self-check: replayed with the settings as they were, the backlog of {counted(len(document['subscriptions']), 'subscription')}"
        f" differs by {document['self_check']['area_error']:.1%}."
    )
