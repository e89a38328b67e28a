"""A real HDFS (a name node, a data node) on this machine: Hadoop's mini cluster, one jar that Ivy fetches once, beside Spark's jars."""

import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

import pyspark
from real_store import free_port

from tools.environment.ivy import cause_of, ivy_command
from tools.environment.jars import Jar
from tools.environment.place import Place, digest
from tools.environment.tool import Tools
from tools.maven import check_jdk, java_tool

#: Of the version of Spark's own client.
JAR = Jar("06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c", "org.apache.hadoop", "hadoop-client-minicluster", "3.5.0")
_PROGRAM = Path(__file__).with_name("Mini.java")


#: As it was before Azure's server for tests put its certificate there, in the place of those by which Java knows Maven's.
_ENVIRONMENT = dict(os.environ)


def fetched_jar(place: Place, kept: Path) -> Path:
    """The jar, in the folder `kept`. Raises RuntimeError in one line if it cannot be got."""
    jar = kept / JAR.file
    if not jar.exists():
        work = kept / "fetching-hdfs"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        command = ivy_command(place, work, [JAR.dependency], f"{work}/[organisation]_[artifact]-[revision].[ext]")
        if not Tools().run(command, work / "ivy.log", _ENVIRONMENT, lambda line: None):
            raise RuntimeError(f"cannot get {JAR.file} (no network?): {cause_of(work / 'ivy.log')}")
        if digest(work / JAR.file) != JAR.sha256:
            raise RuntimeError(f"the {JAR.file} that was fetched is not the one that is meant: its SHA-256 is {digest(work / JAR.file)}")
        (work / JAR.file).rename(jar)
        shutil.rmtree(work)
    return jar


class RealHdfs:
    """The cluster, from `with` to its end; nothing is in it. Its files and its log are in `folder`. It ends with this process, too."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._log = folder, folder / "hdfs.log"
        self.node = f"hdfs://127.0.0.1:{free_port()}"

    def __enter__(self) -> "RealHdfs":
        check_jdk()
        place = Place()
        jars = f"{fetched_jar(place, place.venv / 'store-server')}{os.pathsep}{Path(pyspark.__file__).parent}/jars/*"
        quick = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command = [java_tool("java"), *quick, "-cp", jars, str(_PROGRAM), self.node.rpartition(":")[2], str(self._folder / "data")]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=self._folder, text=True, encoding="utf-8"
            )
        assert self._process.stdout is not None
        # It says one line when it is up, and none if it ends before.
        if not self._process.stdout.readline():
            self._process.wait()
            raise RuntimeError(f"HDFS did not start: {self._log.read_text(encoding='utf-8', errors='replace')}")
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()
