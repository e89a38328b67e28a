"""What a session of Spark takes from the environment."""

import pytest

from jobs.session import OF_STORES, _of_object_stores


def test_executors_get_what_opens_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks write files into the warehouse."""
    for name in OF_STORES:
        monkeypatch.delenv(name, raising=False)
    assert _of_object_stores() == {}
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    assert _of_object_stores() == {"spark.executorEnv.AWS_ACCESS_KEY_ID": "test"}
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert _of_object_stores()["spark.hadoop.fs.s3a.path.style.access"] == "true"
