"""Spark's progress of a micro-batch, in the form in which Spark tells it."""

import json
from typing import Any

DURATIONS = {
    "addBatch": 3000,
    "commitOffsets": 40,
    "getBatch": 5,
    "latestOffset": 20,
    "queryPlanning": 100,
    "triggerExecution": 3200,
    "walCommit": 35,
}


def progress_of(query: str, batch_id: int, **changes: Any) -> dict[str, Any]:
    """Of `lanes` with its state; ingest has none."""
    operator = {"operatorName": "applyInPandasWithState", "numRowsUpdated": 2, "memoryUsedBytes": 4096, "commitTimeMs": 77}
    return {
        "id": "11111111-0000-0000-0000-000000000000",
        "runId": "22222222-0000-0000-0000-000000000000",
        "name": query,
        "timestamp": "2026-11-22T12:00:00.000Z",
        "batchId": batch_id,
        "durationMs": DURATIONS,
        "stateOperators": [operator] if query == "lanes" else [],
        "sources": [
            {"metrics": {"numFilesOutstanding": "3", "numBytesOutstanding": "900"}},
            {"metrics": {}},
            {"description": "no metrics"},
        ],
        **changes,
    }


def progress_json(query: str, batch_id: int, **changes: Any) -> str:
    """The same as text."""
    return json.dumps(progress_of(query, batch_id, **changes))
