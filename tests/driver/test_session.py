"""What a session of Spark takes from the environment."""

import pytest

from driver.session import _of_object_stores
from pipeline.store.credentials import OF_STORES


def test_executors_get_what_opens_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks write files into the warehouse."""
    for name in OF_STORES:
        monkeypatch.delenv(name, raising=False)
    assert _of_object_stores() == {}
    told = {name: f"of {name}" for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AZURE_STORAGE_ACCOUNT_KEY", "HADOOP_CONF_DIR")}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    executors = {f"spark.executorEnv.{name}": value for name, value in told.items()}
    assert _of_object_stores() == {**executors, "spark.hadoop.fs.azure.account.key": "of AZURE_STORAGE_ACCOUNT_KEY"}
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert _of_object_stores()["spark.hadoop.fs.s3a.path.style.access"] == "true"
