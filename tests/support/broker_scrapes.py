"""What real brokers printed on `/metrics` and answered to their admin API, beside the logs that they wrote until then."""

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from capture_events import capture_lines, events_of, write_lines
from loaded import load_into
from real_captures import CAPTURES

from pipeline.warehouse.layout import Warehouse

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
#: Suffixes of the lines of a histogram.
_OF_HISTOGRAM = re.compile(r"_(bucket|count|sum|created)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Scrape:
    """A capture: its folder, and that of the broker's figures."""

    name: str
    log: Path
    figures: Path

    @cached_property
    def manifest(self) -> Any:
        """When the figures were taken (`as_of_us`), and more."""
        return json.loads((self.figures / "manifest.json").read_text(encoding="utf-8"))

    @property
    def lines(self) -> list[str]:
        """Of `/metrics`, then of OpenTelemetry, without comments."""
        packed = self.figures / "metrics.txt.gz"
        metrics = gzip.decompress(packed.read_bytes()).decode() if packed.exists() else (self.figures / "metrics.txt").read_text("utf-8")
        return [line for line in (metrics + (self.figures / "otel.txt").read_text("utf-8")).splitlines() if line and line[0] != "#"]

    @property
    def stats(self) -> Any:
        """Topic → what its broker answered to `GET …/stats`, with precise backlogs, sizes of subscriptions, and earliest times."""
        packed = FIXTURES / "broker_figures" / self.name / "stats.json.gz"
        return json.loads(gzip.decompress(packed.read_bytes()) if packed.exists() else (self.figures / "stats.json").read_bytes())

    def events(self) -> list[dict[str, Any]]:
        """Of the log, until the figures were taken."""
        return events_of(self.log_lines())

    def log_lines(self) -> list[bytes]:
        """The same as they are."""
        return capture_lines(self.log, self.manifest["as_of_us"])


#: Of three brokers the project has log and figures itself.
ALWAYS = (
    Scrape("y_incident", ROOT / "demo/y_incident", ROOT / "demo/y_incident"),
    *(Scrape(name, FIXTURES / "captures" / name, FIXTURES / "broker_figures" / name) for name in ("f_limit_above_need", "p1_batches")),
)


def _beside(folder: Path) -> tuple[Scrape, ...]:
    kept = {scrape.name for scrape in ALWAYS}
    return tuple(Scrape(path.name, path, path) for path in sorted(folder.glob("*/")) if path.name not in kept)


SHARED = (*_beside(CAPTURES), *_beside(CAPTURES.with_name("captures-collector")))
LARGE = _beside(CAPTURES.with_name("captures-large"))
_LATE = pytest.mark.slow(reason="loads half a million events; every other capture is compared by default")
#: Parameters of a fixture that loads each.
EVERY_SCRAPE = [
    *(pytest.param(one, id=one.name) for one in ALWAYS),
    *(pytest.param(one, id=one.name, marks=pytest.mark.captures) for one in SHARED),
    *(pytest.param(one, id=one.name, marks=[pytest.mark.captures, _LATE]) for one in LARGE),
]


def loaded_until_scraped(scrape: Scrape, folders: pytest.TempPathFactory) -> Warehouse:
    """The log until the figures were taken, loaded once for all tests of a process. Nobody changes it."""
    folder = folders.getbasetemp() / "until_scraped" / scrape.name
    return _once(folder, lambda: write_lines(scrape.log_lines(), folder / "log" / "events.jsonl.gz").parent)


def loaded_whole(scrape: Scrape, folders: pytest.TempPathFactory) -> Warehouse:
    """The same of the whole log, whose broker has stopped."""
    return _once(folders.getbasetemp() / "whole" / scrape.name, lambda: scrape.log)


def _once(folder: Path, log: Callable[[], Path]) -> Warehouse:
    made = folder / "warehouse"
    return Warehouse(f"file:{made}") if made.exists() else load_into(log(), made)


def series_of(line: str) -> str:
    """The line without its value."""
    return line.rpartition(" ")[0]


def family_of(line: str, histograms: frozenset[str]) -> str:
    """The name under whose type the line stands."""
    name = re.split(r"[{ ]", line, maxsplit=1)[0]
    family = _OF_HISTOGRAM.sub("", name)
    return family if family in histograms else name


def labels_of(line: str) -> dict[str, str]:
    """Label → value, as it is written."""
    return dict(_LABEL.findall(line))


def is_of_system_topic(labels: dict[str, str]) -> bool:
    """Whether the log has nothing of the topic's life."""
    return labels.get("namespace", "").startswith("pulsar/") or labels.get("topic", "").rpartition("/")[2].startswith("__")
