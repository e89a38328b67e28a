"""An object store for tests."""

from collections.abc import Iterator

import pytest
from s3_server import BUCKET, S3, s3_server


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    """A store whose address and key are in the environment."""
    with s3_server(S3()) as served:
        for name, value in served.environment().items():
            monkeypatch.setenv(name, value)
        yield served


@pytest.fixture
def lake(s3: S3) -> str:
    """A folder in it."""
    return f"s3a://{BUCKET}/wh"
