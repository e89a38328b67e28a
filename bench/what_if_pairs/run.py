"""Plays one pair: both lives, the load of the first, its prediction of the second, and the verdict."""

from dataclasses import dataclass
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
        try:
            # The whole record: the simulated broker's counters are those of its whole life.
            whole = None, None
            look = look_at(str(folder / "warehouse"), consistent=True)
            document = what_if(look, TOPIC, pair.subscription, changes_of(pair.texts), None, whole)
        except NoAnswer as why:
            return Outcome(kind, seed, pair.texts, None, (str(why),))
        if not document["self_check"]["ok"]:
            return Outcome(kind, seed, pair.texts, None, tuple(document["self_check"]["reasons"]))
        return Outcome(kind, seed, pair.texts, verdict_of(document, live(pair.after, seed, folder / "after")), ())
