"""How soon a browser paints the page Now, in Chromium without a window, on the machine of the server: of the demo, and of a large log.

Each visit has a browser context of its own: nothing is cached. It needs `./spark-submit.sh set-up browser`.
"""

import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.live import LOG
from bench.read_large import large_warehouse
from bench.scrapes import HOST
from bench.serve import SCRIPT, commit_windows, served
from pipeline.warehouse.layout import Warehouse
from tests.browser.chromium import chromium

VISITS = 7
#: First paint of the demo's page and of the large one's, whose tables stay as they are; and all bytes that come.
BOUNDS = {"demo_ms": 300, "large_ms": 1000, "kb": 200}
#: The server looks at the tables four times a second, and warms up when it starts.
_LOOKS_S, _WARM_S = 0.6, 5.0
_PAINTED = """async () => {
  const paint = await new Promise(known => new PerformanceObserver(list => {
    for (const one of list.getEntriesByName("first-contentful-paint")) known(one);
  }).observe({ type: "paint", buffered: true }));
  const [page] = performance.getEntriesByType("navigation"), files = performance.getEntriesByType("resource");
  return [paint.startTime, page.responseStart, [page, ...files].reduce((sum, one) => sum + one.transferSize, 0)];
}"""


def bench_paint(folder: Path, events: int) -> dict[str, Any]:
    """Medians in ms of VISITS: first paint, and of it the wait for the first byte. `events`: rows of bronze of the large warehouse."""
    demo = folder / "demo"
    subprocess.run([SCRIPT, "load", "--events", str(LOG), "--warehouse", str(demo)], check=True, stdout=subprocess.DEVNULL)
    large, rows = large_warehouse(demo, folder / "large", events)
    with chromium() as browser:
        found = {name: _visited(browser, Warehouse(f"file:{at}"), folder) for name, at in (("demo", demo), ("large", large))}
    kb = max(kind["kb"] for one in found.values() for kind in one.values())
    painted = {f"{name}_ms": one["kept"]["paint_ms"] for name, one in found.items()}
    return {**found, "large_rows": rows, "within_bounds": {name: took <= BOUNDS[name] for name, took in {**painted, "kb": kb}.items()}}


def _visited(browser: Any, warehouse: Warehouse, folder: Path) -> dict[str, dict[str, float]]:
    def changed() -> None:
        commit_windows(warehouse)
        time.sleep(_LOOKS_S)

    with served(warehouse, folder) as server:
        time.sleep(_WARM_S)
        url = f"http://{HOST}:{server.port}/"
        return {"kept": _visits(browser, url, lambda: None), "after_a_commit": _visits(browser, url, changed)}


def _visits(browser: Any, url: str, before: Callable[[], None]) -> dict[str, float]:
    seen = []
    for _ in range(VISITS + 1):
        before()
        context = browser.new_context()
        page = context.new_page()
        page.goto(url)
        seen.append(page.evaluate(_PAINTED))
        context.close()
    # The first visit is the browser's own warm-up.
    paint_ms, first_byte_ms, size = (statistics.median(column) for column in zip(*seen[1:], strict=True))
    return {"paint_ms": round(paint_ms), "first_byte_ms": round(first_byte_ms), "kb": round(size / 1000, 1)}
