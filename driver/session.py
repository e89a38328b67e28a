"""The Spark session: from what spark-submit.sh prepared, or, under plain Python (tests, bench), from the same files."""

import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from pipeline.faults import BadConfig
from pipeline.session_settings import FEW_ROWS_IN_JAVA
from pipeline.store import azure, google
from pipeline.store.credentials import OF_STORES
from tools import shared_classes

ROOT = Path(__file__).parent.parent
CONF = ROOT / "conf"
_LOG = CONF / "log4j2.properties"
#: Delta's jars, put beside the interpreter by ./spark-submit.sh set-up.
JARS = Path(sys.prefix) / "jars"
#: For jobs that live for a minute: on few cores the optimizing compiler costs them more than it gains.
SHORT_JOB = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"}
#: For short jobs over little data: so do Java classes that Spark would write and compile for each of their queries, and stages that end
#: before the next is planned (three jobs instead of one wherever Delta looks into its log).
LITTLE_DATA = {**SHORT_JOB, **FEW_ROWS_IN_JAVA, "spark.sql.adaptive.enabled": "false"}


def build_session(app_name: str, extra_conf: Mapping[str, str] | None = None) -> SparkSession:
    """A session with conf/spark-defaults.conf, Delta, the environment's access to object stores, and `extra_conf` on top.

    Raises BadConfig in one line if Spark cannot start (no jars, no Java, port in use, no memory).
    """
    options = {"spark.app.name": app_name}
    if not os.environ.get("PYSPARK_SUBMIT_ARGS") and "PYSPARK_GATEWAY_PORT" not in os.environ:
        options |= {"spark.jars": _jars(), "spark.python.daemon.module": "driver.python_daemon"}
        _environment_of_plain_python()
    try:
        return _start_shielded({**options, **(extra_conf or {})})
    except PySparkRuntimeError as fault:
        raise BadConfig("Spark's Java process did not start; the lines above show why (Java 17 or newer? memory? options?)") from fault
    except Exception as fault:
        raise BadConfig(_start_fault(str(fault))) from fault


def _start_shielded(options: Mapping[str, str]) -> SparkSession:
    """Start the JVM deaf to SIGTERM: whoever signals the whole process group (timeout, a terminal) must not end it amid a micro-batch.

    An ignored signal stays ignored in a child, Java respects that; the JVM ends when our process does.
    """
    try:
        earlier = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except ValueError:  # not in the main thread: signals are somebody else's then
        return _started(options)
    try:
        return _started(options)
    finally:
        signal.signal(signal.SIGTERM, earlier)


def _started(options: Mapping[str, str]) -> SparkSession:
    """Java is told the credentials of stores when it runs: everybody on this machine can list what it was started with."""
    with _environment_of_java():
        SparkContext._ensure_initialized(conf=SparkConf(loadDefaults=False).setAll([*options.items()]))
    builder = SparkSession.builder
    for key, value in {**_of_object_stores(), **options}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _of_object_stores() -> dict[str, str]:
    """What the environment has of object stores, for executors, too: tasks write files into the warehouse. There are secrets in it.

    A store that is not Amazon's has its buckets in the path of an address, not in the name of a host.
    """
    found = {f"spark.executorEnv.{name}": os.environ[name] for name in OF_STORES if os.environ.get(name)}
    s3 = {"spark.hadoop.fs.s3a.path.style.access": "true"} if os.environ.get("AWS_ENDPOINT_URL") else {}
    return found | s3 | google.spark_options() | azure.spark_options()


def _jars() -> str:
    jars = sorted(str(jar) for jar in JARS.glob("*.jar"))
    if not jars:
        raise BadConfig(f"no jars in {JARS}: run ./spark-submit.sh set-up once")
    return ",".join(jars)


def _environment_of_plain_python() -> None:
    """What spark-submit.sh exports, for processes that were started without it."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(sys.prefix) / "numba-cache"))
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(ROOT) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, paths)])


@contextmanager
def _environment_of_java() -> Iterator[None]:
    """The environment in which Java is started: with our settings of Spark and of its log, unless a caller of the script has his own.

    They are given as options and not as a folder SPARK_CONF_DIR, which would keep Java from sharing classes (tools/shared_classes.py).
    """
    added = _added_for_java(os.environ)
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield
    finally:
        for name, text in before.items():
            if text is None:
                del os.environ[name]
            else:
                os.environ[name] = text


def _added_for_java(environ: Mapping[str, str]) -> dict[str, str]:
    prepared = bool(environ.get("PYSPARK_SUBMIT_ARGS"))
    if environ.get("SPARK_CONF_DIR") or (prepared and environ.get("SPARK_HOME")):
        return {}
    theirs = {name: environ.get(name, "") for name in ("SPARK_SUBMIT_OPTS", "JDK_JAVA_OPTIONS", "PYSPARK_SUBMIT_ARGS")}
    log = "" if any("configurationFile" in text for text in theirs.values()) else f"-Dlog4j2.configurationFile={quote(str(_LOG))}"
    classes = shared_classes.java_options(shared_classes.archive_of(environ))
    defaults = f"--properties-file {quote(str(CONF / 'spark-defaults.conf'))} pyspark-shell"
    # Theirs last: of an option that is given twice Java takes the later one.
    options = " ".join(filter(None, (log, classes, theirs["SPARK_SUBMIT_OPTS"])))
    return {"SPARK_SUBMIT_OPTS": options} | ({} if prepared else {"PYSPARK_SUBMIT_ARGS": defaults})


def _start_fault(message: str) -> str:
    """The cause of a failed start, out of a Java stack trace."""
    if re.search(r"BindException|Address already in use|Cannot assign requested address", message):
        found = re.search(r"Service '(\w+)' failed", message)
        service = f"Spark's {found.group(1)}" if found else "Spark"
        advice = "leave spark.driver.port and spark.ui.port out, or choose others"
        return f"{service} cannot bind its port, it is in use or not of this machine: {advice}"
    causes = re.findall(r"(?:^|: |Caused by: )[\w.$]*(?:Exception|Error): ([^\n]+)", message)
    return f"Spark did not start: {causes[-1] if causes else message.strip().splitlines()[0]}"
