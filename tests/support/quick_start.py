"""Spark's settings for children that live for half a minute: the production's, with queries interpreted and Java not optimizing."""

import os
from pathlib import Path

from driver.session import LITTLE_DATA, ROOT

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
#: For children whose Java options are given elsewhere.
INTERPRETED = {key: value for key, value in LITTLE_DATA.items() if key != _JAVA_OPTIONS}


def environment(folder: Path) -> dict[str, str]:
    """The environment of such a child; `folder` gets its spark-defaults.conf, once."""
    file = folder / "conf" / "spark-defaults.conf"
    if not file.exists():
        file.parent.mkdir(parents=True)
        quick = "".join(f"{key} {value}\n" for key, value in INTERPRETED.items())
        file.write_text((ROOT / "conf" / file.name).read_text(encoding="utf-8") + quick, encoding="utf-8")
    # Java's options are read when it starts, before it has looked into any file of Spark's.
    return {**os.environ, "SPARK_CONF_DIR": str(file.parent), "JDK_JAVA_OPTIONS": LITTLE_DATA[_JAVA_OPTIONS], "PYTHONPATH": str(ROOT)}
