"""Counts for each demand, and some rows that break it. No Great Expectations.

All is SQL in Spark's words. The reading room answers it. A table is read once for all nulls, ranges and sets, and once for its key; of a
large table each reading for the key has a part of its values. Only counts and a few examples come back: neither Python nor DuckDB holds
more of a large table than of a small one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.upkeep.quality.invariants import Invariant
from pipeline.upkeep.quality.rules import Rule
from pipeline.warehouse.look import Queries
from schemas.field import Table

#: Rows that break a demand which are shown of it.
EXAMPLES = 5
#: Values of a key that are grouped at once. DuckDB groups 40 million in a gigabyte, with the help of the disk, and fails at 100 million.
KEYS_AT_ONCE = 20_000_000


@dataclass(frozen=True)
class Measure:
    """Counts for one demand: `rows` that it is about, `nulls` and `broken` ones among them; `examples` are some of the broken ones."""

    rows: int
    nulls: int
    broken: int
    examples: tuple[Mapping[str, Any], ...] = ()


def table_measures(look: Queries, table: Table, rules: Sequence[Rule], keys_at_once: int = KEYS_AT_ONCE) -> list[Measure]:
    """A measure per rule, in their order."""
    counts = look.rows(_counting(table, rules))[0]
    readings = max(1, -(-int(counts["rows"]) // keys_at_once))
    return [
        _key(look, table, rule, readings)
        if rule.kind == "key"
        else _with_examples(look, _column(counts, number, rule), _breaking(table, rule))
        for number, rule in enumerate(rules)
    ]


def invariant_measure(look: Queries, invariant: Invariant) -> Measure:
    """The rows that the invariant's query returns: each breaks it."""
    broken = int(look.rows(f"SELECT count(*) AS broken FROM (\n{invariant.sql}\n)")[0]["broken"])
    return _with_examples(look, Measure(rows=broken, nulls=0, broken=broken), f"SELECT * FROM (\n{invariant.sql}\n)")


def _counting(table: Table, rules: Sequence[Rule]) -> str:
    """One row: of all rows how many there are, how many have a value in each column that a rule is about, how many break each rule."""
    return f"SELECT count(*) AS rows{''.join(f', {count}' for count in _counts(rules))} FROM {table.name}"


def _counts(rules: Sequence[Rule]) -> Iterator[str]:
    of_columns = {number: rule for number, rule in enumerate(rules) if rule.kind != "key"}
    for column in dict.fromkeys(rule.columns[0] for rule in of_columns.values()):
        yield f"count({_name(column)}) AS {_name(f'known_{column}')}"
    for number, rule in of_columns.items():
        # Nulls follow from the values that are known.
        if rule.kind != "not_null":
            yield f"count_if({rule.broken_where}) AS broken_{number}"


def _column(counts: Mapping[str, Any], number: int, rule: Rule) -> Measure:
    rows = int(counts["rows"])
    nulls = rows - int(counts[f"known_{rule.columns[0]}"])
    return Measure(rows, nulls, nulls if rule.kind == "not_null" else int(counts[f"broken_{number}"]))


def _key(look: Queries, table: Table, rule: Rule, readings: int) -> Measure:
    """Of a key that occurs twice both rows are broken. Equal keys have equal hashes, so they are in one reading."""
    parts = [""] if readings == 1 else [f"abs(hash({_names(rule.columns)}) % {readings}) = {part}" for part in range(readings)]
    measures = [_part_of_key(look, table, rule, part) for part in parts]
    examples = [row for measure in measures for row in measure.examples]
    rows, broken = sum(measure.rows for measure in measures), sum(measure.broken for measure in measures)
    return Measure(rows, nulls=0, broken=broken, examples=tuple(examples[:EXAMPLES]))


def _part_of_key(look: Queries, table: Table, rule: Rule, part: str) -> Measure:
    groups = f"SELECT count(*) AS times FROM {table.name}{_where(rule, part)} GROUP BY {_names(rule.columns)}"
    (found,) = look.rows(
        f"SELECT coalesce(sum(times), 0) AS rows, coalesce(sum(CASE WHEN times > 1 THEN times END), 0) AS broken FROM ({groups})"
    )
    shown = _shown(table, rule)
    twice = f"SELECT {shown} FROM {table.name}{_where(rule, part)} GROUP BY {shown} HAVING count(*) > 1"
    return _with_examples(look, Measure(rows=int(found["rows"]), nulls=0, broken=int(found["broken"])), twice)


def _breaking(table: Table, rule: Rule) -> str:
    """The table's key and the rule's columns, of rows that break the rule."""
    return f"SELECT {_shown(table, rule)} FROM {table.name} WHERE {rule.broken_where}"


def _shown(table: Table, rule: Rule) -> str:
    return _names(tuple(dict.fromkeys((*table.grain, *rule.columns))))


def _where(key: Rule, part: str) -> str:
    """The rows of a part that must keep a key. A null in a key of several columns is a value: the broker's limiters have no topic."""
    conditions = (
        [f"({key.where})"] * bool(key.where) + [f"{_name(key.columns[0])} IS NOT NULL"] * (len(key.columns) == 1) + [part] * bool(part)
    )
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _with_examples(look: Queries, measure: Measure, breaking: str) -> Measure:
    """Rows are asked for only where some are broken."""
    return measure if measure.broken == 0 else replace(measure, examples=tuple(look.rows(f"{breaking} LIMIT {EXAMPLES}")))


def _name(column: str) -> str:
    return f"`{column}`"


def _names(columns: Sequence[str]) -> str:
    return ", ".join(map(_name, columns))
