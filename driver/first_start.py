"""`python -m driver.first_start`: start Spark as a job does, let it answer one question, and end when Java has ended.

Set-up does so once: Java then leaves the classes that it has loaded (tools/environment/classes.py).
"""

from driver.session import SHORT_JOB, build_session


def main() -> None:
    """Load the classes of a start and of a query; Java ends when nobody holds its input any more."""
    spark = build_session("dispatch-analytics set-up", {**SHORT_JOB, "spark.master": "local[2]"})
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    spark.range(10).selectExpr("id % 3 AS k").groupBy("k").count().collect()
    spark.stop()
    gateway.proc.stdin.close()
    gateway.proc.wait()


if __name__ == "__main__":
    main()
