"""What the package computes of events, by columns."""

import pyarrow as pa
import pyarrow.compute as pc

from schemas.packages.computed import ByColumns


def _want_and_left(want: pa.Array, left: pa.Array) -> pa.Array:
    return pc.add(pc.multiply(want, 2**32), pc.fill_null(pc.add(left, 2), 0))


VALUES = {"want_left_msgs": ByColumns(("want_msgs", "left_msgs"), _want_and_left)}
ANSWERS = {"one_permit": ByColumns(("permits",), lambda permits: pc.fill_null(pc.less_equal(permits, 1), False))}
