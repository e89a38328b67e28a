"""What is said of faults that come from outside, by the words of Spark, Delta and the operating system. No Spark."""

import pytest

from driver.advice import advice
from pipeline.warehouse.layout import Warehouse

WAREHOUSE = Warehouse("file:/data/dispatch+1")
LANES_ANEW = "Compute anew: ./spark-submit.sh rebuild lanes --warehouse file:/data/dispatch+1"
ALL_ANEW = "Compute anew: ./spark-submit.sh rebuild all --warehouse file:/data/dispatch+1 --events URI"
GOES_ON = "then start again: what was not finished is written then, once"
FULL = f"the disk is full. Make room, {GOES_ON}"
FORBIDDEN = f"something may not be read or written. Give the rights, {GOES_ON}"
KEY_REFUSED = f"the object store refused the key. See its rights, and whether it expired, {GOES_ON}"
BUSY = "the object store failed: Error performing PUT after 10 retries: 503 Service Unavailable; it is busy: repeat this later"
LOST_BY_KAFKA = "Kafka lost records that were not read yet. Start again: the start names them, and how to go on without"
GONE = "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file {}/part-0.parquet. File does not exist."


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ("[MALFORMED_LOG_FILE] Log file was malformed: failed to read correct log version from {.", "damaged"),
        ("java.lang.IllegalStateException: batch 0 doesn't exist", "damaged"),
        ("java.lang.IllegalStateException: Failed to read log file file:/data/dispatch+1/_checkpoints/lanes/commits/0. EOF", "damaged"),
        ("[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state.", "damaged"),
        ("java.io.IOException: No space left on device", FULL),
        ("org.apache.hadoop.hdfs.protocol.DSQuotaExceededException: quota exceeded", FULL),
        ("java.io.FileNotFoundException: /data/dispatch+1/names/x.parquet (Permission denied)", FORBIDDEN),
        ("org.apache.hadoop.fs.s3a.AWSBadRequestException: AccessDenied", FORBIDDEN),
        ("IllegalStateException: Failed to read log file s3a://lake/x. … (Service: S3, Status Code: 400, …): ExpiredToken", KEY_REFUSED),
        ("AccessDeniedException: s3a://lake/x: getFileStatus: null (Service: S3, Status Code: 403, Request ID: null)", KEY_REFUSED),
        ("OSError: Generic S3 error: Error performing HEAD http://s in 1ms - status code: 400 Bad Request: ", KEY_REFUSED),
        ("OSError: Generic S3 error: Error performing PUT after 10 retries: 503 Service Unavailable", BUSY),
        ("java.io.IOException: Read-only file system", FORBIDDEN),
        ("java.lang.IllegalStateException: [KAFKA_DATA_LOSS.START_OFFSET_RESET] Some data may have been lost", LOST_BY_KAFKA),
        ("java.lang.ArithmeticException: / by zero", None),
    ],
)
@pytest.mark.parametrize(("query", "anew"), [("lanes", LANES_ANEW), ("ingest", ALL_ANEW)])
def test_a_fault_from_outside_is_said_with_what_to_do(query: str, anew: str, details: str, said: str | None) -> None:
    damaged = f"the checkpoint file:/data/dispatch+1/_checkpoints/{query} is damaged. {anew}"
    assert advice(details, WAREHOUSE, query) == (damaged if said == "damaged" else said)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("file:/data/dispatch+1/dispatch_events", f"a file of table dispatch_events is gone. Put it back, or c{ALL_ANEW[1:]}"),
        ("file:/data/dispatch+1/quota_checks", f"a file of table quota_checks is gone. Put it back, or c{LANES_ANEW[1:]}"),
        ("file:/data/dispatch11/dispatch_events", None),
    ],
)
def test_a_file_that_is_gone_names_its_table_and_who_computes_it_anew(file: str, said: str | None) -> None:
    assert advice(GONE.format(file), WAREHOUSE, "lanes") == said
