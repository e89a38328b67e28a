"""A real S3 server for all tests here, behind a proxy that can misbehave; servers of Google's and Azure's protocols; a real HDFS.

Spark opens s3a://, gs:// and abfss:// from its start, so it needs these servers then.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bad_proxy import BadProxy
from pyspark.sql import SparkSession
from real_azure import ACCOUNT, azure_server
from real_gcs import gcs_server
from real_hdfs import RealHdfs
from real_store import BUCKET, RealStore, environment_of
from suite.session import session_of_tests

from driver.session import CONF

#: Of Parquet's reader; Google's connector cannot do it.
_PARTS_AT_ONCE = "parquet.hadoop.vectored.io.enabled"


@pytest.fixture(scope="session", autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BadProxy]:
    """The way to the server, whose address and key are in the environment: also of Java, which looks when it starts."""
    with RealStore(tmp_path_factory.mktemp("store")) as real, BadProxy(real.port) as proxy, pytest.MonkeyPatch.context() as patch:
        for name, value in environment_of(proxy.port).items():
            patch.setenv(name, value)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield proxy


@pytest.fixture(scope="session")
def spark(store: BadProxy, google: str, azure: str) -> Iterator[SparkSession]:
    """The session of the tests, with the jars of all stores."""
    yield from session_of_tests({"spark.jars": _jars()})


def _jars() -> str:
    folders = ("jars", "s3-jars", "google-jars", "azure-jars")
    return ",".join(str(jar) for folder in folders for jar in sorted((Path(sys.prefix) / folder).glob("*.jar")))


@pytest.fixture
def place(s3: str, request: pytest.FixtureRequest) -> str:
    """A folder of S3's bucket, of this test alone."""
    return f"{s3}/{_folder_of(request)}"


@pytest.fixture(scope="session")
def google(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Google's bucket, for all tests that want it."""
    with gcs_server(tmp_path_factory.mktemp("gcs")) as host, pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORAGE_EMULATOR_HOST", host)
        yield f"gs://{BUCKET}"


@pytest.fixture(scope="session")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Azure's container, for all tests that want it."""
    with azure_server(tmp_path_factory.mktemp("azure")) as environment, pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield f"abfss://{BUCKET}@{ACCOUNT}.dfs.core.windows.net"


@pytest.fixture(params=["google", "azure"])
def other_place(request: pytest.FixtureRequest) -> str:
    """A folder of Google's bucket, and of Azure's container, of this test alone."""
    return f"{request.getfixturevalue(request.param)}/{_folder_of(request)}"


@pytest.fixture(params=["s3", "google", "azure"])
def each_place(request: pytest.FixtureRequest) -> str:
    """The same, and a folder of S3's bucket."""
    return f"{request.getfixturevalue(request.param)}/{_folder_of(request)}"


@pytest.fixture
def any_place(each_place: str, spark: SparkSession) -> Iterator[str]:
    """The same. Spark reads there as spark-submit.sh lets it read."""
    options = spark.sparkContext._jsc.hadoopConfiguration()
    options.setBoolean(_PARTS_AT_ONCE, not each_place.startswith("gs:"))
    yield each_place
    options.unset(_PARTS_AT_ONCE)


@pytest.fixture(scope="session")
def s3(store: BadProxy) -> str:
    """S3's bucket."""
    return f"s3a://{BUCKET}"


@pytest.fixture
def spark_of_children(any_place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The jars of all stores for children that are started without spark-submit.sh."""
    more = f"--conf spark.hadoop.{_PARTS_AT_ONCE}=false" if any_place.startswith("gs:") else ""
    ours = f"--properties-file {CONF}/spark-defaults.conf --conf spark.python.daemon.module=driver.python_daemon"
    line = f"{ours} --jars {_jars()} {more} pyspark-shell"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", line)


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealHdfs]:
    """HDFS, for all tests that want it."""
    with RealHdfs(tmp_path_factory.mktemp("hdfs")) as real:
        yield real


@pytest.fixture
def hdfs_place(hdfs: RealHdfs, request: pytest.FixtureRequest) -> str:
    """A folder of HDFS, of this test alone."""
    return f"{hdfs.node}/{_folder_of(request)}"


def _folder_of(request: pytest.FixtureRequest) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
