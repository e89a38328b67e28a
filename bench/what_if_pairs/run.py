"""Plays one pair: both lives, the load of the first, its prediction of the second, and the verdict."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench.what_if_pairs.compare import Verdict, verdict_of
from bench.what_if_pairs.kinds import KINDS, TOPIC, Pair
from bench.what_if_pairs.truth import live
from console.named_warehouse import look_at
from driver.loading import load_log
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.settings import load_settings
from pipeline.what_if.answer import what_if
from pipeline.what_if.changes import changes_of
from sim.run import EVENTS, simulate

#: The first instant that is compared: topics are there, and nothing was published yet, or next to nothing.
BEGIN = timedelta(seconds=2)


@dataclass(frozen=True)
class Outcome:
    """Of one pair: its kind, its seed, what was changed; the verdict, or why the replay does not answer."""

    kind: str
    seed: int
    texts: tuple[str, ...]
    verdict: Verdict | None
    refused: tuple[str, ...]


def pair_of(kind: str, seed: int) -> Pair:
    """The pair of a kind with this seed; the same each time."""
    return KINDS[kind](Random(f"{kind}/{seed}"))


def outcome_of(kind: str, seed: int) -> Outcome:
    """Play the pair of a kind with this seed."""
    pair = pair_of(kind, seed)
    with TemporaryDirectory(prefix="what-if-pair-") as name:
        folder = Path(name)
        simulate(pair.before, seed, folder / "before")
        load_log(str(folder / "before" / EVENTS), f"file:{folder / 'warehouse'}", load_settings(None, [], {}), 1, lambda line: None)
        begin = pair.before.start + BEGIN
        span = begin, pair.before.start + timedelta(seconds=int(pair.before.duration_s) - 1)
        try:
            document = what_if(
                look_at(str(folder / "warehouse"), consistent=True), TOPIC, pair.subscription, changes_of(pair.texts), None, span
            )
        except NoAnswer as why:
            return Outcome(kind, seed, pair.texts, None, (str(why),))
        if not document["self_check"]["ok"]:
            return Outcome(kind, seed, pair.texts, None, tuple(document["self_check"]["reasons"]))
        return Outcome(kind, seed, pair.texts, verdict_of(document, live(pair.after, seed, folder / "after")), ())
