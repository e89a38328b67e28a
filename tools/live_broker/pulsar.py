"""The server of Apache Pulsar: one Maven artifact, fetched once into a cache folder of the user."""

import os
import shutil
import tarfile
import threading
from pathlib import Path

from pipeline.faults import BadConfig
from tools.maven import MavenProject

#: The version that the collector is made for.
VERSION = "4.0.8"
_ARTIFACT = "org.apache.pulsar:pulsar-server-distribution:{version}:tar.gz:bin"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_EMPTY_PROJECT = (
    "<project><modelVersion>4.0.0</modelVersion><groupId>io.dispatchanalytics</groupId>"
    "<artifactId>fetches-pulsar</artifactId><version>1</version><packaging>pom</packaging></project>\n"
)
#: Brokers may start side by side; the first one fetches.
_ONE_AT_A_TIME = threading.Lock()


def cache_folder() -> Path:
    """Where servers are kept: XDG_CACHE_HOME, or ~/.cache. It may be deleted: what is needed is fetched again."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "dispatch-analytics" / "pulsar"


def server(version: str = VERSION) -> Path:
    """The folder of an unpacked server. Fetches 245 MB the first time; BadConfig if that fails."""
    home = cache_folder() / version
    with _ONE_AT_A_TIME:
        if not home.exists():
            print(f"fetching Pulsar {version} (245 MB) into {home}, once", flush=True)
            _fetch(version, home)
    return home


def _fetch(version: str, home: Path) -> None:
    """Maven compares the checksum. What is unpacked appears whole or not at all."""
    work = home.with_name(f"fetching-{version}-{os.getpid()}")
    try:
        work.mkdir(parents=True)
        (work / "pom.xml").write_text(_EMPTY_PROJECT, encoding="utf-8")
        arguments = (_COPY, "-C", f"-Dartifact={_ARTIFACT.format(version=version)}", f"-DoutputDirectory={work}")
        if MavenProject(work).run(*arguments) != 0:
            raise BadConfig(f"cannot get Pulsar {version} (no network?): the lines above name the cause; repeat, or unpack it into {home}")
        (packed,) = work.glob("*.tar.gz")
        with tarfile.open(packed) as archive:
            archive.extractall(work, filter="data")
        (work / f"apache-pulsar-{version}").rename(home)
    finally:
        shutil.rmtree(work, ignore_errors=True)
