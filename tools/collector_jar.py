"""The jar of the collector: made by Maven, its tests first; and its look into the jars of a broker."""

import subprocess
from pathlib import Path

from pipeline.faults import BadConfig
from tools.environment.place import ROOT
from tools.maven import MavenProject, java_tool

PROJECT = ROOT / "collector"
JAR = PROJECT / "target" / "dispatch-collector.jar"


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
