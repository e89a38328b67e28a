"""What real brokers count as unacknowledged (`unackedMessages`), in every sample of every capture, is what probes say in its interval."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from backlog_probe import watched_by_lane
from bookkeeper.quota_figures import Seen
from capture_events import capture_events
from compared_figures import manifest_of, outside, topics_with_life
from real_captures import ABSENT, CAPTURES, LARGE_CAPTURES

#: A few captures are kept with the project: evictions in flight (log 1.0), a consumer that leaves what it has to another (log 1.1).
KEPT = Path(__file__).parents[1] / "fixtures" / "unacked"
COLLECTED, PAIRS = (CAPTURES.with_name(f"captures-{kind}") for kind in ("collector", "pairs"))
_PLACES = ((KEPT, "*"), (CAPTURES, "*"), (COLLECTED, "*"), (PAIRS, "*/*"))
FOLDERS = sorted(path.parent for root, depth in _PLACES for path in root.glob(f"{depth}/stats.json"))
IDS = [f"{folder.parent.name}/{folder.name}" for folder in FOLDERS]
EVERY_FOLDER = pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
#: A log of version 1.0 has no redeliveries: what a negative acknowledgement gave back counts on.
NACKED = ("l_holes_redelivery_seek", "persistent://real/l/t", "nacks.unacked")

pytestmark = pytest.mark.captures


def samples_of(folder: Path) -> Iterator[Seen]:
    """The figures of every subscription: each sample of the time line, and those at the end."""
    manifest = manifest_of(folder)
    lines = (folder / "timeline.jsonl").read_text(encoding="utf-8").splitlines() if (folder / "timeline.jsonl").exists() else []
    for line in map(json.loads, lines):
        if "subscriptions" in line:
            yield Seen(line["topic"], line["ts"], line["ts_end"], said_of(line), {})
    if "as_of_us" in manifest:
        for topic, stats in json.loads((folder / "stats.json").read_text(encoding="utf-8")).items():
            yield Seen(topic, manifest["as_of_us"], manifest["as_of_end_us"], said_of(stats), {})


def said_of(stats: dict[str, Any]) -> dict[str, int]:
    """`unackedMessages` as messages and as entries: no sample of a capture was taken while batches were in flight."""
    names = ("unackedMessages", "unackedEntries")
    return {f"{sub}.{name}": figures["unackedMessages"] for sub, figures in stats["subscriptions"].items() for name in names}


@cache
def watched(folder: Path) -> tuple[Seen, ...]:
    events = capture_events(folder, until_as_of=False)
    living = topics_with_life(events)
    moments = tuple(seen for seen in samples_of(folder) if seen.topic in living)
    assert not watched_by_lane(events, list(moments)), "a figure is not told"
    return moments


@EVERY_FOLDER
def test_every_sample_equals_what_probes_say(folder: Path) -> None:
    moments = watched(folder)
    assert sum(len(seen.said) for seen in moments) > 0
    assert [one for one in outside(list(moments)) if not is_nacked(folder, *one)] == []


def is_nacked(folder: Path, topic: str, _ts: int, figure: str, said: int, had: list[int]) -> bool:
    """Of such a subscription the count is an upper bound."""
    return (folder.name, topic) == NACKED[:2] and figure.startswith(NACKED[2]) and said <= min(had)


@pytest.mark.skipif(len(FOLDERS) < 10, reason=ABSENT)
def test_the_samples_have_something_to_compare() -> None:
    counted = [said for folder in FOLDERS for seen in watched(folder) for name, said in seen.said.items() if name.endswith("Messages")]
    assert len(counted) > 900
    assert sum(said > 0 for said in counted) > 350


@pytest.mark.slow(reason="each large capture takes as long as all others")
@pytest.mark.skipif(not LARGE_CAPTURES.exists(), reason=ABSENT)
@pytest.mark.parametrize("folder", sorted(path.parent for path in LARGE_CAPTURES.glob("*/stats.json")), ids=lambda folder: folder.name)
def test_every_sample_of_a_large_capture_equals_what_probes_say(folder: Path) -> None:
    assert outside(list(watched(folder))) == []
