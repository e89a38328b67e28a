"""Functions of texts and patterns, written anew for DuckDB."""

import re

from sqlglot import exp

from pipeline.query.functions import PREFIX
from pipeline.query.missing_functions import only_spark

#: A pattern that is the text itself.
_MARKS = frozenset("\\.[]{}()*+?^$|")
_GROUP = re.compile(r"\$(?P<number>\d)|\\(?P<taken>.)")


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of DuckDB, or of a macro of ours."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def split(node: exp.Expr) -> exp.Expr:
    """With a limit: where the pattern is the mark itself. 0 or less is no limit."""
    limit = node.args.get("limit")
    if limit is None or (limit.is_int and int(limit.to_py()) <= 0):
        return call(f"{PREFIX}split", node.this, node.expression)
    if not (node.expression.is_string and not _MARKS & set(node.expression.name)):
        raise only_spark("split with a pattern and a limit")
    return call(f"{PREFIX}split_most", node.this, node.expression, limit)


def regexp_replace(node: exp.Expr) -> exp.Expr:
    """A group is `$1` in Spark's replacement, `\\1` in DuckDB's. A backslash takes the next character for itself in both."""
    replacement = node.args.get("replacement")
    if replacement is None or not replacement.is_string:
        raise only_spark("regexp_replace with a replacement that is no text in quotes")
    node.set("replacement", exp.Literal.string(_GROUP.sub(_group, replacement.name)))
    return node


def _group(found: "re.Match[str]") -> str:
    taken, number = found["taken"], found["number"]
    return f"\\{number}" if number else "\\\\" if taken == "\\" else taken


def like(node: exp.Expr) -> exp.Expr:
    """A backslash takes the next character for itself in Spark; in DuckDB only if it is told so."""
    pattern = node.expression
    if isinstance(node.parent, exp.Escape) or isinstance(pattern, exp.Any | exp.All) or (pattern.is_string and "\\" not in pattern.name):
        return node
    return exp.Escape(this=node, expression=exp.Literal.string("\\"))
