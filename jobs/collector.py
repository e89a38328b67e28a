"""Make the collector: the Java agent that writes a broker's dispatch-event log. Or check whether a broker has the points of its hooks.

The jar is collector/target/dispatch-collector.jar. docs/guide/collector.md describes how to add it to a broker.
"""

import argparse
import subprocess
from pathlib import Path

from jobs.environment.place import ROOT
from jobs.maven import MavenProject, java_tool
from pipeline.faults import BadConfig

EXAMPLES = """examples:
  ./spark-submit.sh collector build
  ./spark-submit.sh collector points --broker /pulsar

exit: 0 done, points: all are there; 1 the build or a test failed, points: some are missing; 2 bad arguments
"""
PROJECT = ROOT / "collector"
JAR = PROJECT / "target" / "dispatch-collector.jar"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `collector`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("build", help="compile, test and pack the jar, with Maven; it is fetched where there is none")
    points = actions.add_parser("points", help="which points of its hooks a broker's version has")
    points.add_argument("--broker", required=True, metavar="DIR", help="folder of an unpacked Pulsar, or of its jars")


def run(args: argparse.Namespace) -> int:
    """Does `args.action`; returns the exit status."""
    return build() if args.action == "build" else points(Path(args.broker))


def build() -> int:
    """Makes the jar; its tests run first. Maven prints only what fails."""
    JAR.unlink(missing_ok=True)
    status = MavenProject(PROJECT).run("package")
    if status == 0:
        print(f"made {JAR.relative_to(ROOT)} ({JAR.stat().st_size / 1e6:.1f} MB); its tests passed")
    return 1 if status else 0


def points(broker: Path) -> int:
    """Prints the points that the jars of a broker have, and lack."""
    if not JAR.exists():
        raise BadConfig(f"there is no {JAR.relative_to(ROOT)}: make it by ./spark-submit.sh collector build")
    jars = broker / "lib" if (broker / "lib").is_dir() else broker
    return subprocess.run([java_tool("java"), "-jar", str(JAR), str(jars)], check=False).returncode
