"""What a broker reads in a replay: bytes a second of entries that go to subscriptions."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.rules.array import Array
from pipeline.what_if.play import Life
from pipeline.what_if.world import World

NS_PER_S = 1_000_000_000
#: The highest mean of so long counts: a bucket is empty and full again within a second or so.
WINDOW_S = 10


def highest_bytes_per_s(world: World, life: Life, instants_ns: Array, subs: Sequence[int]) -> float | None:
    """The most that these subscriptions take together, as a mean of WINDOW_S; null: entries of one were evicted, so it is not known.

    An entry counts when it is acknowledged: at a steady pace that is as often as it is read. Entries that come again count once.
    """
    if life.evicted[list(subs)].any():
        return None
    passed = sum((_passed_bytes(world, life, number, instants_ns) for number in subs), np.zeros(len(instants_ns)))
    step_s = float(instants_ns[1] - instants_ns[0]) / NS_PER_S if len(instants_ns) > 1 else 1.0
    width = min(max(1, round(WINDOW_S / step_s)), max(1, len(instants_ns) - 1))
    return round(float((passed[width:] - passed[:-width]).max(initial=0.0)) / (width * step_s), 1)


def _passed_bytes(world: World, life: Life, number: int, instants_ns: Array) -> NDArray[np.float64]:
    """Bytes that one subscription has behind it at each instant, from 0 on."""
    scale = world.scales[world.subs[number].topic]
    sizes = np.concatenate([np.repeat(scale.mean_bytes, scale.earlier), scale.publishes["bytes"]])
    total = np.concatenate([[0], np.cumsum(sizes)])
    there = int(scale.earlier.sum()) + np.searchsorted(scale.publishes["ns"], instants_ns, side="right")
    done = total[np.clip(there - life.backlog[:, number], 0, len(sizes))]
    # A cursor that begins behind what is published makes a backlog at once: nothing is read by that.
    return np.concatenate([[0.0], np.cumsum(np.maximum(0, np.diff(done)))])
