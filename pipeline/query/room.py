"""The reading room: tables and views of a warehouse, answered by DuckDB. No Spark, no lock, no writes.

Of a warehouse that is not on this machine it reads copies of the data files that a question needs (pipeline/store/mirror.py).
"""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
from deltalake import DeltaTable
from sqlglot import exp

from pipeline.faults import BadConfig, BadWarehouse
from pipeline.query.answer import Answer
from pipeline.query.closed_duckdb import ClosedDuckDB
from pipeline.query.delta_table import (
    SEVERAL_FILES,
    OpenTable,
    declared_columns,
    empty_relation,
    file_sizes,
    files_within,
    open_table,
    relation,
    removed_rows,
    small_files,
    with_added_columns,
)
from pipeline.query.dialect import SPARK_TYPES, for_duckdb, parsed
from pipeline.query.facts import facts_of, newest_event_times
from pipeline.query.functions import PREFIX
from pipeline.query.held_rows import HeldRows
from pipeline.query.plain_files import PlainFiles
from pipeline.query.refusal import refusals
from pipeline.query.skipping import Bounds, bounded_scans
from pipeline.query.statement import DESCRIBE, EXPLAIN, SHOW, Statement, admitted
from pipeline.query.table_logs import TableLogs
from pipeline.query.translated import named, translated
from pipeline.query.views.catalog import SMALL_VIEWS, VIEWS, all_names, sql_of
from pipeline.store.address import local_path, why_no_warehouse
from pipeline.store.commit import Commit
from pipeline.store.files import files_at
from pipeline.store.mirror import Mirror
from pipeline.warehouse.cut import Cut, rows_of_the_cut
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.look import TableFacts
from pipeline.warehouse.newest_cut import TELL_THE_CUT, newest_cut
from pipeline.warehouse.other_version import refuse_without_columns
from schemas.tables import JOB_TABLES, TABLES, TABLES_BY_NAME

#: Rows of a record batch: DuckDB makes them of some vectors.
_BATCH_ROWS = 65_536

#: Before a macro's name.
_OURS = re.compile(rf"\b{PREFIX}(?=\w+\()")


class Interrupted(Exception):
    """A query was ended from another thread (ReadingRoom.interrupt)."""


class ReadingRoom:
    """A look at one warehouse (`Look`), which also answers statements of people (`ask`).

    A table is opened when a query first names it, and stays at that version until `refresh`. With `consistent` tables of the job stand at
    the newest consistent cut of that moment, with `cut` at that one for good, else each at its newest version. Raises BadWarehouse for a
    table that is gone, or that only Spark reads. `most_memory`: what DuckDB may hold (closed_duckdb.py). `kept`: views that are computed
    once for a state of their tables, as a whole; others where a query names them, as far as it needs them. `most_held_rows`: of tables
    of many files, and of no more rows than that, the rows are held, for who asks again after each commit. Not for several threads.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        *,
        consistent: bool = False,
        cut: Cut | None = None,
        most_memory: str | None = None,
        kept: Collection[str] = (),
        most_held_rows: int = 0,
    ) -> None:
        refused = why_no_warehouse(warehouse.root)
        if refused is not None:
            raise BadWarehouse(refused)
        self.warehouse = warehouse
        self.files = files_at(warehouse.root)
        self._mirror = None if local_path(warehouse.root) else Mirror(warehouse.root)
        self._logs = TableLogs(warehouse)
        self._open: dict[str, OpenTable | None] = {}
        self._made: set[str] = set()
        #: Of names that `_within` gave, whether files are left out.
        self._fewer: dict[str, bool] = {}
        self._kept = {*SMALL_VIEWS, *kept}
        self._consistent = consistent and cut is None
        self.cut: Cut | None = cut
        self._closed = ClosedDuckDB([self._folder(table.name) for table in TABLES], most_memory)
        self._duckdb = self._closed.connection
        self._plain = PlainFiles(self._duckdb)
        self._held = HeldRows(self._duckdb, most_held_rows)
        self._settle()

    # ---- Look -------------------------------------------------------------------------------------------------------------------------

    def version(self, table: str) -> int:
        """Newest version of the table, as far as this room knows; −1 if there is none."""
        return self._logs.newest([table])[table]

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query of ours, over tables and views that are opened where it names them; a table that is not there has none."""
        with _files_may_go(), self._tables_may_be_of_another_version():
            answer = self._fetched(self._prepared_ours(sql, lenient=True), None)
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]

    def columns(self, table: str) -> list[str]:
        """Names of the table's columns, with those that were added to its declaration since."""
        self._prepared_ours(f"SELECT * FROM {table}", lenient=True)
        found = self._open[table]
        return list(TABLES_BY_NAME[table].names) if found is None else [name for name, _ in found.columns]

    def batches(self, sql: str) -> Iterator[Any]:
        """The same rows as Arrow's record batches, read on as they are asked for: for more than fits into lists."""
        with _files_may_go(), self._tables_may_be_of_another_version():
            yield from self._duckdb.sql(self._prepared_ours(sql, lenient=True)).to_arrow_reader(_BATCH_ROWS)

    def facts(self, small_below: int) -> list[TableFacts]:
        """Of every declared table that is there, in declared order, at its newest version."""
        there = {name: newest for name, newest in self._logs.newest([table.name for table in TABLES]).items() if newest >= 0}
        logs, written_at = self._logs.at(there), self._logs.written_at(there)
        return [facts_of(name, logs[name], written_at[name], small_below) for name in there]

    def newest_event_times(self, read_batch: int | None) -> tuple[int | None, int | None]:
        """Greatest `ts` (µs) of all events, and of those in files of nothing beyond that micro-batch."""
        return newest_event_times(self._logs.at(self._logs.newest(["dispatch_events"]))["dispatch_events"], read_batch)

    def commits(self, tables: Collection[str], most: int) -> dict[str, list[Commit]]:
        """What the log of each table still has of its newest `most` versions, newest first."""
        return self._logs.commits(tables, most)

    def open(self, tables: Collection[str]) -> None:
        """Open tables that several questions will name one after the other: a store tells of all at once as quickly as of one."""
        self._open_tables(tables, lenient=True)

    def fetch_small(self) -> None:
        """Of a warehouse that is elsewhere have copies of all small tables of the cut: who asks many questions would wait for each."""
        if self._mirror is None or self.cut is None:
            return
        newest = self._logs.newest([name for name in self.cut.versions if name != "dispatch_events"])
        logs = self._logs.at({name: self._version_wanted(name) for name, version in newest.items() if version >= 0})
        with suppress(BadWarehouse):  # a question that names the table reports what is wrong with it
            self._mirror.fetch([(f"{name}/{path}", size) for name, log in logs.items() for path, size in small_files(log).items()])

    # ---- statements of people ---------------------------------------------------------------------------------------------------------

    def ask(self, sql: str, most: int | None = None) -> Answer:
        """What a statement in Spark's dialect asks, the first `most` rows. Raises BadConfig for bad SQL, or for what is not answered."""
        statement = admitted(sql, all_names())
        if statement.what == SHOW:
            return self._shown(statement)
        if statement.what == DESCRIBE:
            return self._described(statement.name)
        assert statement.query is not None
        with refusals(), _files_may_go(), self._tables_may_be_of_another_version():
            text = self._prepared(statement.query, lenient=False)
            # What is refused was refused above, by Spark's grammar; this is DuckDB's own opinion of what it is about to run.
            if [one.type for one in duckdb.extract_statements(text)] != [duckdb.StatementType.SELECT]:
                raise BadConfig("SQL: this is no query")
            if statement.what == EXPLAIN:
                plans = [row[1] for row in self._duckdb.execute(f"EXPLAIN {text}").fetchall()]
                return Answer(["plan"], [(line,) for plan in plans for line in plan.splitlines()], is_plan=True)
            answer = self._fetched(text, most)
            # A column without a name of its own is called as Spark's function, not as ours that stands for it.
            return answer._replace(columns=[_OURS.sub("", column) for column in answer.columns])

    def interrupt(self) -> None:
        """From another thread: the query that runs, if one does, raises Interrupted."""
        self._duckdb.interrupt()

    def refresh(self) -> list[str]:
        """Go to what is newest now; returns the tables that are opened anew when they are named next."""
        before = {name: (table.version if table else -1, self._rows_that_count(name)) for name, table in self._open.items()}
        self._logs.refresh()
        self._settle()
        changed = [name for name, state in before.items() if (self._version_wanted(name), self._rows_that_count(name)) != state]
        if changed:
            self._forget(changed)
        return changed

    # ---- tables and views -------------------------------------------------------------------------------------------------------------

    def _folder(self, table: str) -> str:
        """Where the table's files lie on this machine, or their copies."""
        return str(local_path(self.warehouse.table(table)) if self._mirror is None else self._mirror.folder / table)

    def _settle(self) -> None:
        """Find the newest cut, where one is wanted: by tables as they are now."""
        if not self._consistent:
            return
        newest = self._logs.newest([*TELL_THE_CUT, *(table.name for table in JOB_TABLES)])
        before, self.cut = self.cut, None
        self._forget(self._open.keys() & TELL_THE_CUT)
        try:
            self._open_tables(TELL_THE_CUT, lenient=True)
            found = newest_cut(self)
        finally:
            self.cut = before
            self._forget(self._open.keys() & TELL_THE_CUT)
        self.cut = found
        if self._mirror is not None:
            # Who wants a cut asks several questions, of other tables each: a store tells of all at once as quickly as of one.
            self._logs.at({name: self._version_wanted(name) for name in found.versions if newest[name] >= 0})

    def _forget(self, tables: Collection[str]) -> None:
        """They are opened anew when they are named next, and what was made of them is made anew."""
        for name in tables:
            self._open.pop(name, None)
        self._fewer.clear()
        if self._mirror is not None:
            self._mirror.forget(tables)
        # A view of DuckDB keeps the columns of what it names: made again, it takes them from there.
        self._made = {name for name in self._made if _tables_of(name) <= self._open.keys()}

    def _rows_that_count(self, table: str) -> str | None:
        return None if self.cut is None else rows_of_the_cut(self.cut, table)

    def _version_wanted(self, table: str) -> int:
        newest = self._logs.newest([table])[table]
        return newest if self.cut is None or newest < 0 else self.cut.versions.get(table, newest)

    def _prepared(self, statement: exp.Expr, *, lenient: bool) -> str:
        """The statement for DuckDB, which knows by then what it names."""
        self._open_tables(named(statement), lenient)
        statement = self._with_fewer_files(statement)
        self._make(named(statement), lenient=lenient)
        return self._with_macros(for_duckdb(statement))

    def _prepared_ours(self, sql: str, *, lenient: bool) -> str:
        """The same of a statement of ours, which is asked again and again."""
        known = translated(sql)
        self._open_tables(known.names, lenient)
        if any(len(table.files) >= SEVERAL_FILES for name in known.bounded if (table := self._open.get(name)) is not None):
            return self._prepared(_one(sql), lenient=lenient)
        self._make(known.names, lenient=lenient)
        return self._with_macros(known.text)

    def _with_macros(self, text: str) -> str:
        self._closed.learn_macros(text)
        return text

    def _open_tables(self, names: Collection[str], lenient: bool) -> None:
        """Open the tables that are named and not open yet, also those that named views read."""
        needed = {table for name in {*names} & {*all_names()} for table in _tables_of(name)} - self._open.keys()
        self._logs.newest(needed)
        versions = {name: self._version_wanted(name) for name in needed}
        logs = self._logs.at({name: version for name, version in versions.items() if version >= 0})
        for name in needed:
            self._open[name] = self._opened(name, logs.get(name), lenient)
        # Side by side. Of a table of many files a statement may need some.
        self._fetch([table for name in needed if (table := self._open[name]) is not None and len(table.files) < SEVERAL_FILES])

    def _make(self, names: Collection[str], *, lenient: bool) -> None:
        """Have DuckDB know these tables and views, and first what the views name. Tables must be open."""
        for name in all_names():
            if name in names and name not in self._made:
                query = self._prepared_ours(sql_of(name), lenient=lenient) if name in VIEWS else self._table(name)
                self._duckdb.execute(f"CREATE OR REPLACE {'TABLE' if name in self._kept else 'VIEW'} {name} AS {query}")
                self._made.add(name)

    def _with_fewer_files(self, statement: exp.Expr) -> exp.Expr:
        """The statement, in which scans of an open table that bound a column do without the files that cannot have such rows."""
        for scan in list(bounded_scans(statement)):
            table = self._open.get(scan.table.name.lower())
            if table is not None and len(table.files) >= SEVERAL_FILES and (within := self._within(table, scan.bounds)):
                scan.table.replace(exp.alias_(exp.Table(this=within), scan.table.alias_or_name, table=True))
        return statement

    def _within(self, table: OpenTable, bounds: Bounds) -> exp.Identifier | None:
        """DuckDB's view of the files that may have a row within the bounds; None if those are all."""
        name = "_".join([table.name, "within", *(f"{column}_{least}_{most}" for column, (least, most) in sorted(bounds.items()))])
        view = exp.to_identifier(name, quoted=True)
        if name not in self._fewer:
            files = files_within(table, bounds)
            self._fewer[name] = len(files) < len(table.files)
            if self._fewer[name]:
                self._duckdb.execute(f"CREATE OR REPLACE VIEW {view.sql('duckdb')} AS {self._relation(replace(table, files=files))}")
        return view if self._fewer[name] else None

    def _opened(self, name: str, log: DeltaTable | None, lenient: bool) -> OpenTable | None:
        """The table by its log; None: it is not there."""
        if log is not None:
            table = open_table(name, log, self._folder(name))
            if table.removed:
                made = f"CREATE OR REPLACE TABLE removed_of_{name} AS SELECT unnest($1) AS file, unnest($2) AS row"
                self._duckdb.execute(made, removed_rows(table))
            return with_added_columns(table, TABLES_BY_NAME[name].fields)
        if TABLES_BY_NAME[name] in JOB_TABLES and not lenient:
            raise BadWarehouse(
                f"no table {name} in {self.warehouse.root}. Is it the right --warehouse? "
                f"One is made by: ./spark-submit.sh stream --events DIR --warehouse {self.warehouse.root}"
            )
        return None

    def _table(self, name: str) -> str:
        """DuckDB's query for all rows of an open table."""
        table = self._open[name]
        if table is None:
            return empty_relation(declared_columns(TABLES_BY_NAME[name].fields))
        self._fetch([table])
        held = self._held.of(table)
        return self._relation(table) if held is None else self._that_count(table, held)

    def _relation(self, table: OpenTable) -> str:
        """DuckDB's query for the rows that count of the table's files, which are on this machine by then."""
        self._fetch([table])
        query = relation(table, told=not self._plain.are_plain(table))
        if table.removed and table.files:
            query = f"{query} WHERE (filename, file_row_number) NOT IN (FROM removed_of_{table.name})"
        return self._that_count(table, query)

    def _that_count(self, table: OpenTable, query: str) -> str:
        belongs = self._rows_that_count(table.name)
        return query if belongs is None else f"SELECT * FROM ({query}) WHERE {belongs}"

    def _fetch(self, tables: Sequence[OpenTable]) -> None:
        """Have the files of these tables on this machine."""
        if self._mirror is None:
            return
        below = {path: size for table in tables for path, size in file_sizes(table).items() if path in {*table.files}}
        self._mirror.fetch([(str(Path(path).relative_to(self._mirror.folder)), size) for path, size in below.items()])

    @contextmanager
    def _tables_may_be_of_another_version(self) -> Iterator[None]:
        try:
            yield
        except duckdb.BinderException as fault:
            for name, table in self._open.items():
                if table is not None:
                    refuse_without_columns(self.warehouse, name, {column for column, _ in table.columns}, str(fault))
            raise

    def _fetched(self, sql: str, most: int | None) -> Answer:
        cursor = self._duckdb.execute(sql)
        columns = [column[0] for column in cursor.description]
        rows = cursor.fetchall() if most is None else cursor.fetchmany(most + 1)
        return Answer(columns, rows[:most], most is not None and len(rows) > most)

    def _shown(self, statement: Statement) -> Answer:
        """With the columns that Spark gives them."""
        if statement.name == "COLUMNS":
            return Answer(["col_name"], [row[:1] for row in self._described(statement.of).rows])
        names = all_names() if statement.name == "TABLES" else VIEWS
        chosen = [name for name in sorted(names) if fnmatchcase(name, statement.like or "*")]
        return Answer(
            ["namespace", "tableName" if statement.name == "TABLES" else "viewName", "isTemporary"], [("", n, True) for n in chosen]
        )

    def _described(self, name: str) -> Answer:
        """Columns and types; the meaning of a declared column beside them."""
        self._prepared_ours(f"SELECT * FROM {name}", lenient=False)
        meanings = {field.name: field.meaning for field in TABLES_BY_NAME[name].fields} if name in TABLES_BY_NAME else {}
        found = self._duckdb.execute(f"DESCRIBE {name}").fetchall()
        return Answer(
            ["col_name", "data_type", "comment"],
            [(column, SPARK_TYPES.get(kind, kind.lower()), meanings.get(column)) for column, kind, *_ in found],
        )


@cache
def _tables_of(name: str) -> frozenset[str]:
    """The tables that a view reads, also by other views; of a table itself."""
    if name in TABLES_BY_NAME:
        return frozenset({name})
    names = translated(sql_of(name)).names
    return frozenset(table for one in names & {*all_names()} for table in _tables_of(one))


def _one(sql: str) -> exp.Expr:
    """A statement of ours."""
    (statement,) = parsed(sql)
    return statement


@contextmanager
def _files_may_go() -> Iterator[None]:
    """A file of a version that was opened may be gone: `maintain` deletes those that nobody has needed for a week, `rebuild` all."""
    try:
        yield
    except duckdb.InterruptException as ended:
        raise Interrupted("the query was ended") from ended
    except duckdb.IOException as gone:
        reason = str(gone).strip().splitlines()[0]
        raise BadWarehouse(f"a file of a table is gone while it was read (`maintain`, `rebuild`?): ask again; {reason}") from gone
