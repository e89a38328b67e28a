"""A run as run_ledger has it."""

import hashlib
import json
import os
import socket
from typing import Any

from pipeline.rules_cache import sources_fingerprint
from pipeline.run_context import RunContext
from pipeline.settings import Settings
from tools import CODE

_OF_THE_END = ("ended_at", "outcome", "error", "micro_batches", "unrecorded")


def begun_row(command: str, mode: str, events: str, run: RunContext, settings: Settings, spark_version: str) -> dict[str, Any]:
    """The first row of a run that begins now: `mode` is live, once or drain, `events` the value of --events."""
    return {
        "run_id": run.run_id,
        "event": "started",
        "command": command,
        "mode": mode,
        "events": events,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "code_version": run.code_version,
        "code_fingerprint": sources_fingerprint(CODE),
        "spark_version": spark_version,
        "settings_fingerprint": settings_fingerprint(settings),
        "settings": {key: str(value) for key, value in settings.items()},
        "started_at": run.now(),
        **dict.fromkeys(_OF_THE_END),
    }


def settings_fingerprint(settings: Settings) -> str:
    """A short hash of all settings: alike where all are alike."""
    return hashlib.sha256(json.dumps(settings.model_dump(), sort_keys=True).encode()).hexdigest()[:16]
