"""A look at a warehouse for who writes it: each question finds the tables as they are then."""

from typing import Any

from pipeline.query.room import ReadingRoom


class NewestRoom(ReadingRoom):
    """A room that looks at what is newest in each query."""

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query of ours over the tables as they are now."""
        self.refresh()
        return super().rows(sql)
