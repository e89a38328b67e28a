"""A projection for people: of which demand it is made, and when each subscription is current. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.diagnosis.counts import entries
from pipeline.diagnosis.duration import duration
from pipeline.diagnosis.instants import time_words
from pipeline.what_if.chart import projected_lines
from pipeline.what_if.table import name_of

Document = dict[str, Any]


def projection_lines(document: Document, chosen: Sequence[Document]) -> Iterable[str]:
    """Of a document with `until`, about the chosen subscriptions."""
    until = document["until"]
    lasted = duration((until["demand_to"] - until["demand_from"]).total_seconds())
    yield (
        f"A projection to {time_words(until['to'])}: the last {lasted} of the record come again and again,"
        f" {until['entries_per_s']:,g} entries/s."
    )
    if until["without_consumer"]:
        yield f"  No consumer of {', '.join(until['without_consumer'])} is there at its beginning: --to begins it earlier."
    for one in chosen:
        was, then = one["projected"]["as_it_was"], one["projected"]["would_be"]
        yield f"  {one['subscription']}, as it was set: {_words(was, until)}; changed since the record began: {_words(then, until)}."
        yield from projected_lines(name_of(one, document), one)
    yield ""


def _words(life: Document, until: Document) -> str:
    end = until["demand_to"]
    if life["current_at"] is None:
        return f"not current until then, {entries(life['at_end'])} wait at the end" + _perhaps(life, end)
    if life["current_at"] <= end:
        return f"current from its beginning on{_range(life, end)}"
    return f"current after {duration((life['current_at'] - end).total_seconds())}{_range(life, end)}"


def _perhaps(life: Document, end: Any) -> str:
    """Quicker consumers, or luck with a shared limit."""
    return "" if life["earliest"] is None else f"; perhaps after {duration((life['earliest'] - end).total_seconds())}"


def _range(life: Document, end: Any) -> str:
    """Other instants at which it may be current."""
    if life["latest"] is None:
        return ", but perhaps not until then"
    latest = duration((life["latest"] - end).total_seconds())
    return "" if life["latest"] == life["current_at"] else f" ({latest} at the latest)"
