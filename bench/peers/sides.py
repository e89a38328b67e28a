"""The four sides: how each is started over a warehouse's bronze, and what it needs to be there."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.peers.flink_source import plain_copy_of
from bench.watched import Figures, run_watched

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORES = 2
MEMORY = "4g"
BUILD = "mvn -f bench/peers/pom.xml package"
SPARK_JAR, FLINK_JAR = (HERE / module / "target" / f"{module}-1.jar" for module in ("spark", "flink"))
#: Packages of Java that the engines look into, as their own scripts open them.
OPENED_FOR_FLINK = ("java.lang", "java.lang.reflect", "java.time", "java.util", "java.util.concurrent")
OPENED_FOR_SPARK = (
    *("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent"),
    *("java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar"),
)
JOB_SECONDS = re.compile(r"^job seconds ([0-9.]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Side:
    """`command` makes the tables of a warehouse's bronze in an empty folder."""

    name: str
    command: Callable[[Path, Path], list[str]]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Run:
    """One run. `job_s`: from the engine's being ready to the tables' being whole, as the job itself measured it."""

    figures: Figures
    job_s: float


def _ours(source: Path, target: Path) -> list[str]:
    return [sys.executable, "-m", "bench.peers.ours", str(source), str(target)]


def _ours_loaded(source: Path, target: Path) -> list[str]:
    return [sys.executable, "-m", "bench.peers.ours_loaded", str(source), str(target)]


def _java(jar: Path, opened: Sequence[str]) -> list[str]:
    """The beginning of a peer's command: Java with the jar and what Maven laid beside it."""
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opened]
    return ["java", f"-Xmx{MEMORY}", *opens, "-cp", f"{jar}:{jar.parent}/lib/*"]


def _spark(source: Path, target: Path) -> list[str]:
    submit = ["org.apache.spark.deploy.SparkSubmit", "--master", f"local[{CORES}]", "--properties-file", str(HERE / "spark" / "spark.conf")]
    job = ["--class", "peers.spark.ThrottleJob", str(SPARK_JAR)]
    return [*_java(SPARK_JAR, OPENED_FOR_SPARK), *submit, *job, str(source / "dispatch_events"), str(source / "names"), str(target)]


def _flink(source: Path, target: Path) -> list[str]:
    java = [*_java(FLINK_JAR, OPENED_FOR_FLINK), "peers.flink.ThrottleJob"]
    return [*java, str(plain_copy_of(source) / "dispatch_events"), str(source / "names"), str(target), str(CORES)]


def _environment(**more: str) -> dict[str, str]:
    """Ours, without what would lead a peer to our configuration."""
    # Without its bytecode Python would compile what it imports, for seconds.
    left_out = ("SPARK_CONF_DIR", "SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "PYTHONDONTWRITEBYTECODE")
    own = {name: value for name, value in os.environ.items() if name not in left_out}
    return own | {"SPARK_LOCAL_IP": "127.0.0.1"} | more


OURS = Side("ours", _ours, _environment(PYTHONPATH=str(ROOT)))
LOAD = Side("load", _ours_loaded, _environment(PYTHONPATH=str(ROOT)))
SPARK = Side("spark", _spark, _environment())
FLINK = Side("flink", _flink, _environment())
SIDES = (OURS, LOAD, SPARK, FLINK)


def check_built() -> None:
    """Raise SystemExit with the command that builds the peers, if they are not there."""
    missing = [jar for jar in (SPARK_JAR, FLINK_JAR) if not jar.exists()]
    if missing:
        raise SystemExit(f"{missing[0].relative_to(ROOT)} is not there; build the peers: {BUILD}")


def run_side(side: Side, source: Path, target: Path) -> Run:
    """Run a side in a process of its own. What it prints stays beside `target`. Raises SystemExit if it fails or reports no seconds."""
    target.mkdir(parents=True)
    output = target.with_suffix(".log")
    figures = run_watched(side.command(source, target), side.environment, output, CORES)
    found = JOB_SECONDS.search(output.read_text(errors="replace"))
    if found is None:
        raise SystemExit(f"{side.name} reported no seconds: {output.read_text(errors='replace')!r}")
    return Run(figures, float(found.group(1)))
