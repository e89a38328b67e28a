"""A query of ours as of an instant: over the rows that the tables had then, by the views' own queries."""

import re
from collections.abc import Mapping
from datetime import datetime

from pipeline.query.views.catalog import VIEWS, named_in, sql_of
from pipeline.warehouse.literals import instant
from schemas.tables import TABLES_BY_NAME

_THEN = "_then"
#: A row of a window is known once the window is over, others at their own time; an action, when it is over.
_KNOWN_AT = {"quota_evictions": "resolved_at"}
_END_OF_WINDOW = "window_end"
#: They are of no time: what a name means never changes.
_TIMELESS = frozenset({"names"})
_BRONZE = "dispatch_events"
#: Views that read bronze for the first event of each epoch. Bounded by `seq` they open few files; by time alone they would open all.
_OF_FIRST_EVENTS = frozenset({"brokers", "limiter_units"})


def known_at(table: str) -> str | None:
    """When a row of the table was known, as SQL over its columns; None: its rows are of no time.

    Raises ValueError for a table of which no column has it.
    """
    if table in _TIMELESS:
        return None
    if table == _BRONZE:
        return "timestamp_micros(ts)"
    declared = TABLES_BY_NAME[table]
    column = _KNOWN_AT.get(table) or (_END_OF_WINDOW if _END_OF_WINDOW in declared.names else declared.age_by)
    if not column or declared.field(column).type != "timestamp":
        raise ValueError(f"{table}: no column has when its rows were known")
    return column


def as_of(sql: str, at: datetime | None, given: Mapping[str, str] | None = None) -> str:
    """The query over the rows that were known at the instant; None: the query as it is.

    `given` has the query of a table or view as of then, where no column tells when its rows were known.
    `sql` names tables and views after FROM and JOIN alone, as all queries of ours do. Where it has a WITH, that is its first word.
    Raises ValueError for a query of whose tables one has no such column, and for one that reads more of bronze than first events.
    """
    if at is None:
        return sql
    then: dict[str, str] = {}
    for name in named_in(sql):
        query = (given or {}).get(name) or _query_then(name, then, instant(at))
        if query is not None:
            then[name] = query
    parts = ",\n".join(f"{name}{_THEN} AS (\n{query}\n)" for name, query in then.items())
    own = _with_then(sql, then)
    # Not around it: the order of a query within another is not kept.
    return f"WITH {parts},\n{own.removeprefix('WITH ')}" if own.startswith("WITH ") else f"WITH {parts}\n{own}"


def _query_then(name: str, then: dict[str, str], at: str) -> str | None:
    """Of a table or view; None: it is the same at every instant."""
    if name not in VIEWS:
        known, first = known_at(name), "seq = 1 AND " if name == _BRONZE else ""
        return None if known is None else f"SELECT * FROM {name} WHERE {first}{known} <= {at}"
    query = "\n".join(line for line in sql_of(name).splitlines() if not line.startswith("--"))
    changed = _with_then(query, then)
    if f"{_BRONZE}{_THEN}" in changed and name not in _OF_FIRST_EVENTS:
        raise ValueError(f"{name}: reads more of {_BRONZE} than first events")
    return None if changed == query else changed


def _with_then(sql: str, then: dict[str, str]) -> str:
    return re.sub(r"\b(FROM|JOIN) (\w+)\b", lambda found: found[0] + (_THEN if found[2] in then else ""), sql)
