"""How single declarations are rendered."""

from pyspark.sql.types import LongType, MapType, StringType

from schemas.field import TYPES, Field, Table
from schemas.render.ddl import SQL_TYPES, create_table
from schemas.render.spark import SPARK_TYPES, struct

TABLE = Table(
    "t",
    "It's a table.",
    grain=("k",),
    fields=(
        Field("k", "string", "the 'key'"),
        Field("n", "long", "a count", "bytes", nullable=True, check="n >= 0"),
        Field("d", "date", "day"),
    ),
    partition_by=("d",),
    properties={"delta.checkpointInterval": "7"},
)


def test_every_declared_type_has_a_spark_and_a_sql_type_that_are_the_same() -> None:
    assert set(SPARK_TYPES) == set(SQL_TYPES) == set(TYPES)
    for name in TYPES:
        assert SPARK_TYPES[name].simpleString() == SQL_TYPES[name].lower().replace(", ", ",").replace(": ", ":")


def test_a_struct_keeps_order_nullability_and_comments() -> None:
    schema = struct((*TABLE.fields[:2], Field("m", "map<string,string>", "map")))
    assert schema.names == ["k", "n", "m"]
    assert [f.nullable for f in schema.fields] == [False, True, False]
    assert [f.dataType for f in schema.fields] == [StringType(), LongType(), MapType(StringType(), StringType())]
    assert schema["n"].metadata == {"comment": "a count [bytes]"}


def test_ddl_quotes_text_and_paths() -> None:
    ddl = create_table(TABLE, "/a`b c")
    assert "delta.`/a``b c`" in ddl
    assert "`k` STRING NOT NULL COMMENT 'the \\'key\\''" in ddl
    assert "COMMENT 'It\\'s a table.'" in ddl


def test_ddl_has_checks_partitioning_and_statistics_of_the_grain() -> None:
    ddl = create_table(TABLE, "/t")
    assert "`n` BIGINT COMMENT" in ddl
    assert "PARTITIONED BY (d)" in ddl
    assert "'delta.constraints.n' = 'n IS NULL OR (n >= 0)'" in ddl
    assert "'delta.dataSkippingStatsColumns' = 'k'" in ddl


def test_a_tables_own_property_wins() -> None:
    assert "'delta.checkpointInterval' = '7'" in create_table(TABLE, "/t")
