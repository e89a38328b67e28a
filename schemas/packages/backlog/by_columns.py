"""What the package computes of events, by columns."""

from schemas.packages.computed import ByColumns

VALUES = {"outside_of_round": ByColumns(("cause",), lambda cause: cause.is_valid().cast("int64"))}
ANSWERS: dict[str, ByColumns] = {}
