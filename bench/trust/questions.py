"""Many questions about a loaded log, answered as `explain` would: at many instants, of stretches of several lengths."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from bench.trust.truth import US_PER_S, Key
from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.asked import Named
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.pages.report.cached_look import AskedOnce
from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse

#: What people type after `--window`; the default is ten minutes.
WINDOWS_S = (60, 120, 600)


class Question(NamedTuple):
    """What is asked of every subscription of an epoch. Without `at_us`: as of the newest window."""

    at_us: int | None
    window_s: int


def instants(first_us: int, last_us: int, every_s: int, windows_s: Sequence[int] = WINDOWS_S) -> list[Question]:
    """A question every `every_s` of that time, of the lengths in turn."""
    step = every_s * US_PER_S
    times = range((first_us // step + 1) * step, last_us, step)
    return [Question(at, windows_s[place % len(windows_s)]) for place, at in enumerate(times)]


def answers(folder: Path, keys: Iterable[Key], asked: Iterable[Question]) -> Iterator[tuple[Key, Question, Mapping[str, Any]]]:
    """The documents; a question that has no answer (the subscription was not there by then) gives none."""
    room = ReadingRoom(Warehouse(f"file:{folder}"))
    by_life: dict[tuple[str, int], list[Key]] = {}
    for key in sorted(keys):
        by_life.setdefault(key[:2], []).append(key)
    for question in asked:
        at = None if question.at_us is None else datetime.fromtimestamp(question.at_us // US_PER_S, UTC)
        for (broker, epoch), of_life in by_life.items():
            look = AskedOnce(room)
            together = [Named(broker, key[2], key[3]) for key in of_life]
            for key in of_life:
                try:
                    document = answer(look, key[2], key[3], broker, at, timedelta(seconds=question.window_s), together)
                except NoAnswer:
                    continue
                if document["epoch"] == epoch:
                    yield key, question, document
