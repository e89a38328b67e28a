"""The checksum of a version, a file beside its commit as Delta's protocol has it: protocol and columns of the table, number and bytes of
its files.

Nobody needs one. Delta on Spark finds protocol and columns there; without it a job of Spark looks for them in all commits since the newest
checkpoint of the log, before each micro-batch that streams from the table.
"""

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from pipeline.store.files import files_at


def write_checksum(uri: str, delta: DeltaTable) -> None:
    """Write the checksum of the version at which `delta`, the table at `uri`, stands, and remove that of the version before.

    It has all columns with their comments, some 40 KB, and of the version before nobody asks any more.
    """
    files, version = files_at(uri), delta.version()
    files.write(_place(uri, version), json.dumps(checksum_of(delta)))
    files.delete(_place(uri, version - 1))


def checksum_of(delta: DeltaTable) -> dict[str, Any]:
    """The checksum of the version at which the table stands."""
    sizes = pa.table(delta.get_add_actions())["size_bytes"]
    metadata, protocol = delta.metadata(), delta.protocol()
    features = {"readerFeatures": protocol.reader_features, "writerFeatures": protocol.writer_features}
    return {
        "tableSizeBytes": pc.sum(sizes).as_py() or 0,
        "numFiles": len(sizes),
        "numMetadata": 1,
        "numProtocol": 1,
        "metadata": {
            "id": metadata.id,
            "name": metadata.name,
            "description": metadata.description,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": delta.schema().to_json(),
            "partitionColumns": metadata.partition_columns,
            "configuration": metadata.configuration,
            "createdTime": metadata.created_time,
        },
        "protocol": {
            "minReaderVersion": protocol.min_reader_version,
            "minWriterVersion": protocol.min_writer_version,
            **{name: value for name, value in features.items() if value is not None},
        },
    }


def _place(uri: str, version: int) -> str:
    return f"{uri}/_delta_log/{version:020}.crc"
