"""Statements of ours for DuckDB, each translated once: those that differ only in their names and numbers are one statement.

A page asks twenty statements about one subscription; sqlglot needs longer to write them anew than DuckDB to answer most of them.
"""

import atexit
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple

from sqlglot import exp

from pipeline.faults import BadConfig
from pipeline.query.dialect import for_duckdb, parsed
from pipeline.query.skipping import bounded_scans
from pipeline.query.translations_file import keep_on_disk, kept_on_disk

#: More statements than ours are, of views and of questions.
MOST_KEPT = 512
#: A comment; a text; a number that is no constant of a view: an epoch, an instant in microseconds.
_LITERAL = re.compile(r"--[^\n]*|'(?:[^'\\]|\\.)*'|\b\d{10,18}\b", re.DOTALL)
_TEXT_MARK, _FIRST_NUMBER = "\u00a7{}\u00a7", 9_100_000_000_000_000_000
_MARK = re.compile(rf"'\u00a7(\d+)\u00a7'|\b{str(_FIRST_NUMBER)[:10]}(\d{{9}})\b")


class Translated(NamedTuple):
    """`names`: tables and views that it names. `bounded`: tables of which a scan bounds a column, so that it may need fewer files."""

    names: frozenset[str]
    bounded: frozenset[str]
    text: str


class _Kept:
    """Translations by their statements, the last used; of null the names and numbers matter. For all rooms and threads.

    They begin with those on disk, and what is new goes there when the process ends.
    """

    def __init__(self) -> None:
        self._by_pattern: OrderedDict[str, Translated | None] = OrderedDict()
        self._lock = Lock()
        self._new: set[str] | None = None

    def get(self, pattern: str) -> tuple[bool, Translated | None]:
        """Whether it is known, and its translation."""
        with self._lock:
            if self._new is None:
                self._begin()
            if pattern not in self._by_pattern:
                return False, None
            self._by_pattern.move_to_end(pattern)
            return True, self._by_pattern[pattern]

    def put(self, pattern: str, translation: Translated | None) -> None:
        """Keep it, in the place of the one that nobody asked for longest."""
        with self._lock:
            self._by_pattern[pattern] = translation
            while len(self._by_pattern) > MOST_KEPT:
                self._by_pattern.popitem(last=False)
            assert self._new is not None
            self._new.add(pattern)

    def _begin(self) -> None:
        self._new = set()
        for pattern, kept in kept_on_disk().items():
            self._by_pattern[pattern] = None if kept is None else Translated(frozenset(kept[0]), frozenset(kept[1]), kept[2])
        atexit.register(self._end)

    def _end(self) -> None:
        found = {pattern: self._by_pattern[pattern] for pattern in self._new or () if pattern in self._by_pattern}
        if found:
            keep_on_disk({pattern: one and [sorted(one.names), sorted(one.bounded), one.text] for pattern, one in found.items()}, MOST_KEPT)


_KEPT = _Kept()


def translated(sql: str) -> Translated:
    """A statement in Spark's dialect for DuckDB, over all files of its tables. Raises as sqlglot and `for_duckdb` do."""
    pattern, values = _parted(sql)
    kept = _kept(pattern, lambda: _tried(pattern, values, sql))
    if kept is not None:
        return kept._replace(text=_filled(kept.text, values))
    itself = _kept(sql, lambda: _translation(sql))
    assert itself is not None
    return itself


def _kept(key: str, made: Callable[[], Translated | None]) -> Translated | None:
    is_known, kept = _KEPT.get(key)
    if not is_known:
        kept = made()
        _KEPT.put(key, kept)
    return kept


def named(statement: exp.Expr) -> set[str]:
    """Tables and views that the statement names."""
    return {table.name.lower() for table in statement.find_all(exp.Table)}


def _tried(pattern: str, values: Sequence[str], sql: str) -> Translated | None:
    """The translation of the pattern, if the statement is it with the values filled in: no rewriting looks at one of them."""
    try:
        found = _translation(pattern)
    except BadConfig:  # a text is more than a name: a unit, a pattern of times
        return None
    return found if _filled(found.text, values) == _translation(sql).text else None


def _translation(sql: str) -> Translated:
    (statement,) = parsed(sql)
    bounded = frozenset(scan.table.name.lower() for scan in bounded_scans(statement))
    return Translated(frozenset(named(statement)), bounded, for_duckdb(statement))


def _parted(sql: str) -> tuple[str, list[str]]:
    """The statement with marks in the places of its literals, and these. A text that has a backslash stays where it is."""
    values: list[str] = []

    def marked(found: re.Match[str]) -> str:
        literal = found[0]
        if literal.startswith("--") or "\\" in literal:
            return literal
        values.append(literal)
        number = len(values) - 1
        return f"'{_TEXT_MARK.format(number)}'" if literal.startswith("'") else str(_FIRST_NUMBER + number)

    return _LITERAL.sub(marked, sql), values


def _filled(text: str, values: Sequence[str]) -> str:
    """With the values in the places of their marks. A name may look like a mark that none of them has."""

    def value(mark: re.Match[str]) -> str:
        number = int(mark[1] if mark[1] is not None else mark[2])
        return values[number] if number < len(values) else mark[0]

    return _MARK.sub(value, text)
