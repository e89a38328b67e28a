"""What the package computes of events, by columns."""

import pyarrow as pa
import pyarrow.compute as pc

from schemas.packages.channel import KEEP_ALIVE
from schemas.packages.computed import ByColumns

VALUES = {"keeps_alive": ByColumns(("command",), lambda command: pc.is_in(command, pa.array(KEEP_ALIVE)).cast("int64"))}
ANSWERS: dict[str, ByColumns] = {}
