"""Rows of `quota_checks`: how long the checks of a closed window took."""

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.outcome import Rows, Window, window_columns
from pipeline.rules.records import Record
from schemas.packages.backlog.quotas import BUCKET_NAMES, BUCKETS_S

US_PER_S = 1_000_000


def check_duration_rows(checking: Record, durations: Array, window: Window) -> Rows:
    """One row for the window; `durations` of its checks in µs, at least one check or round."""
    ordered = np.sort(durations) if len(durations) else np.zeros(1, dtype=np.int64)
    seconds = durations // US_PER_S
    columns = window_columns(window)
    columns |= {
        "rounds": int(checking.rounds),
        "checks": len(durations),
        "duration_sum_us": int(durations.sum()),
        "duration_p50_us": _percentile(ordered, 50),
        "duration_p99_us": _percentile(ordered, 99),
        "duration_max_us": int(ordered[-1]),
        "duration_sum_s_since_start": int(checking.sum_s),
    }
    since_start = checking.le.tolist()
    for bucket, name in enumerate(BUCKET_NAMES):
        bound = BUCKETS_S[bucket] if bucket < len(BUCKETS_S) else None
        columns[name] = len(durations) if bound is None else int(np.count_nonzero(seconds <= bound))
        columns[f"{name}_since_start"] = since_start[bucket]
    return Rows("quota_checks", columns, 1)


def _percentile(ordered: Array, percent: int) -> int:
    """The least value that at least `percent` of 100 values do not exceed."""
    return int(ordered[max(0, -(-percent * len(ordered) // 100) - 1)])
