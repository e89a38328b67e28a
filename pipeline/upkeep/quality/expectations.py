"""Rules in Great Expectations' words."""

import great_expectations.expectations as gxe
from great_expectations.expectations.row_conditions import PassThroughCondition

from pipeline.upkeep.quality.rules import Rule


def expectation_of(rule: Rule) -> gxe.Expectation:
    """The expectation that judges the rule."""
    column = rule.columns[0]
    if rule.kind == "not_null":
        return gxe.ExpectColumnValuesToNotBeNull(column=column)
    if rule.kind == "set":
        return gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(rule.values))
    if rule.kind == "range":
        bounds = {"min_value": rule.least, "max_value": rule.greatest, "strict_min": rule.above}
        return gxe.ExpectColumnValuesToBeBetween(column=column, **bounds)
    where = {"row_condition": PassThroughCondition(pass_through_filter=rule.where)} if rule.where else {}
    if len(rule.columns) == 1:
        return gxe.ExpectColumnValuesToBeUnique(column=column, **where)
    # A null is a value here: the broker's limiters have no topic.
    return gxe.ExpectCompoundColumnsToBeUnique(column_list=list(rule.columns), ignore_row_if="never", **where)


def no_rows() -> gxe.Expectation:
    """That an invariant's query returns nothing."""
    return gxe.ExpectTableRowCountToEqual(value=0)
