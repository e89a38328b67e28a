"""The server of a warehouse: where it listens, and its application. `serve` runs it, and `demo --serve`."""

import time
from collections.abc import Callable
from typing import Any

from pipeline.serving.access import Access
from pipeline.serving.answers import Answers, Bounds
from pipeline.serving.app import build_app
from pipeline.serving.clean_metrics.text import USUAL_SERIES_PER_METRIC
from pipeline.serving.sessions import Sessions
from pipeline.warehouse.layout import Warehouse


def app_of(
    warehouse: Warehouse,
    log: Callable[[dict[str, Any]], None],
    token: str | None = None,
    *,
    topics: bool = True,
    series_per_metric: int = USUAL_SERIES_PER_METRIC,
) -> Access:
    """All answers about a warehouse, which may still be without tables; `log` as for Access, the rest as for `build_app`."""
    app = build_app(Answers(warehouse, Bounds()), topics=topics, series_per_metric=series_per_metric, warm=True)
    return Access(app, None if token is None else Sessions(token, time.time), log, time.monotonic)
