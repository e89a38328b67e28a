"""How a benchmark runs a streaming query: to the end of what is there, and nobody stops it."""

import uuid
from datetime import UTC, datetime
from typing import Any

from pipeline.run_context import RunContext

TO_END: dict[str, Any] = {"availableNow": True}


def context() -> RunContext:
    """A run that nobody stops."""
    return RunContext(str(uuid.uuid4()), "bench", lambda: datetime.now(UTC), lambda: None, lambda _: None)
