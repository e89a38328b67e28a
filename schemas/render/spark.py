"""Declared fields as Spark types."""

from collections.abc import Sequence

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from schemas.field import Field
from schemas.render.ddl import comment

#: Every declared type as Spark's. Elements of collections may be null: that is what Delta gives back, whatever was declared.
SPARK_TYPES: dict[str, DataType] = {
    "string": StringType(),
    "long": LongType(),
    "int": IntegerType(),
    "boolean": BooleanType(),
    "double": DoubleType(),
    "timestamp": TimestampType(),
    "date": DateType(),
    "map<string,string>": MapType(StringType(), StringType()),
    "array<bigint>": ArrayType(LongType()),
    "array<string>": ArrayType(StringType()),
    "binary": BinaryType(),
    "array<struct<broker_id:bigint,epoch:bigint,at:timestamp>>": ArrayType(
        StructType([StructField("broker_id", LongType()), StructField("epoch", LongType()), StructField("at", TimestampType())])
    ),
}


def struct(fields: Sequence[Field]) -> StructType:
    """The fields in declared order as a Spark schema: nullability as declared, meaning and unit as the column's comment."""
    return StructType([StructField(f.name, SPARK_TYPES[f.type], f.nullable, {"comment": comment(f)}) for f in fields])
