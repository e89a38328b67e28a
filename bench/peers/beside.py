"""A warehouse beside the one whose log it is made of."""

from dataclasses import dataclass

from pipeline.warehouse.layout import Warehouse

SOURCES = ("dispatch_events", "names")


@dataclass(frozen=True)
class Beside(Warehouse):
    """A warehouse whose bronze and names are another's: everything that a run writes is its own, its control rows too."""

    source: Warehouse

    def table(self, name: str) -> str:
        """Where a table lies."""
        return self.source.table(name) if name in SOURCES else super().table(name)
