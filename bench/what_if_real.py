"""Predictions beside truths: pairs of runs of a real broker with one setting changed; of the log of one side the other is predicted.

`python -m bench.what_if_real` prints the table of docs/guide/what-if.md.
"""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from driver.loading import load_log
from driver.session import ROOT
from pipeline.query.room import ReadingRoom
from pipeline.settings import load_settings
from pipeline.warehouse.layout import Warehouse
from pipeline.what_if.answer import what_if
from pipeline.what_if.changes import Changes, changes_of

PAIRS = ROOT / "tests/fixtures/pairs"
NAMES = sorted(path.name for path in PAIRS.iterdir())
HEADER = (
    "pair", "subscription", "highest", "predicted", "at the end", "predicted", "area", "lowered reads", "predicted", "lost", "predicted",
)  # fmt: skip
#: A manifest's words for a dimension, and those of `--set`.
_DIMENSIONS = {"msg": "messages", "bytes": "bytes"}

Document = dict[str, Any]


@dataclass(frozen=True)
class Side:
    """One side of a pair: its warehouse, what was changed and to which value, and when its load ran."""

    room: ReadingRoom
    changed: Mapping[str, Any]
    value: Any
    span: tuple[datetime, datetime]


def side(pair: str, name: str, folder: Path) -> Side:
    """One side, loaded into a warehouse of its own in `folder` unless it is there."""
    at = PAIRS / pair / name
    manifest = json.loads((at / "manifest.json").read_text())
    warehouse = f"file:{folder}/{pair}-{name}"
    if not (folder / f"{pair}-{name}").exists():
        load_log(str(at / "events.jsonl.gz"), warehouse, load_settings(None, [], {}), 1, lambda _: None)
    begin = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=manifest["t0_us"])
    span = begin, begin + timedelta(seconds=manifest["total_s"])
    return Side(ReadingRoom(Warehouse(warehouse), consistent=True), manifest["changed"], manifest["this_side"], span)


def set_of(changed: Mapping[str, Any], value: Any) -> str:
    """What a manifest says was changed, as `--set` has it. Raises KeyError for a kind that no pair has."""
    return {
        "dispatch_rate": lambda: f"{changed['level']}.dispatch_rate.{_DIMENSIONS[changed['dimension']]}={value}",
        "size_quota": lambda: f"quota.size={value}",
        "consumers": lambda: f"consumers={value}",
    }[changed["kind"]]()


def compared(pair: str, folder: Path) -> tuple[Document, Document]:
    """(The prediction of side b from the log of side a, side b as it was): documents of what-if over the same seconds."""
    a, b = side(pair, "a", folder), side(pair, "b", folder)
    topic, subscription = a.changed["topic"], a.changed["subscription"]
    prediction = what_if(a.room, topic, subscription, changes_of([set_of(a.changed, b.value)]), None, a.span)
    return prediction, what_if(b.room, topic, None, Changes(), None, b.span)


def backlog_of(life: Document) -> Any:
    """The samples of a life as an array."""
    return np.array([sample["backlog"] for sample in life["samples"]])


def rows_of(pair: str, prediction: Document, truth: Document) -> list[tuple[str, ...]]:
    """A row for each subscription: the truth, and beside it the prediction."""
    lives = {one["subscription"]: one["actual"] for one in truth["subscriptions"]}
    return [_row(pair, one["subscription"], lives[one["subscription"]], one["predicted"]) for one in prediction["subscriptions"]]


def _row(pair: str, subscription: str, true: Document, predicted: Document) -> tuple[str, ...]:
    one, other = backlog_of(true), backlog_of(predicted)
    area = np.abs(one - other).sum() / max(1, one.sum())
    lowered = [sum(count for levels in life["throttled"].values() for count in levels.values()) for life in (true, predicted)]
    return (
        pair, subscription, f"{one.max():,}", f"{other.max():,}", f"{one[-1]:,}", f"{other[-1]:,}", f"{area:.1%}",
        f"{lowered[0]:,}", f"{lowered[1]:,}", f"{true['evicted_entries']:,}", f"{predicted['evicted_entries']:,}",
    )  # fmt: skip


def table() -> str:
    """All pairs, as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for pair in NAMES for row in rows_of(pair, *compared(pair, Path(folder)))]
    lines = [HEADER, tuple("---" if k < 2 else "--:" for k in range(len(HEADER))), *rows]
    return "\n".join(f"| {' | '.join(cell.strip() for cell in line)} |" for line in lines)


if __name__ == "__main__":
    print(table())
