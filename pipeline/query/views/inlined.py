"""A view's query within another: VIEW_OVER(view, table, rows) is the query of `view` with `rows` in the place of `table`."""

import re
from collections.abc import Callable

_CALL = re.compile(r"\bVIEW_OVER\((\w+), (\w+), (\w+)\)")


def with_views_over(sql: str, sql_of: Callable[[str], str]) -> str:
    """The query with each VIEW_OVER written out as a subquery; `sql_of` has the query of a view.

    An engine sorts and joins a view's whole history before it leaves anything out by row_number(); `rows` leaves it out before.
    """

    def query(call: re.Match[str]) -> str:
        view, table, rows = call.groups()
        lines = (line for line in sql_of(view).splitlines() if not line.startswith("--"))
        return "(\n" + re.sub(rf"\b{table}\b", rows, "\n".join(lines)) + "\n)"

    return _CALL.sub(query, sql)
