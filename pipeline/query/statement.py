"""What may be asked of the room: a query of the warehouse's tables and views, and what shows or explains them. All else is refused.

DuckDB itself is closed, too (room.py): it opens no file outside of the tables' folders, loads nothing, and keeps its settings.
"""

import logging
import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

from pipeline.faults import BadConfig
from pipeline.query.dialect import parsed
from pipeline.query.missing_functions import refuse_only_sparks
from pipeline.query.refusal import not_parsed

QUERY, EXPLAIN, DESCRIBE, SHOW = "query", "explain", "describe", "show"
#: They make rows of their arguments. Every other function in the place of a table reads something else than the warehouse.
ROW_MAKERS = {"explode", "inline", "posexplode", "range", "sequence", "stack", "unnest"}
#: They change nothing themselves, but what stands in them is no query of tables.
_NO_QUERY = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.QueryTransform, exp.Set, exp.Pragma)
_SHOW = re.compile(r"SHOW\s+(?P<what>TABLES|VIEWS|COLUMNS)(?:\s+(?:FROM|IN)\s+(?P<name>\w+))?(?:\s+(?:LIKE\s+)?'(?P<like>[^']*)')?", re.I)
_EXPLAIN = re.compile(r"EXPLAIN(?:\s+(?:EXTENDED|FORMATTED|COST|CODEGEN))?\s+(?P<query>.*)", re.I | re.S)
_DESCRIBE = re.compile(r"DESC(?:RIBE)?(?:\s+TABLE)?(?:\s+(?:EXTENDED|FORMATTED))?\s+(?P<name>\w+)", re.I)
REFUSED = "only queries (SELECT, WITH), SHOW, DESCRIBE and EXPLAIN are answered: SQL reads a warehouse, and never changes it"


class Statement(NamedTuple):
    """`what` is one of QUERY, EXPLAIN (their `query`), DESCRIBE (`name`), SHOW (`name` is TABLES, VIEWS or COLUMNS, `of` a table)."""

    what: str
    query: exp.Expr | None = None
    name: str = ""
    of: str = ""
    like: str = ""


def admitted(sql: str, known: Collection[str]) -> Statement:
    """The statement, if it may be asked; `known` are the names of tables and views. Raises BadConfig with the reason if not."""
    text = sql.strip().rstrip(";").strip()
    if shown := _SHOW.fullmatch(text):
        return _shown(shown["what"].upper(), shown["name"] or "", shown["like"] or "", known)
    if (described := _DESCRIBE.fullmatch(text)) and described["name"].upper() != "QUERY":
        return Statement(DESCRIBE, name=_known(described["name"], known))
    explained = _EXPLAIN.fullmatch(text)
    return Statement(EXPLAIN if explained else QUERY, query=_query(explained["query"] if explained else text, known))


def check_condition(text: str, known: Collection[str]) -> None:
    """Raise BadConfig unless the text is one condition, which a query may have in its WHERE, and nothing else of a query."""
    query = _query(f"SELECT 1 WHERE {text}\n", known)
    if not isinstance(query, exp.Select) or any(query.args.get(name) for name in query.args if name not in ("expressions", "where")):
        raise BadConfig("SQL: expected one condition, and nothing else of a query")


def _shown(what: str, of: str, like: str, known: Collection[str]) -> Statement:
    if (what == "COLUMNS") != bool(of):
        raise BadConfig("SQL: SHOW TABLES, SHOW VIEWS, or SHOW COLUMNS IN a table or view")
    return Statement(SHOW, name=what, of=_known(of, known) if of else "", like=like)


def _query(text: str, known: Collection[str]) -> exp.Expr:
    # It warns of what it takes for a command of another program; we refuse that.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        refuse_only_sparks(text)
        statements = parsed(text)
    except SqlglotError as fault:
        raise BadConfig(f"SQL: {not_parsed(str(fault))}") from fault
    if len(statements) != 1:
        raise BadConfig(f"SQL: {len(statements)} statements; expected one")
    (statement,) = statements
    if not isinstance(statement, exp.Query | exp.Values) or statement.find(*_NO_QUERY) is not None:
        raise BadConfig(f"SQL: {REFUSED}")
    for table in statement.find_all(exp.Table):
        _check(table, known)
    return statement


def _check(table: exp.Table, known: Collection[str]) -> None:
    """Raise BadConfig for what is no table or view of the warehouse as it is now: a path, a function that reads, another version."""
    if isinstance(table.this, exp.Func):
        name = table.this.name if isinstance(table.this, exp.Anonymous) else table.this.sql_name()
        if name.lower() not in ROW_MAKERS:
            raise BadConfig(f"SQL: {name} is not read: only tables and views of the warehouse are")
    elif table.db or table.catalog:
        raise BadConfig(f"SQL: {table.sql()} is not read: only tables and views of the warehouse are, by their plain names")
    elif table.args.get("version") or table.args.get("when"):
        raise BadConfig(f"SQL: {table.name}: only its newest version is read, or with --consistent that of the newest cut")
    elif table.name not in _of_with(table):
        _known(table.name, known)


def _of_with(table: exp.Table) -> set[str]:
    """Names that WITH gives around the table; Spark's names are the same in any case of letters, and so are DuckDB's."""
    found: set[str] = set()
    node: exp.Expr | None = table
    while node is not None:
        if isinstance(node, exp.Query):
            found.update(cte.alias for cte in node.ctes)
        node = node.parent
    return found | {name.lower() for name in found} | {name.upper() for name in found}


def _known(name: str, known: Collection[str]) -> str:
    if name.lower() in known:
        return name.lower()
    near = get_close_matches(name.lower(), list(known), 1)
    raise BadConfig(f"SQL: there is no table or view {name}{f'; did you mean {near[0]}?' if near else '; SHOW VIEWS lists the views'}")
