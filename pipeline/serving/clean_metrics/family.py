"""How a family of `/metrics/clean` is declared."""

from dataclasses import dataclass

from pipeline.serving.metrics.family import Series, Source

GAUGE, COUNTER, INFO = "gauge", "counter", "info"


@dataclass(frozen=True)
class Family:
    """All lines under one name; a column that is null is not known, and has no line."""

    #: Without the suffixes `_total` and `_info`. It ends with its unit, if it has one.
    name: str
    type: str
    #: As OpenMetrics has it: seconds, bytes, ratio (0 to 1), or a thing that is counted; empty: none.
    unit: str
    help: str
    source: Source
    series: tuple[Series, ...]
    #: (label, column) after those of the source; a label without a value is left out.
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def sample(self) -> str:
        """The name of its lines."""
        return self.name + {COUNTER: "_total", INFO: "_info"}.get(self.type, "")
