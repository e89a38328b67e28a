"""Queries are written in Spark's SQL, whoever answers. For DuckDB sqlglot writes them anew; here is what it does not know.

Functions are in functions.py, what only Spark has in only_spark.py.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.spark import Spark

from pipeline.query.functions import ALIASES, MACROS, PREFIX, RENAMED
from pipeline.query.missing_functions import only_spark
from pipeline.query.patterns import in_duckdb, unit_in_duckdb
from pipeline.query.text_rewrites import call, like, regexp_replace, split

#: Spark's names of DuckDB's types, for DESCRIBE.
SPARK_TYPES = {
    "VARCHAR": "string",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
    "INTEGER": "int",
    "HUGEINT": "decimal(38,0)",
    "BLOB": "binary",
}
_WHOLE = {exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT}
_FRACTIONS = {exp.DType.DOUBLE, exp.DType.FLOAT}
_TEXTS = {exp.DType.TEXT, exp.DType.VARCHAR}
#: Functions whose argument in this place is a pattern of times, or a unit.
_PATTERNS = {
    **dict.fromkeys(("date_format", "from_unixtime", "to_date", "to_timestamp", "to_unix_timestamp", "try_to_date"), (1, in_duckdb)),
    **dict.fromkeys(("to_timestamp_ltz", "to_timestamp_ntz", "try_to_timestamp", "unix_timestamp"), (1, in_duckdb)),
    "date_trunc": (0, unit_in_duckdb),
    "trunc": (1, unit_in_duckdb),
}
Builder = Callable[..., exp.Expr]


def _counts(overloads: tuple[str, ...]) -> set[int]:
    """How many arguments a macro takes."""
    parameters = (one[1 : one.index(")")] for one in overloads)
    return {len(names.split(",")) if names.strip() else 0 for names in parameters}


def _macro(name: str, of_sqlglot: Builder | None) -> Builder:
    """A call of our macro; of a number of arguments that it does not take, sqlglot's own expression."""
    counts = _counts(MACROS[name])

    def build(args: list[exp.Expr], **options: Any) -> exp.Expr:
        if len(args) not in counts and of_sqlglot is not None:
            return of_sqlglot(args, **options)
        if name in _PATTERNS and _PATTERNS[name][0] < len(args):
            place, translated = _PATTERNS[name]
            args = [*args[:place], translated(args[place], name), *args[place + 1 :]]
        return exp.Anonymous(this=PREFIX + name, expressions=args)

    return build


def _renamed(name: str) -> Builder:
    return lambda args: exp.Anonymous(this=name, expressions=args)


def _cast_to(kind: str) -> Builder:
    return lambda args: exp.cast(args[0], kind)


def _difference(of_days: Builder) -> Builder:
    """With a unit: whole units between two times. DuckDB's date_diff counts how often the unit changes, its date_sub counts whole ones."""

    def build(args: list[exp.Expr], **options: Any) -> exp.Expr:
        if len(args) != 3:
            return of_days(args, **options)
        unit = unit_in_duckdb(exp.Literal.string(args[0].name), "a difference of times")
        return call("date_sub", unit, *(exp.cast(one, "TIMESTAMPTZ") for one in args[1:]))

    return build


class _Spark(Spark):
    """Spark's dialect, with the functions of the room."""

    class Parser(Spark.Parser):
        """What a name stands for."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {
            **Spark.Parser.FUNCTIONS,
            **{name.upper(): _macro(name, Spark.Parser.FUNCTIONS.get(name.upper())) for name in MACROS},
            **{name.upper(): _macro(other, Spark.Parser.FUNCTIONS.get(name.upper())) for name, other in ALIASES.items()},
            **{name.upper(): _renamed(other) for name, other in RENAMED.items()},
            "FORMAT_STRING": _renamed("printf"),
            **{name.upper(): _cast_to(name) for name in ("bigint", "binary", "smallint", "tinyint")},
            "DECIMAL": lambda args: exp.cast(args[0], "DECIMAL(10, 0)"),
            **{name: _difference(Spark.Parser.FUNCTIONS[name]) for name in ("DATEDIFF", "DATE_DIFF", "TIMESTAMPDIFF")},
        }


class _ForDuckDB(DuckDB):
    """DuckDB's dialect, so that rows are those of Spark."""

    class Generator(DuckDB.Generator):
        """How expressions of Spark are written that sqlglot leaves as they are, or makes another of."""

        TRANSFORMS: ClassVar[dict[Any, Any]] = {
            **DuckDB.Generator.TRANSFORMS,
            exp.AnyValue: lambda self, e: self.func("FIRST", e.this),
            # An element of the group, as in Spark; exact, where Spark is nearly so.
            exp.ApproxQuantile: lambda self, e: self.func("QUANTILE_DISC", e.this, e.args["quantile"]),
            # A null beside the greatest value is the answer in Spark; DuckDB's arg_max looks for another.
            exp.ArgMax: lambda self, e: self.func(
                "ARG_MAX" if e.args.get("count") else "ARG_MAX_NULL", e.this, e.expression, e.args.get("count")
            ),
            exp.ArgMin: lambda self, e: self.func(
                "ARG_MIN" if e.args.get("count") else "ARG_MIN_NULL", e.this, e.expression, e.args.get("count")
            ),
            # Of nulls alone DuckDB's count_if is null, Spark's 0.
            exp.CountIf: lambda self, e: f"COUNT(CASE WHEN {self.sql(e, 'this')} THEN 1 END)",
            exp.Kurtosis: lambda self, e: self.func("KURTOSIS_POP", e.this),
            exp.Quantile: lambda self, e: self.func("QUANTILE_CONT", e.this, e.args["quantile"]),
            # Spark cuts microseconds off, DuckDB rounds them.
            exp.UnixMillis: lambda self, e: f"(EPOCH_US({self.sql(e, 'this')}) // 1000)",
            exp.SafeMultiply: lambda self, e: f"TRY({self.binary(exp.Mul(this=e.this, expression=e.expression), '*')})",
        }


def _by(generator: Any, node: exp.Expr, name: str) -> str:
    """`max_by`, `min_by`; with a count a list."""
    count = node.args.get("count")
    return str(generator.func(name if count else f"{name}_NULL", node.this, node.expression, count))


def parsed(sql: str) -> list[exp.Expr]:
    """The statements of a text in Spark's dialect. Raises sqlglot's ParseError or TokenError."""
    return [statement for statement in _Spark().parse(sql) if statement is not None]


def for_duckdb(statement: exp.Expr) -> str:
    """The same statement for DuckDB. Raises BadConfig for what only Spark has."""
    return _ForDuckDB().generate(_all_rewritten(statement.copy()), copy=False, comments=False)


def _all_rewritten(statement: exp.Expr) -> exp.Expr:
    """The statement with each expression rewritten, inner ones first: what is rewritten around them then has them as they are in DuckDB."""
    for node in reversed(list(statement.walk(bfs=False))):
        parent, key, place = node.parent, node.arg_key, node.index
        other = _rewritten(node)
        if other is node:
            continue
        if parent is None:
            return other
        parent.set(key, other, place)
    return statement


def _rewritten(node: exp.Expr) -> exp.Expr:
    """What is another expression in DuckDB; the node itself where it is not."""
    for kinds, rewrite in _REWRITES:
        if isinstance(node, kinds):
            return rewrite(node)
    return node


def _aliases(node: exp.Expr) -> exp.Expr:
    if not isinstance(node.this, exp.Stack):
        return node
    return _rows_and_columns(_structs(node.this.expressions, [name.name for name in node.expressions]))


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
    return call("unnest", structs, both)


# ---- lists and lambdas ------------------------------------------------------------------------------------------------------------------


def _exists(node: exp.Expr) -> exp.Expr:
    """Whether the condition holds of one at least; null where it does of none, and is null of one."""
    if not isinstance(node.expression, exp.Lambda):
        return node
    return _three_valued(node.this, node.expression, found="true", else_="false")


def _anonymous(node: exp.Expr) -> exp.Expr:
    match node.name.lower():
        case "forall":
            values, condition = node.expressions
            against = exp.Lambda(this=exp.not_(exp.paren(condition.this)), expressions=condition.expressions)
            return _three_valued(values, against, found="false", else_="true")
        case name if name == f"{PREFIX}get_json_object" and any(mark in node.expressions[1].name for mark in ("*", "['")):
            raise only_spark("get_json_object with * or [' in its path")
        case "date_part" | "datepart" if len(node.expressions) == 2 and node.expressions[0].is_string:
            return _extract(exp.Extract(this=exp.var(node.expressions[0].name), expression=node.expressions[1]))
    return node


def _three_valued(values: exp.Expr, condition: exp.Lambda, found: str, else_: str) -> exp.Expr:
    unknown = exp.Lambda(this=exp.Is(this=exp.paren(condition.this.copy()), expression=exp.Null()), expressions=condition.expressions)
    some = [exp.GT(this=_how_many(values.copy(), one), expression=exp.Literal.number(0)) for one in (condition, unknown)]
    return (
        exp.Case()
        .when(exp.Is(this=values.copy(), expression=exp.Null()), exp.Null())
        .when(some[0], found)
        .when(some[1], exp.Null())
        .else_(else_)
    )


def _how_many(values: exp.Expr, condition: exp.Lambda) -> exp.Expr:
    return call("len", call("list_filter", values, condition.copy()))


def _from_zero(node: exp.Expr) -> exp.Expr:
    """`filter` and `transform` with the place of an element: Spark counts from 0, DuckDB from 1."""
    function = node.expression
    if isinstance(function, exp.Lambda) and len(function.expressions) == 2:
        place = function.expressions[1].name
        before = exp.paren(exp.Sub(this=exp.to_identifier(place), expression=exp.Literal.number(1)))
        function.set("this", _with(function.this, place, before))
    return node


def _reduce(node: exp.Expr) -> exp.Expr:
    """`aggregate` with a last step: that step of what is reduced without it."""
    finish = node.args.get("finish")
    if finish is None:
        return node
    node.set("finish", None)
    return _with(finish.this, finish.expressions[0].name, exp.paren(node.copy()))


def _with(body: exp.Expr, name: str, value: exp.Expr) -> exp.Expr:
    """The body of a lambda with another expression for a parameter."""
    return body.transform(
        lambda one: value.copy() if isinstance(one, exp.Identifier | exp.Column) and one.name == name and not one.args.get("table") else one
    )


# ---- texts, times, numbers --------------------------------------------------------------------------------------------------------------


def _substring(node: exp.Expr) -> exp.Expr:
    """The first character is 1, and 0 as well."""
    start = node.args.get("start")
    if start is not None and start.is_int and int(start.to_py()) == 0:
        node.set("start", exp.Literal.number(1))
    return node


def _range(node: exp.Expr) -> exp.Expr:
    """The column of `range` is called id."""
    if isinstance(node.this, exp.Anonymous) and node.this.name.lower() == "range" and not node.alias_column_names:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(node.alias or "range"), columns=[exp.to_identifier("id")]))
    return node


def _cast(node: exp.Expr) -> exp.Expr:
    """To a whole number it cuts off; a time is seconds as a number, and has no zone as a text.

    What cannot be cast is null, where Spark fails: DuckDB may cast rows that Spark, which goes by the order of conditions, does not.
    """
    kind = node.to.this
    value = node.this
    if kind in _WHOLE and not (isinstance(value, exp.Literal) and value.is_string):
        value = call(f"{PREFIX}whole", value)
    elif kind in _FRACTIONS and not isinstance(value, exp.Literal):
        value = call(f"{PREFIX}fraction", value)
    elif kind in _TEXTS:
        value = call(f"{PREFIX}text", value)
    return type(node)(this=value, to=node.to)


def _extract(node: exp.Expr) -> exp.Expr:
    """Seconds have a fraction; Sunday is day 1 of DAYOFWEEK and DOW."""
    match node.this.name.upper():
        case "SECOND" | "SECONDS" | "S" | "SEC" | "SECS":
            micros = exp.Extract(this=exp.var("MICROSECONDS"), expression=node.expression)
            return exp.paren(exp.Div(this=exp.cast(micros, "DECIMAL(14, 6)"), expression=exp.Literal.number(1_000_000)))
        case "DOW" | "DAYOFWEEK":
            return call(f"{PREFIX}dayofweek", node.expression)
    return node


# ---- groups -----------------------------------------------------------------------------------------------------------------------------


def _ignore_nulls(node: exp.Expr) -> exp.Expr:
    """`first`, `last` and `any_value` of what is not null."""
    match node.this:
        case exp.First() | exp.Last() if isinstance(node.parent, exp.Window):
            over_window = exp.FirstValue if isinstance(node.this, exp.First) else exp.LastValue
            return exp.IgnoreNulls(this=over_window(this=node.this.this))
        case exp.AnyValue() | exp.First() | exp.FirstValue() | exp.Last() | exp.LastValue() if not isinstance(node.parent, exp.Window):
            known = exp.Where(this=exp.not_(exp.Is(this=node.this.this.copy(), expression=exp.Null())))
            return exp.Filter(this=node.this, expression=known)
    return node


def _first_value(node: exp.Expr) -> exp.Expr:
    """Without a window it is an aggregate."""
    parent = node.parent.parent if isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls) else node.parent
    if isinstance(parent, exp.Window):
        return node
    return exp.First(this=node.this) if isinstance(node, exp.FirstValue) else exp.Last(this=node.this)


def _any(node: exp.Expr) -> exp.Expr:
    """`any(condition)` is an aggregate; beside a comparison it is a list."""
    if isinstance(node.parent, exp.Binary | exp.Escape) or not isinstance(node.this, exp.Paren):
        return node
    return call("bool_or", node.this.this)


def _joined(node: exp.Expr) -> exp.Expr:
    """There is nothing between the texts by default."""
    if node.args.get("separator") is None:
        node.set("separator", exp.Literal.string(""))
    return node


def _refused(words: str) -> Callable[[exp.Expr], exp.Expr]:
    def refuse(_node: exp.Expr) -> exp.Expr:
        raise only_spark(words)

    return refuse


def _collected(node: exp.Expr) -> exp.Expr:
    """Of no rows the list is empty in Spark, null in DuckDB."""
    return node if isinstance(node.parent, exp.Filter | exp.Window) else exp.Coalesce(this=node, expressions=[exp.Array()])


def _only_without(argument: str, words: str) -> Callable[[exp.Expr], exp.Expr]:
    def rewrite(node: exp.Expr) -> exp.Expr:
        if node.args.get(argument) is not None:
            raise only_spark(words)
        return node

    return rewrite


#: What is rewritten, the special kind before the general one.
_REWRITES: tuple[tuple[Any, Callable[[Any], exp.Expr]], ...] = (
    (exp.Aliases, _aliases),
    (exp.Inline, lambda node: _rows_and_columns(node.this)),
    (exp.Exists, _exists),
    (exp.Anonymous, _anonymous),
    (exp.RegexpSplit, split),
    (exp.Substring, _substring),
    (exp.Table, _range),
    ((exp.ArrayAgg, exp.ArrayUniqueAgg), _collected),
    ((exp.ArrayFilter, exp.Transform), _from_zero),
    (exp.Reduce, _reduce),
    (exp.RegexpReplace, regexp_replace),
    ((exp.Like, exp.ILike), like),
    (exp.Cast, _cast),
    (exp.Extract, _extract),
    (exp.IgnoreNulls, _ignore_nulls),
    ((exp.FirstValue, exp.LastValue), _first_value),
    (exp.Any, _any),
    (exp.GroupConcat, _joined),
    (exp.Stack, lambda node: node if isinstance(node.parent, exp.Aliases) else _refused("stack without AS (names)")(node)),
    ((exp.CurrentUser, exp.SessionUser), _refused("current_user")),
    ((exp.CurrentCatalog, exp.CurrentDatabase, exp.CurrentSchema), _refused("the name of a catalog or schema")),
    ((exp.CurrentTime, exp.Localtime), _refused("current_time")),
    (exp.Mode, _only_without("deterministic", "mode with a second argument")),
    (exp.ArraySort, _only_without("expression", "array_sort with a function")),
    (exp.Levenshtein, _only_without("ins_cost", "levenshtein with a limit")),
)
