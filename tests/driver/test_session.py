"""What a session of Spark takes from the environment."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

from driver import session
from driver.session import _of_object_stores
from pipeline.store.credentials import OF_STORES
from tools import shared_classes


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


#: What decides how Java is started.
OF_JAVA = ("SPARK_CONF_DIR", "SPARK_HOME", "SPARK_SUBMIT_OPTS", "JDK_JAVA_OPTIONS", "PYSPARK_SUBMIT_ARGS")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Nobody has set anything for Java, and there is a file of classes."""
    for name in OF_JAVA:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(shared_classes, "java_options", lambda _: "-XX:SharedArchiveFile=there")
    return monkeypatch


def given_to_java() -> dict[str, str]:
    """What the environment of Java has of OF_JAVA; ours is as before afterwards."""
    before = dict(os.environ)
    with session._environment_of_java():
        given = {name: os.environ[name] for name in OF_JAVA if name in os.environ}
    assert dict(os.environ) == before
    return given


def test_java_gets_our_settings_beside_the_callers_options(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("SPARK_SUBMIT_OPTS", "-Dtheirs=1")
    assert given_to_java() == {
        "SPARK_SUBMIT_OPTS": f"-Dlog4j2.configurationFile={session.CONF}/log4j2.properties -XX:SharedArchiveFile=there -Dtheirs=1",
        "PYSPARK_SUBMIT_ARGS": f"--properties-file {session.CONF}/spark-defaults.conf pyspark-shell",
    }


def test_the_options_of_the_script_stay(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("PYSPARK_SUBMIT_ARGS", "'--master' 'local[2]' pyspark-shell")
    given = given_to_java()
    assert given["PYSPARK_SUBMIT_ARGS"] == "'--master' 'local[2]' pyspark-shell"
    assert given["SPARK_SUBMIT_OPTS"].endswith("-XX:SharedArchiveFile=there")


def test_settings_or_a_spark_of_the_callers_are_left_as_they_are(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
    for name in ("SPARK_CONF_DIR", "SPARK_HOME"):
        with bare.context() as with_one:
            with_one.setenv(name, "/theirs")
            assert given_to_java() == {"PYSPARK_SUBMIT_ARGS": "pyspark-shell", name: "/theirs"}
            with_one.setenv(name, "")
            assert "SPARK_SUBMIT_OPTS" in given_to_java(), "empty is as not set"


@pytest.mark.parametrize("name", ["SPARK_SUBMIT_OPTS", "JDK_JAVA_OPTIONS", "PYSPARK_SUBMIT_ARGS"])
def test_a_log_of_the_callers_comes_before_ours(bare: pytest.MonkeyPatch, name: str) -> None:
    bare.setenv(name, "-Dlog4j.configurationFile=/theirs.properties pyspark-shell")
    assert str(session.CONF / "log4j2.properties") not in given_to_java()["SPARK_SUBMIT_OPTS"]


def test_without_the_file_java_is_told_nothing_of_classes(tmp_path: Path) -> None:
    assert shared_classes.java_options(tmp_path / "classes.jsa") == ""
    (tmp_path / "classes.jsa").touch()
    assert shared_classes.java_options(tmp_path / "classes.jsa").startswith(f"-XX:SharedArchiveFile={tmp_path}/classes.jsa -Xlog:cds=off")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc, with the files that a process has mapped")
def test_spark_runs_with_our_settings_and_with_classes_that_java_shares(spark: SparkSession) -> None:
    """A file that does not fit is mapped by nobody: another class path than that of the first start, for example."""
    assert spark.conf.get("spark.databricks.delta.snapshotPartitions") == "1"
    archive = shared_classes.archive_of(os.environ)
    if archive.resolve() != archive:
        pytest.skip("the environment is another checkout's: Java takes the classes of the class path that they were left for")
    java = spark.sparkContext._gateway.proc.pid
    assert str(archive) in Path(f"/proc/{java}/maps").read_text(encoding="utf-8")
