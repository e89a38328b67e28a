"""Reports of Spark reach the main thread: by Spark itself, and by a fake where only the calls count."""

import json
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

from driver.reports import INBOX, FromJava, Reports


def test_a_progress_is_one_text_and_an_end_is_an_id() -> None:
    reports = Reports()
    java = FromJava(reports)
    java.onQueryStarted(None)
    java.onQueryIdle(None)
    java.onQueryProgress(SimpleNamespace(progress=lambda: SimpleNamespace(json=lambda: '{"batchId": 1}')))
    assert (list(reports.progress), reports.query_ended.is_set()) == (['{"batchId": 1}'], False)
    java.onQueryTerminated(SimpleNamespace(runId=lambda: SimpleNamespace(toString=lambda: "r")))
    assert (reports.ended, reports.query_ended.is_set()) == ({"r"}, True)


def test_the_oldest_gives_way_and_is_counted() -> None:
    reports = Reports()
    for number in range(INBOX + 2):
        reports.keep(str(number))
    assert (reports.progress[0], len(reports.progress), reports.pushed_out) == ("2", INBOX, 2)


@pytest.mark.usefixtures("spark")
def test_spark_reports_every_micro_batch_and_the_end(spark: SparkSession) -> None:
    reports = Reports()
    reports.begin(spark)
    try:
        stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
        query = stream.writeStream.foreachBatch(lambda _batch, _number: None).start()
        while len(reports.progress) < 2:
            query.awaitTermination(0.2)
        query.stop()
        assert reports.query_ended.wait(10)
    finally:
        reports.stop()
    assert reports.ended == {str(query.runId)}
    assert [json.loads(text)["batchId"] for text in list(reports.progress)[:2]] == [0, 1]
