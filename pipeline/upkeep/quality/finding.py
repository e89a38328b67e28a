"""What the quality job found for one demand."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: A text in an example is cut after so many characters: a quarantined line may be long.
TEXT_SHOWN = 200


@dataclass(frozen=True)
class Finding:
    """A row of quality_results without what is the same for the whole run; its fields are called as the table's columns."""

    table_name: str
    kind: str
    columns: str
    invariant: str
    expectation: str
    demand: str
    success: bool
    unexpected: int
    example: str | None
    table_versions: Mapping[str, str]

    @property
    def line(self) -> str:
        """For people: what is broken, by how many rows, and one of them."""
        rows = f"{self.unexpected:,} row{'' if self.unexpected == 1 else 's'}"
        return f"{self._subject}: {rows}: {self.demand}; e.g. {self.example}" + (f" ({self.table_name})" if self.invariant else "")

    @property
    def _subject(self) -> str:
        if self.invariant:
            return f"invariant {self.invariant}"
        return self.table_name if "," in self.columns else f"{self.table_name}.{self.columns}"


def example_text(row: Mapping[str, Any]) -> str:
    """A row as JSON; what JSON does not know (times) as text, texts cut at TEXT_SHOWN."""
    shown = {name: value[:TEXT_SHOWN] if isinstance(value, str) else value for name, value in row.items()}
    return json.dumps(shown, default=str, ensure_ascii=False)
