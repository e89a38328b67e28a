"""The Spark session of the tests."""

from collections.abc import Iterator, Mapping

from pyspark.sql import SparkSession

from driver.session import LITTLE_DATA, build_session


def session_of_tests(more: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """One session of two cores for all tests: the production's settings, but queries are interpreted, which is quicker over little data.

    It lives for much longer than a short job: Java's optimizing compiler pays here, but only for what is called ten times as often as
    it usually demands (14 runs of the job: 113 instead of 152 s of the processor; 104 without it, and then each run a quarter longer).
    """
    optimized_late = " ".join(
        f"-XX:Tier4{threshold}Threshold={calls}"
        for threshold, calls in (("Invocation", 50_000), ("MinInvocation", 6_000), ("Compile", 150_000), ("BackEdge", 400_000))
    )
    of_tests = {
        "spark.master": "local[2]",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": f"-XX:ReservedCodeCacheSize=400m -XX:+UseSerialGC -Xmn700m {optimized_late}",
    }
    session = build_session("tests", {**LITTLE_DATA, **of_tests, **(more or {})})
    yield session
    session.stop()
