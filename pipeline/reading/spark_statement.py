"""What Spark may be asked: the same as the room (statement.py), judged by Spark's own parser and its plan of the statement.

Nothing is analysed or run for it: a path that is named is not looked at.
"""

from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from pipeline.faults import BadConfig
from pipeline.reading.statement import REFUSED, ROW_MAKERS

#: What shows or explains, by the names of Spark's classes.
_SHOWING = {"DescribeColumn", "DescribeQueryCommand", "DescribeRelation", "ExplainCommand", "ShowColumns", "ShowTables", "ShowViews"}
#: What a query's plan is made of before anything is looked up. A node that is not here is not run: a new version of Spark may bring any.
_QUERYING = {
    "Aggregate", "AsOfJoin", "CTE", "CurrentNamespace$", "Deduplicate", "Distinct", "Except", "Expand", "Filter", "Generate", "GlobalLimit",
    "Intersect", "Join", "LateralJoin", "Limit", "LocalLimit", "LocalRelation", "Offset", "OneRowRelation", "Pivot", "Project",
    "RebalancePartitions", "Repartition", "RepartitionByExpression", "Sample", "Sort", "SubqueryAlias", "Tail", "Union", "Unpivot",
    "UnresolvedHaving", "UnresolvedHint", "UnresolvedInlineTable", "UnresolvedRelation", "UnresolvedSubqueryColumnAliases",
    "UnresolvedTVFAliases", "UnresolvedTableOrView", "UnresolvedTableValuedFunction", "UnresolvedWith", "Window", "WithWindowDefinition",
}  # fmt: skip
#: Where a command keeps the query that it is about.
_HOLDING = {"ExplainCommand": "logicalPlan", "DescribeQueryCommand": "plan"}
_NAMING = {"UnresolvedRelation", "UnresolvedTableOrView"}
#: Functions that call whatever Java method they are given.
_CALLING = {"reflect", "java_method", "try_reflect"}


def refuse_what_is_no_query(spark: SparkSession, sql: str) -> None:
    """Raise BadConfig unless the statement only reads tables and views by their plain names, or shows or explains them."""
    try:
        plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    except (PySparkException, Py4JJavaError) as fault:
        raise BadConfig(f"SQL: {str(fault).strip().splitlines()[0]}") from fault
    if _class_of(plan) not in _SHOWING | _QUERYING:
        raise BadConfig(f"SQL: {REFUSED}")
    for node in _nodes(plan):
        _refuse(node, _class_of(node), is_root=node is plan)


def _refuse(node: Any, name: str, *, is_root: bool) -> None:
    """Raise BadConfig for a node that does more than read, or that reads something else: a path, another version, another's code."""
    if name == "RelationTimeTravel":
        raise BadConfig("SQL: only the newest version of a table is read, or with --consistent that of the newest cut")
    if name not in _QUERYING and not (is_root and name in _SHOWING):
        raise BadConfig(f"SQL: {REFUSED} ({name})")
    if name in _NAMING:
        parts = _items(node.multipartIdentifier())
        if len(parts) != 1:
            raise BadConfig(f"SQL: {'.'.join(parts)} is not read: only tables and views of the warehouse are, by their plain names")
    if name == "UnresolvedTableValuedFunction":
        function = ".".join(_items(node.name()))
        if function.lower() not in ROW_MAKERS:
            raise BadConfig(f"SQL: {function} is not read: only tables and views of the warehouse are")
    for expression in _items(node.expressions()):
        for part in _parts(expression):
            if _class_of(part) == "UnresolvedFunction" and _items(part.nameParts())[-1].lower() in _CALLING:
                raise BadConfig(f"SQL: {REFUSED}")


def _nodes(plan: Any) -> Iterator[Any]:
    """The plan, and all plans in it: below it, in WITH, in expressions, in what is explained."""
    yield plan
    inner = [*_items(plan.children()), *_items(plan.subqueries()), *_items(plan.innerChildren())]
    if _class_of(plan) in _HOLDING:
        inner.append(getattr(plan, _HOLDING[_class_of(plan)])())
    for child in inner:
        yield from _nodes(child)


def _parts(expression: Any) -> Iterator[Any]:
    yield expression
    for child in _items(expression.children()):
        yield from _parts(child)


def _items(sequence: Any) -> list[Any]:
    """Of a Scala sequence."""
    return [sequence.apply(place) for place in range(sequence.size())]


def _class_of(node: Any) -> str:
    return str(node.getClass().getSimpleName())
