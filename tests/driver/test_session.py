"""What a session of Spark takes from the environment."""

from types import SimpleNamespace

import pytest

from driver import session
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


def test_java_is_started_without_a_secret_and_told_it_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody on the machine can list what a process was started with."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very secret")
    started: dict[str, str] = {}
    told: dict[str, str] = {}

    def config(key: str, value: str) -> SimpleNamespace:
        told[key] = value
        return builder

    builder = SimpleNamespace(config=config, getOrCreate=lambda: "session")
    monkeypatch.setattr(session.SparkContext, "_ensure_initialized", lambda conf: started.update(conf.getAll()))
    monkeypatch.setattr(session, "SparkSession", SimpleNamespace(builder=builder))
    session._started({"spark.app.name": "a"})
    assert started == {"spark.app.name": "a"}
    assert told["spark.executorEnv.AWS_SECRET_ACCESS_KEY"] == "very secret"
