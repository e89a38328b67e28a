"""A look that answers a query once: subscriptions that are asked about together ask the same."""

from typing import Any

from pipeline.warehouse.look import Queries


class AskedOnce:
    """Rows of another look, which must not change meanwhile; callers leave the rows as they are."""

    def __init__(self, look: Queries) -> None:
        self._look = look
        self._answers: dict[str, list[dict[str, Any]]] = {}

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """As the other look has them."""
        if sql not in self._answers:
            self._answers[sql] = self._look.rows(sql)
        return self._answers[sql]
