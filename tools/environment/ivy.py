"""Spark's own Ivy: gets files of a Maven repository where nobody has Maven."""

import os
from collections.abc import Sequence
from pathlib import Path

from tools.environment.place import Place


def ivy_command(place: Place, work: Path, dependencies: Sequence[str], retrieved: str) -> list[str]:
    """The command that puts `dependencies` (lines of an ivy.xml) into files named by the pattern `retrieved`.

    It has a home of its own in the folder `work`: a local Maven repository with poms but without jars would stop Ivy.
    """
    (ivy_jar,) = place.site_packages.glob("pyspark/jars/ivy-*.jar")
    lines = "\n".join(dependencies)
    wanted = work / "ivy.xml"
    wanted.write_text(
        f'<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">\n'
        f'<info organisation="dispatch-analytics" module="wanted"/>\n'
        f"<dependencies>\n{lines}\n</dependencies></ivy-module>\n",
        encoding="utf-8",
    )
    java = f"{os.environ['JAVA_HOME']}/bin/java" if os.environ.get("JAVA_HOME") else "java"
    places = ["-cache", str(work / "cache"), "-retrieve", retrieved]
    return [java, f"-Duser.home={work}", "-jar", str(ivy_jar), "-ivy", str(wanted), *places]


def cause_of(log: Path) -> str:
    """The first line of what Ivy printed that is a fault."""
    lines = log.read_text(encoding="utf-8").splitlines()
    return next((line.strip() for line in lines if "not found" in line or "Exception" in line or "ERROR" in line), "")[:300]
