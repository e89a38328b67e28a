"""Renders declared columns as an Arrow schema."""

from collections.abc import Sequence

import pyarrow as pa

from schemas.field import Field

_ARROW_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "long": pa.int64(),
    "int": pa.int32(),
    "boolean": pa.bool_(),
    "double": pa.float64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "date": pa.date32(),
    "map<string,string>": pa.map_(pa.string(), pa.string()),
    "array<bigint>": pa.list_(pa.int64()),
    "array<string>": pa.list_(pa.string()),
    "binary": pa.binary(),
    "array<struct<broker_id:bigint,epoch:bigint,at:timestamp>>": pa.list_(
        pa.struct([("broker_id", pa.int64()), ("epoch", pa.int64()), ("at", pa.timestamp("us", tz="UTC"))])
    ),
}


def arrow_schema(fields: Sequence[Field]) -> pa.Schema:
    """Arrow schema of `fields`, in their order; Arrow's nullability is the declared one."""
    return pa.schema([pa.field(f.name, _ARROW_TYPES[f.type], nullable=f.nullable) for f in fields])
