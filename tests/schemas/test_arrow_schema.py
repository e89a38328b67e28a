"""Every declared column type has its Arrow type."""

import pyarrow as pa

from schemas.field import TYPES, Field
from schemas.render.arrow import arrow_schema
from schemas.tables import TABLES


def test_every_type_and_every_table_is_rendered() -> None:
    schema = arrow_schema([Field(f"c{place}", type_, "") for place, type_ in enumerate(TYPES)])
    assert [str(field.type) for field in schema] == [
        "string", "int64", "int32", "bool", "double", "timestamp[us, tz=UTC]", "date32[day]", "map<string, string>", "list<item: int64>",
        "list<item: string>", "binary", "list<item: struct<broker_id: int64, epoch: int64, at: timestamp[us, tz=UTC]>>",
    ]  # fmt: skip
    assert all(arrow_schema(table.fields).names == list(table.names) for table in TABLES)


def test_nullability_is_the_declared_one() -> None:
    assert arrow_schema([Field("a", "long", ""), Field("b", "long", "", nullable=True)]) == pa.schema(
        [pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.int64())]
    )
