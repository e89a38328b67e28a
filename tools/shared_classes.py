"""Java's classes of Spark as a first start left them in a file (class data sharing, JEP 350): Java maps them, and does not read jars.

./spark-submit.sh set-up makes the file, beside the interpreter. A session of Spark without a query starts in half the time with it.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

#: Java goes on without a file that does not fit (other jars, another class path), and would print a line about it, among our own.
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def archive_of(environ: Mapping[str, str], folder: Path = Path(sys.prefix)) -> Path:
    """The file of the Java that Spark takes: each Java has its own. An update of the system puts another Java in the same place."""
    return folder / f"spark-classes-{hashlib.sha256(_java(environ).encode()).hexdigest()[:12]}.jsa"


def java_options(archive: Path) -> str:
    """Options for a Java that runs our Spark, to map the classes; none where there is no file.

    Java takes the classes of one class path only, and of none with a folder that is not empty, as SPARK_CONF_DIR would be.
    """
    return f"-XX:SharedArchiveFile={quote(str(archive))} {_QUIET}" if archive.exists() else ""


def _java(environ: Mapping[str, str]) -> str:
    """Its place, size, and time."""
    home = environ.get("JAVA_HOME")
    found = f"{home}/bin/java" if home else shutil.which("java", path=environ.get("PATH"))
    if found is None or not os.path.exists(found):
        return "none"
    place = os.path.realpath(found)
    return f"{place} {os.stat(place).st_size} {os.stat(place).st_mtime_ns}"
