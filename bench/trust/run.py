"""Asks the questions of a case, and counts what the answers are worth."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from loaded import load_into

from bench.trust.corpus import Case, cases
from bench.trust.judge import judge
from bench.trust.questions import Question, answers
from bench.trust.tally import Tally, facts_of
from bench.trust.truth import US_PER_S


def tally_of(name: str) -> Tally:
    """Of one case, by its name: all questions about the whole log, and one about the log that was cut off."""
    return tally_of_case(cases()[name]())


def tally_of_case(case: Case) -> Tally:
    """The same."""
    tally = Tally()
    cut = [[event for event in events if event["ts"] <= case.cut_us] for events in case.lives]
    for lives, asked, where in ((case.lives, case.asked, ""), (cut, [Question(None, 600)], " of the log cut off")):
        with TemporaryDirectory(prefix="dispatch-trust-") as folder:
            _ask(case, [life for life in lives if life], asked, Path(folder), tally, where)
    return tally


def _ask(case: Case, lives: Sequence[Sequence[dict[str, Any]]], asked: Iterable[Question], folder: Path, tally: Tally, where: str) -> None:
    (folder / "log").mkdir()
    for place, events in enumerate(lives):
        text = "".join(json.dumps(event) + "\n" for event in events)
        (folder / "log" / f"{place}.jsonl").write_text(text, encoding="utf-8")
    load_into(folder / "log", folder / "warehouse", lanes__window_ms=str(case.window_ms))
    there = {(events[0]["broker"], events[0]["epoch"]) for events in lives}
    keys = [key for key in case.truth if key[:2] in there]
    for key, question, document in answers(folder / "warehouse", keys, asked):
        at = "at the end" if question.at_us is None else f"at {datetime.fromtimestamp(question.at_us // US_PER_S, UTC):%H:%M:%S}"
        told = f"{case.name}{where}, {key[3]} of {key[2]}, {at}, {question.window_s} s: {facts_of(document)}"
        tally.take(judge(document, case.truth[key]), document["confidence"], told)
