"""Real lines for the parser's tests."""

import gzip
from pathlib import Path

import pytest

CAPTURES = Path(__file__).parents[1] / "fixtures" / "captures"


@pytest.fixture(scope="session")
def capture_lines() -> list[bytes]:
    """Every line of two small captures of real brokers."""
    lines: list[bytes] = []
    for name in ("f_limit_above_need", "p1_batches"):
        lines += gzip.decompress((CAPTURES / name / "events.jsonl.gz").read_bytes()).splitlines()
    return lines
