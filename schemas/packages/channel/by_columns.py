"""What the package computes of events, by columns."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemas.packages.channel import KEEP_ALIVE

VALUES = {"keeps_alive": lambda command: pc.is_in(command, pa.array(KEEP_ALIVE)).cast("int64")}
ANSWERS: dict[str, Callable[..., Any]] = {}
