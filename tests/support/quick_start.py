"""Spark's settings for children that live for half a minute: the production's, with queries interpreted and Java not optimizing."""

import os

from driver.session import LITTLE_DATA, ROOT

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
#: For children whose Java options are given elsewhere.
INTERPRETED = {key: value for key, value in LITTLE_DATA.items() if key != _JAVA_OPTIONS}


def environment() -> dict[str, str]:
    """The environment of such a child. Java's options are read when it starts, before it has looked into any file of Spark's."""
    options = " ".join([LITTLE_DATA[_JAVA_OPTIONS], *(f"-D{key}={value}" for key, value in INTERPRETED.items())])
    return {**os.environ, "SPARK_SUBMIT_OPTS": options, "PYTHONPATH": str(ROOT)}
