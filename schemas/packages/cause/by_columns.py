"""What the package computes of events, by columns."""

from schemas.packages.computed import ByColumns

VALUES = {
    "tells_deliveries": ByColumns(("log_version",), lambda version: version.is_valid().cast("int64")),
    "failed": ByColumns(("error",), lambda error: error.is_valid().cast("int64")),
}
ANSWERS: dict[str, ByColumns] = {}
