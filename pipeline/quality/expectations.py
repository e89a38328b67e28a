"""Rules in Great Expectations' words."""

import great_expectations.expectations as gxe
from great_expectations.expectations.row_conditions import PassThroughCondition

from pipeline.quality.rules import Rule

#: Key of an expectation's `meta` by which its result is found: the results of a suite come in an order of their own.
NUMBER = "number"


def expectation_of(rule: Rule, number: int) -> gxe.Expectation:
    """The expectation that evaluates the rule; `number` is its place in the suite."""
    column, meta = rule.columns[0], {NUMBER: number}
    if rule.kind == "not_null":
        return gxe.ExpectColumnValuesToNotBeNull(column=column, meta=meta)
    if rule.kind == "set":
        return gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(rule.values), meta=meta)
    if rule.kind == "range":
        bounds = {"min_value": rule.least, "max_value": rule.greatest, "strict_min": rule.above}
        return gxe.ExpectColumnValuesToBeBetween(column=column, meta=meta, **bounds)
    where = {"row_condition": PassThroughCondition(pass_through_filter=rule.where)} if rule.where else {}
    if len(rule.columns) == 1:
        return gxe.ExpectColumnValuesToBeUnique(column=column, meta=meta, **where)
    # A null is a value here: the broker's limiters have no topic.
    return gxe.ExpectCompoundColumnsToBeUnique(column_list=list(rule.columns), ignore_row_if="never", meta=meta, **where)


def no_rows() -> gxe.Expectation:
    """That a law's query returns nothing."""
    return gxe.ExpectTableRowCountToEqual(value=0, meta={NUMBER: 0})
