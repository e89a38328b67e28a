"""One Delta table as a relation of DuckDB: delta-rs reads the log, DuckDB the Parquet files that the log names.

DuckDB gets the list of files, and columns and types from the log. So it reads no more than a query asks for: columns, days (by the folders
of the files), row groups (by their statistics). A version once opened stays as it is, whoever writes meanwhile.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from pipeline.faults import BadWarehouse
from pipeline.query.skipping import Bounds, may_be_within
from schemas.field import Field

#: What a reader must know of a table so that its rows are right; more than these only Spark reads.
READ_HERE = {"deletionVectors", "v2Checkpoint", "timestampNtz", "vacuumProtocolCheck"}
_COLUMN_MAPPING = "delta.columnMapping.mode"
#: The reader version that came with column mapping; from the next on a table lists its features.
_MAPPED_READER = 2
TYPES = {
    "string": "VARCHAR", "long": "BIGINT", "integer": "INTEGER", "short": "SMALLINT", "byte": "TINYINT", "boolean": "BOOLEAN",
    "double": "DOUBLE", "float": "FLOAT", "timestamp": "TIMESTAMPTZ", "timestamp_ntz": "TIMESTAMP", "date": "DATE", "binary": "BLOB",
}  # fmt: skip
#: Of fewer files DuckDB looks into each as fast as anybody could say which are needed.
SEVERAL_FILES = 8
#: A table of so few bytes comes from a store in about the time of one request.
SMALL_BYTES = 1 << 20
#: As a field is declared, where its name differs from Delta's.
_DECLARED = {"int": "integer", "bigint": "long"}


def only_spark_reads(words: str) -> BadWarehouse:
    """Somebody changed a table so that it is not read here; the message says what is there, and what to do."""
    return BadWarehouse(f"{words}: only Spark reads that. Ask by Spark (docs/guide/cookbook.md), or make the table anew")


@dataclass(frozen=True)
class OpenTable:
    """A version of a table, by its `log`: `files` are paths below `folder`, where they lie on this machine, or will once they are fetched.

    `removed` are (path, row) of rows that a deletion vector takes away.
    """

    name: str
    version: int
    folder: str
    columns: tuple[tuple[str, str], ...]
    partitions: tuple[str, ...]
    files: tuple[str, ...]
    removed: tuple[tuple[str, int], ...]
    log: DeltaTable


def open_table(name: str, log: DeltaTable, folder: str) -> OpenTable:
    """The table by its log at a version; its files lie in `folder`.

    Raises BadWarehouse if it has something that only Spark reads.
    """
    refuse_unknown_features(name, log)
    try:
        fields = json.loads(log.schema().to_json())["fields"]
        below = [unquote(path) for path in log.get_add_actions(flatten=True)["path"].to_pylist()]
        partitions = tuple(log.metadata().partition_columns)
        removed = _removed(folder, below, log) if _has(log, "deletionVectors") else ()
    except DeltaError as fault:
        raise BadWarehouse(f"table {name} at version {log.version()} cannot be read: {fault}") from fault
    for path in below:
        _refuse_other_folders(name, path, partitions)
    files = tuple(f"{folder}/{path}" for path in below)
    columns = tuple((field["name"], duckdb_type(field["type"])) for field in fields)
    return OpenTable(name, log.version(), folder, columns, partitions, files, removed, log)


def with_added_columns(table: OpenTable, fields: Sequence[Field]) -> OpenTable:
    """The table with the columns that were added to its declaration since this version of it: null in all rows."""
    known = {name for name, _ in table.columns}
    added = declared_columns([field for field in fields if field.added and field.name not in known])
    return replace(table, columns=(*table.columns, *added))


def files_within(table: OpenTable, bounds: Bounds) -> tuple[str, ...]:
    """Of the table's files those that may have a row within the bounds."""
    log = table.log.get_add_actions(flatten=True)
    paths = log["path"].to_pylist()
    known = [name for name in bounds if f"min.{name}" in log.schema.names]
    least, most = ([log[f"{end}.{name}"].to_pylist() for name in known] for end in ("min", "max"))
    skipped = {
        f"{table.folder}/{unquote(paths[place])}"
        for place in range(len(paths))
        if not may_be_within(bounds, _each_of(known, least, place), _each_of(known, most, place))
    }
    return tuple(file for file in table.files if file not in skipped)


def refuse_unknown_features(name: str, delta: DeltaTable) -> None:
    """Raise BadWarehouse for a table whose rows would be others if it were read as we read."""
    protocol = delta.protocol()
    unknown = set(protocol.reader_features or ()) - READ_HERE
    is_mapped = delta.metadata().configuration.get(_COLUMN_MAPPING, "none") != "none"
    if unknown or (is_mapped and protocol.min_reader_version >= _MAPPED_READER):
        raise only_spark_reads(f"table {name} needs {', '.join(sorted(unknown)) or 'column mapping'}")


def relation(table: OpenTable, files: Sequence[str] | None = None, *, told: bool = True) -> str:
    """DuckDB's query for all rows in the files of the table, or in some, with its columns in their order; `removed` is among them.

    `told`: DuckDB is told columns and types; else every file must have them (plain_files.py).
    """
    in_files = [(name, kind) for name, kind in table.columns if name not in table.partitions]
    schema = ", ".join(f"{_text(name)}: {{name: {_text(name)}, type: {_text(kind)}, default_value: NULL}}" for name, kind in in_files)
    listed = ", ".join(map(_text, table.files if files is None else files))
    options = f", schema = MAP {{{schema}}}" if told else ""
    chosen = ", ".join(_partition(name, kind) if name in table.partitions else _name(name) for name, kind in table.columns)
    # Without files DuckDB has nothing to scan, and cannot cast a name of a file.
    if not table.files:
        return empty_relation(table.columns)
    return f"SELECT {chosen} FROM read_parquet([{listed}]{options})"


def removed_rows(table: OpenTable) -> list[list[Any]]:
    """Paths, and rows in them, of what deletion vectors take away."""
    return [[path for path, _ in table.removed], [row for _, row in table.removed]]


def empty_relation(columns: Sequence[tuple[str, str]]) -> str:
    """DuckDB's query for no rows of these columns."""
    return f"SELECT {', '.join(f'CAST(NULL AS {kind}) AS {_name(name)}' for name, kind in columns)} WHERE false"


def declared_columns(fields: Sequence[Field]) -> list[tuple[str, str]]:
    """(name, DuckDB's type) of declared fields."""
    return [(field.name, duckdb_type(_declared(field.type))) for field in fields]


def duckdb_type(delta_type: Any) -> str:
    """Of a type as Delta's schema has it: a name, or a JSON object. Raises BadWarehouse for one that is not in our tables."""
    if isinstance(delta_type, str):
        decimal = re.fullmatch(r"decimal\(\d+, ?\d+\)", delta_type)
        if decimal or delta_type in TYPES:
            return TYPES.get(delta_type, delta_type.upper())
    elif delta_type["type"] == "array":
        return f"{duckdb_type(delta_type['elementType'])}[]"
    elif delta_type["type"] == "map":
        return f"MAP({duckdb_type(delta_type['keyType'])}, {duckdb_type(delta_type['valueType'])})"
    elif delta_type["type"] == "struct":
        fields = (f"{_name(field['name'])} {duckdb_type(field['type'])}" for field in delta_type["fields"])
        return f"STRUCT({', '.join(fields)})"
    raise only_spark_reads(f"there is a column of type {delta_type}")


def _each_of(names: Sequence[str], columns: Sequence[Sequence[Any]], place: int) -> dict[str, Any]:
    return {name: column[place] for name, column in zip(names, columns, strict=True)}


def _declared(declared: str) -> Any:
    """A declared type as Delta's schema has it."""
    if found := re.fullmatch(r"map<(\w+),(\w+)>", declared):
        return {"type": "map", "keyType": _declared(found[1]), "valueType": _declared(found[2])}
    if found := re.fullmatch(r"array<(.+)>", declared):
        return {"type": "array", "elementType": _declared(found[1])}
    if found := re.fullmatch(r"struct<([\w:,]+)>", declared):
        fields = (field.split(":") for field in found[1].split(","))
        return {"type": "struct", "fields": [{"name": name, "type": _declared(kind)} for name, kind in fields]}
    return _DECLARED.get(declared, declared)


def _partition(name: str, kind: str) -> str:
    """A partition's value is in no file but in the name of its folder; DuckDB skips files by it as it does by a file's name."""
    value = f"regexp_extract(filename, {_text(f'/{re.escape(name)}=([^/]*)/')}, 1)"
    return f"CAST({value} AS {kind}) AS {_name(name)}"


def _refuse_other_folders(name: str, path: str, partitions: Sequence[str]) -> None:
    """Paths are taken for what they say: below the table's folder, a partition in each of theirs, nothing to expand or escaped."""
    hive = {part.partition("=")[0]: part.partition("=")[2] for part in path.split("/")[:-1] if "=" in part}
    if re.search(r"^/|:/|[*?\[]", path) or any("%" in hive.get(column, "%") or hive[column].startswith("__HIVE") for column in partitions):
        raise only_spark_reads(f"table {name} has a file in an unknown folder: {path}")


def _removed(folder: str, below: Sequence[str], delta: DeltaTable) -> tuple[tuple[str, int], ...]:
    """(path, row) of what deletion vectors take away. delta-rs gives whole URLs there, of the folder that a link leads to."""
    found: list[tuple[str, int]] = []
    for batch in delta.deletion_vectors():
        for url, kept in zip(batch["filepath"].to_pylist(), batch["selection_vector"].to_pylist(), strict=True):
            path = next(path for path in below if unquote(url).endswith(f"/{path}"))
            found += [(f"{folder}/{path}", row) for row, is_kept in enumerate(kept) if not is_kept]
    return tuple(found)


def _has(delta: DeltaTable, feature: str) -> bool:
    return feature in (delta.protocol().reader_features or ())


def file_sizes(table: OpenTable) -> dict[str, int]:
    """Bytes of each of the table's files."""
    return {f"{table.folder}/{path}": size for path, size in _sizes(table.log).items()}


def small_files(log: DeltaTable) -> dict[str, int]:
    """Bytes of each file of a table, by its path below the folder, if all of them come as quickly as some; else of none.

    Of none, too, where the log cannot be read: whoever reads the table is told so.
    """
    try:
        sizes = _sizes(log)
    except DeltaError:
        return {}
    return sizes if len(sizes) < SEVERAL_FILES and sum(sizes.values()) <= SMALL_BYTES else {}


def _sizes(log: DeltaTable) -> dict[str, int]:
    files = log.get_add_actions(flatten=True)
    return dict(zip(map(unquote, files["path"].to_pylist()), files["size_bytes"].to_pylist(), strict=True))


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
