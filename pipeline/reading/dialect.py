"""Queries are written in Spark's SQL, whoever answers. For DuckDB sqlglot writes them anew; here is what it does not know."""

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.spark import Spark

#: Functions of Spark that DuckDB lacks, for each connection.
MACROS = (
    "CREATE MACRO timestamp_millis(ms) AS make_timestamptz(ms * 1000)",
    "CREATE MACRO timestamp_micros(us) AS make_timestamptz(us)",
    "CREATE MACRO substring_index(text, mark, n) AS array_to_string(CASE WHEN n > 0 THEN string_split(text, mark)[:n]"
    " WHEN n < 0 THEN string_split(text, mark)[n:] ELSE [] END, mark)",
    # Spark's limit on the number of parts; for a mark that is a regular expression of itself.
    "CREATE MACRO split_most(text, mark, n) AS CASE WHEN len(string_split(text, mark)) <= n THEN string_split(text, mark)"
    " ELSE list_append(string_split(text, mark)[:n - 1], array_to_string(string_split(text, mark)[n:], mark)) END",
)


class _ForDuckDB(DuckDB):
    """DuckDB's dialect, so that rows are those of Spark."""

    class Generator(DuckDB.Generator):
        """How expressions of Spark are written that sqlglot leaves as they are, or makes another of."""

        TRANSFORMS: ClassVar[dict[Any, Any]] = {
            **DuckDB.Generator.TRANSFORMS,
            # A null beside the greatest value is the answer in Spark; DuckDB's arg_max looks for another.
            exp.ArgMax: lambda self, e: self.func("ARG_MAX_NULL", e.this, e.expression),
            exp.ArgMin: lambda self, e: self.func("ARG_MIN_NULL", e.this, e.expression),
            # Of nulls alone DuckDB's count_if is null, Spark's 0.
            exp.CountIf: lambda self, e: f"COUNT(CASE WHEN {self.sql(e, 'this')} THEN 1 END)",
            # Spark cuts microseconds off, DuckDB rounds them.
            exp.UnixMillis: lambda self, e: f"(EPOCH_US({self.sql(e, 'this')}) // 1000)",
            exp.SafeMultiply: lambda self, e: f"TRY({self.binary(exp.Mul(this=e.this, expression=e.expression), '*')})",
        }


def parsed(sql: str) -> list[exp.Expr]:
    """The statements of a text in Spark's dialect. Raises sqlglot's ParseError or TokenError."""
    return [statement for statement in Spark().parse(sql) if statement is not None]


def for_duckdb(statement: exp.Expr) -> str:
    """The same statement for DuckDB."""
    return _ForDuckDB().generate(statement.transform(_rewritten), copy=False, comments=False)


def _rewritten(node: exp.Expr) -> exp.Expr:
    """What is another expression in DuckDB; the node itself where it is not."""
    match node:
        case exp.Aliases(this=exp.Stack()):
            return _rows_and_columns(_structs(node.this.expressions, [name.name for name in node.expressions]))
        case exp.Inline():
            return _rows_and_columns(node.this)
        case exp.Exists(expression=exp.Lambda()):
            return exp.GT(this=_how_many(node.this, node.expression), expression=exp.Literal.number(0))
        case exp.Anonymous() if node.name.lower() == "forall":
            values, condition = node.expressions
            against = exp.Lambda(this=exp.not_(exp.paren(condition.this)), expressions=condition.expressions)
            return exp.EQ(this=_how_many(values, against), expression=exp.Literal.number(0))
        case exp.RegexpSplit() if node.args.get("limit") is not None:
            return exp.Anonymous(this="split_most", expressions=[node.this, node.expression, node.args["limit"]])
    return node


def _structs(values: list[exp.Expr], names: list[str]) -> exp.Array:
    """`stack(n, …) AS (a, b)`: its values as a list of rows, each a struct."""
    rows = [values[start : start + len(names)] for start in range(0, len(values), len(names))]
    return exp.Array(
        expressions=[
            exp.Struct(expressions=[exp.PropertyEQ(this=exp.to_identifier(n), expression=v) for n, v in zip(names, row, strict=True)])
            for row in rows
        ]
    )


def _rows_and_columns(structs: exp.Expr) -> exp.Expr:
    """A list of structs as a row each, a field of them as a column each."""
    both = exp.Kwarg(this=exp.var("max_depth"), expression=exp.Literal.number(2))
    return exp.Anonymous(this="unnest", expressions=[structs, both])


def _how_many(values: exp.Expr, condition: exp.Lambda) -> exp.Expr:
    return exp.Anonymous(this="len", expressions=[exp.Anonymous(this="list_filter", expressions=[values, condition])])
