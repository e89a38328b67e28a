"""Outcome rows to table rows: ids back to text, numbers back to the declared types."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.field import Field, Table
from schemas.outcomes import FILLED_LATER, KINDS, NULL, OUTCOME_COLUMNS, PAYLOAD, TEXT_OF_IDS, texts_of
from schemas.render.spark import SPARK_TYPES


def output_column(table: str, name: str) -> str:
    """Under which column of the operator's output the value `name` of an outcome of `table` travels."""
    return f"o{OUTCOME_COLUMNS[table].index(name)}"


def with_text(outcomes: DataFrame, names: DataFrame) -> DataFrame:
    """Operator output joined with `names`: adds broker, topic, subscription (null where an id has no text yet)."""
    brokers = names.where("level = 'broker'").select(F.col("id").alias("broker_id"), "broker")
    entities = names.where("level <> 'broker'").select(F.col("id").alias("entity_id"), "topic", "subscription")
    entity_id = F.expr("if(o1 <> 0, o1, o0)").alias("entity_id")
    return outcomes.select("*", entity_id).join(F.broadcast(brokers), "broker_id", "left").join(entities, "entity_id", "left")


def lacks_text() -> Column:
    """Whether a row of `with_text` has an id that `names` does not know."""
    return F.expr("broker IS NULL OR (entity_id <> 0 AND topic IS NULL)")


def table_rows(outcomes: DataFrame, table: Table) -> DataFrame:
    """The rows of one table, typed as declared, out of `with_text`."""
    of_table = outcomes.where(F.col("kind") == KINDS[table.name])
    return of_table.select(*(_value(table.name, field).alias(field.name) for field in table.fields))


def _value(table: str, field: Field) -> Column:
    if field.name in TEXT_OF_IDS:
        return F.col(TEXT_OF_IDS[field.name])
    if field.name == "completeness":
        applied, missing = output_column(table, "window_applied"), output_column(table, "window_missing")
        return F.expr(f"if({applied} + {missing} = 0, 1.0D, cast({applied} AS double) / ({applied} + {missing}))")
    if field.name == PAYLOAD:
        return F.col(PAYLOAD)
    if field.name in FILLED_LATER:
        return F.lit(None).cast(SPARK_TYPES[field.type])
    raw = output_column(table, field.name)
    number = f"nullif({raw}, {NULL + 1}L - 1L)" if field.nullable else raw
    enumerated = texts_of(table, field.name)
    if enumerated and field.type == "string":
        texts = ", ".join(f"'{text}'" for text in enumerated)
        # Asked for first: of an array without nulls Spark takes element_at with a null position for its last element.
        return F.expr(f"if(({number}) IS NULL, null, element_at(array({texts}), cast({raw} + 1 AS int)))")
    conversions = {
        "timestamp": f"timestamp_micros({number})",
        "date": f"date_from_unix_date(cast({number} AS int))",
        "boolean": f"{number} = 1",
        "int": f"cast({number} AS int)",
        "long": number,
    }
    return F.expr(conversions[field.type])
