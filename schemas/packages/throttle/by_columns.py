"""What the package computes of events, by columns."""

import pyarrow as pa
import pyarrow.compute as pc

from schemas.packages import throttle
from schemas.packages.throttle import DEBT_OFFSET, LEAST_DEBT


def _want_and_left(want: pa.Array, left: pa.Array) -> pa.Array:
    return pc.add(pc.multiply(want, 2**32), pc.fill_null(pc.add(left, 2), 0))


def _answer_or_debt(answers: pa.Array, tokens: pa.Array) -> pa.Array:
    debts = pc.subtract(pc.max_element_wise(pc.min_element_wise(tokens, 0, skip_nulls=False), LEAST_DEBT, skip_nulls=False), DEBT_OFFSET)
    has_debt = pc.fill_null(pc.and_(pc.equal(answers, 0), tokens.is_valid()), False)
    return pc.if_else(has_debt, debts, answers)


def _any_logged(*tokens: pa.Array) -> pa.Array:
    return pc.coalesce(*tokens).is_valid()


VALUES = {"want_left_msgs": _want_and_left, **{f"{answer}_or_debt": _answer_or_debt for answer in throttle.ANSWERS}}
ANSWERS = {"one_permit": lambda permits: pc.fill_null(pc.less_equal(permits, 1), False), "tokens_logged": _any_logged}
