"""Samples of a backlog for the document: plain values of many instants at once."""

from datetime import datetime
from typing import Any

import numpy as np

from pipeline.rules.array import Array
from pipeline.what_if.play import Life

NS_PER_S, MS_PER_S = 1_000_000_000, 1_000


def samples_of(life: Life, number: int, at: list[datetime], wall_ns: Array) -> list[dict[str, Any]]:
    """Of one subscription at each of the instants `at`, whose wall times are `wall_ns`: entries, and the age of the oldest."""
    backlog, oldest_ms = life.backlog[:, number], life.oldest_ms[:, number]
    ages_s = np.round(np.maximum(0.0, wall_ns / NS_PER_S - oldest_ms / MS_PER_S), 3).tolist()
    is_known = ((backlog > 0) & (oldest_ms > 0)).tolist()
    rows = zip(at, backlog.tolist(), ages_s, is_known, strict=True)
    return [{"at": instant, "backlog": entries, "age_s": age_s if known else None} for instant, entries, age_s, known in rows]
