"""What to do: steps in the order in which to take them. Pure."""

from collections.abc import Sequence

from pipeline.diagnosis.by_cause import BY_CAUSE
from pipeline.diagnosis.came_back import come_and_go
from pipeline.diagnosis.commands import LOSES_DATA, Step, told
from pipeline.diagnosis.counts import entries
from pipeline.diagnosis.instants import time_words
from pipeline.diagnosis.own_cursors import OWN, READER, own_advice
from pipeline.diagnosis.verdict import Document, is_same_cause
from pipeline.diagnosis.words import cause_words

#: Causes that are there, or not: a transaction is open, a consumer is connected.
_STATES = ("no_consumer", "transaction", "channel", "no_flow", "stuck")


def advice(document: Document) -> list[Step]:
    """For whose cursor it is, and for the cause of the document; none where nothing is to be done."""
    if not document["behind"]:
        return []
    if document["cursor_kind"] in OWN:
        return mildest_first(own_advice(document))
    steps = [step for held in _held_by(document) for step in BY_CAUSE[held["cause"]](held)]
    return mildest_first([*_lost_to_reader(document), *dict.fromkeys(steps), *_over(document)])


def _held_by(document: Document) -> list[Document]:
    """The document, as if each of its causes were the only one: the cause at the end first, for an operator acts on now.

    That reads and deliveries follow each other at the end, or that the cause is not known then, is no reason to forget the main one.
    """
    last = document["last_cause"]
    if document["status"] != "unknown" and document["cause"] is None and last is not None:
        return [{**document, **last}]  # no window of the stretch has a backlog: it came since
    if document["status"] == "unknown" or document["cause"] is None:
        return [{**document, "cause": "unknown"}]
    if last is None or is_same_cause(last, document) or last["cause"] == "unknown":
        return [document]
    if _is_over(document):
        return [{**document, **last}]
    return [document] if last["cause"] == "catching_up" else [{**document, **last}, document]


def _is_over(document: Document) -> bool:
    """Whether the main cause is a state that has ended: its step would tell somebody to end it. Of others, and of consumers that come and
    go, nobody knows by the end of one stretch.
    """
    last = document["last_cause"]
    is_other = last is not None and last["cause"] not in ("unknown", document["cause"])
    return is_other and document["cause"] in _STATES and not come_and_go(document)


def _over(document: Document) -> list[Step]:
    if document["status"] == "unknown" or not _is_over(document):
        return []
    since = time_words(document["last_cause"]["since"])
    return [told(f"Most of its backlog was charged to {cause_words(document)}. That is over since {since}.")]


def mildest_first(steps: Sequence[Step]) -> list[Step]:
    """What loses data comes last, whoever wrote the steps in which order. Raises ValueError where nothing else is left."""
    if steps and all(one.effect == LOSES_DATA for one in steps):
        raise ValueError("advice that only loses data")
    return sorted(steps, key=lambda one: one.effect == LOSES_DATA)


def _lost_to_reader(document: Document) -> list[Step]:
    """A reader keeps no entries: the topic is trimmed beneath it as its retention and the durable cursors allow."""
    lost = document["lost_entries"]
    if document["cursor_kind"] != READER or not lost:
        return []
    return [told(f"It lost {entries(lost)} by trimming or expiry, before it read them: a reader keeps none. Retention keeps them longer.")]
