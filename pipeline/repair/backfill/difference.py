"""What a backfill found of one table: how many rows differ, of which dates, and some of them."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

#: So many differing rows are shown of a table.
EXAMPLES = 3


@dataclass
class Difference:
    """How the rows of one broker's dates in one table differ, and of which dates they do."""

    found: int = 0
    computed: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0
    dates: set[date] = field(default_factory=set)
    examples: list[dict[str, Any]] = field(default_factory=list)

    def add(self, kind: str, rows: int, on: date) -> None:
        """Count rows of a date: `added`, `removed`, `changed` or `equal`."""
        self.found += rows if kind != "added" else 0
        self.computed += rows if kind != "removed" else 0
        if kind != "equal":
            self.dates.add(on)
            setattr(self, kind, getattr(self, kind) + rows)
