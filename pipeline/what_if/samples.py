"""Samples of a backlog for the document: plain values of many instants at once."""

from datetime import datetime
from typing import Any

import numpy as np

from pipeline.rules.array import Array
from pipeline.what_if.play import Life

NS_PER_S, MS_PER_S = 1_000_000_000, 1_000


def samples_of(life: Life, number: int, at: list[datetime], wall_ns: Array, band: Array | None = None) -> list[dict[str, Any]]:
    """Of one subscription at each of the instants `at`, whose wall times are `wall_ns`: entries, and the age of the oldest.

    With `band` [2, instants], the least and the most entries, too.
    """
    backlog, oldest_ms = life.backlog[:, number], life.oldest_ms[:, number]
    ages_s = np.round(np.maximum(0.0, wall_ns / NS_PER_S - oldest_ms / MS_PER_S), 3).astype(object)
    ages_s[(backlog <= 0) | (oldest_ms <= 0)] = None
    rows = zip(at, backlog.tolist(), ages_s.tolist(), strict=True)
    if band is None:
        return [{"at": instant, "backlog": entries, "age_s": age_s} for instant, entries, age_s in rows]
    return [
        {"at": instant, "backlog": entries, "age_s": age_s, "low": low, "high": high}
        for (instant, entries, age_s), low, high in zip(rows, *band.tolist(), strict=True)
    ]
