"""Java's classes of Spark as a first start left them in a file (class data sharing, JEP 350): Java maps them, and does not read jars.

./spark-submit.sh set-up makes the file, beside the interpreter. A start of Spark takes half as long with it.
"""

import sys
from pathlib import Path
from shlex import quote

#: Made by tools/environment/classes.py.
ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"
#: Java goes on without a file that does not fit (another Java, other jars), and would print a line about it, among our own.
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def java_options(archive: Path = ARCHIVE) -> str:
    """Options for a Java that runs our Spark, to map the classes; none where there is no file.

    Java takes the classes of one class path only, and of none with a folder that is not empty, as SPARK_CONF_DIR would be.
    """
    return f"-XX:SharedArchiveFile={quote(str(archive))} {_QUIET}" if archive.exists() else ""
