"""A declared table as Delta DDL, for people and for other tools, and the properties with which it is made."""

from collections.abc import Collection

from schemas.field import Field, Table

#: Every declared type as SQL's.
SQL_TYPES = {
    "string": "STRING",
    "long": "BIGINT",
    "int": "INT",
    "boolean": "BOOLEAN",
    "double": "DOUBLE",
    "timestamp": "TIMESTAMP",
    "date": "DATE",
    "map<string,string>": "MAP<STRING, STRING>",
    "array<bigint>": "ARRAY<BIGINT>",
    "array<string>": "ARRAY<STRING>",
    "binary": "BINARY",
    "array<struct<broker_id:bigint,epoch:bigint,at:timestamp>>": "ARRAY<STRUCT<broker_id: BIGINT, epoch: BIGINT, at: TIMESTAMP>>",
}
#: A commit per micro-batch: with Delta's default of 10 every tenth batch would pay for a checkpoint of the log.
CHECKPOINT_INTERVAL = "50"


def comment(field: Field) -> str:
    """The comment of a column: its meaning, its unit in brackets, and Pulsar's own name for it."""
    unit = f" [{field.unit}]" if field.unit else ""
    pulsar = f"; Pulsar: {field.pulsar}" if field.pulsar else ""
    return f"{field.meaning}{unit}{pulsar}"


def constraints(table: Table) -> dict[str, str]:
    """CHECK constraints by name (a constraint is named after its column): SQL expressions that must be true, not null, of every row."""
    # To Delta a check that is null is violated.
    return {f.name: f"{f.name} IS NULL OR ({f.check})" if f.nullable else f.check for f in table.fields if f.check}


def properties(table: Table) -> dict[str, str]:
    """Delta's table properties: checks, log checkpoints, file statistics, then what the table itself declares.

    Statistics cost time on every file written, so only the columns that distinguish rows have them. `delta.appendOnly` stays off: a
    backfill may replace facts. CHECKs set here are enforced like those of ALTER TABLE ADD CONSTRAINT, which would cost a commit each.
    """
    indexed = [name for name in table.grain if name not in table.partition_by]
    return {
        "delta.checkpointInterval": CHECKPOINT_INTERVAL,
        "delta.dataSkippingStatsColumns": ",".join(indexed),
        **{f"delta.constraints.{name}": expression for name, expression in constraints(table).items()},
        **table.properties,
    }


def quoted(text: str) -> str:
    """`text` as a SQL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def is_among(column: str, texts: Collection[str]) -> str:
    """SQL that is true where the column is one of the texts, of which there must be one."""
    return f"{column} IN ({', '.join(map(quoted, texts))})"


def delta_path(path: str) -> str:
    """The Delta table in the folder `path`, as a SQL identifier."""
    return "delta.`" + path.replace("`", "``") + "`"


def _column(field: Field) -> str:
    not_null = "" if field.nullable else " NOT NULL"
    return f"  `{field.name}` {SQL_TYPES[field.type]}{not_null} COMMENT {quoted(comment(field))}"


def create_table(table: Table, path: str) -> str:
    """CREATE TABLE IF NOT EXISTS for the table in the folder `path` (any Hadoop-compatible URI), with comments, checks and properties."""
    columns = ",\n".join(_column(f) for f in table.fields)
    partitioned = f"PARTITIONED BY ({', '.join(table.partition_by)})\n" if table.partition_by else ""
    settings = ",\n".join(f"  {quoted(key)} = {quoted(value)}" for key, value in properties(table).items())
    return (
        f"CREATE TABLE IF NOT EXISTS {delta_path(path)} (\n{columns}\n)\nUSING DELTA\n{partitioned}"
        f"COMMENT {quoted(table.meaning)}\nTBLPROPERTIES (\n{settings}\n)"
    )
