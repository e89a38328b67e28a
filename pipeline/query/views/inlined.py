"""A view's query within another: VIEW_OVER(view, table, rows) is the query of `view` with `rows` in the place of `table`.

More pairs of a table and its rows may follow.
"""

import re
from collections.abc import Callable

_CALL = re.compile(r"\bVIEW_OVER\((\w+)((?:, \w+, \w+)+)\)")


def with_views_over(sql: str, sql_of: Callable[[str], str]) -> str:
    """The query with each VIEW_OVER written out as a subquery; `sql_of` has the query of a view.

    An engine sorts and joins a view's whole history before it leaves anything out by row_number(); `rows` leaves it out before.
    """

    def query(call: re.Match[str]) -> str:
        view, pairs = call.groups()
        text = "\n".join(line for line in sql_of(view).splitlines() if not line.startswith("--"))
        for table, rows in re.findall(r"(\w+), (\w+)", pairs):
            text = re.sub(rf"\b{table}\b", rows, text)
        return f"(\n{text}\n)"

    return _CALL.sub(query, sql)
