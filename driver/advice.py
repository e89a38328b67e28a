"""What to do about faults that come from outside: the disk, rights, files of the warehouse that somebody deleted or damaged.

Spark and Delta report such a fault in pages. This file recognises it by their error conditions and by the operating system's words.
"""

import re

from pipeline.store.faults import store_fault_in
from pipeline.warehouse.layout import Warehouse, writer_of

_GOES_ON = "then start again: what was not finished is written then, once"
_FULL = r"No space left on device|[Qq]uota exceeded|Not enough space"
_FORBIDDEN = r"Permission denied|Read-only file system|AccessControlException|AccessDenied"
#: By Hadoop's client, and by delta-rs. S3 answers 400 to a key that is over, others 403; an answer to HEAD has no more than the number.
_KEY_REFUSED = (
    r"ExpiredToken|InvalidAccessKeyId|SignatureDoesNotMatch|Service: S3, Status Code: 40[013]"
    r"|Generic S3 error.*\b40[013] (?:Bad Request|Unauthorized|Forbidden)"
)
_DAMAGED = r"CANNOT_LOAD_STATE_STORE|MALFORMED_LOG_FILE|Failed to read log file|batch \d+ doesn't exist"
_LOST_BY_KAFKA = r"KAFKA_DATA_LOSS|OffsetOutOfRangeException|UnknownTopicOrPartitionException"
_DATA_FILE_GONE = r"FILE_NOT_EXIST\] Encountered error while reading file {root}/(\w+)/"


def disk_advice(details: str) -> str | None:
    """One sentence for what a disk or a store refused, with what to do; None if it refused nothing. `details`: the exception's text."""
    if re.search(_KEY_REFUSED, details):
        return f"the object store refused the key. See its rights, and whether it expired, {_GOES_ON}"
    if re.search(_FULL, details):
        return f"the disk is full. Make room, {_GOES_ON}"
    if re.search(_FORBIDDEN, details):
        return f"something may not be read or written. Give the rights, {_GOES_ON}"
    return store_fault_in(details)


def advice(details: str, warehouse: Warehouse, query: str) -> str | None:
    """One sentence with what happened to `query` (ingest or lanes) and what to do, or None if nothing is known of the fault."""
    if re.search(_KEY_REFUSED, details):  # then no file can be read, and none is damaged for all that is known
        return disk_advice(details)
    gone = re.search(_DATA_FILE_GONE.format(root=re.escape(warehouse.root)), details)
    if gone:
        table = gone.group(1)
        return f"a file of table {table} is gone. Put it back, or compute anew: {warehouse.rebuild_command(writer_of(table))}"
    if re.search(_LOST_BY_KAFKA, details):
        return "Kafka lost records that were not read yet. Start again: the start names them, and how to go on without"
    if re.search(_DAMAGED, details):
        return f"the checkpoint {warehouse.checkpoint(query)} is damaged. Compute anew: {warehouse.rebuild_command(query)}"
    return disk_advice(details)


def one_line_cause(fault: BaseException | str) -> str:
    """The cause of a fault, or of its text, in one line.

    The last Python error in the text of a StreamingQueryException, ours before others; else the last Java cause, else its first line.
    """
    details = str(fault).strip() or type(fault).__name__
    for pattern in (
        r"pipeline\.faults\.(\w+: [^\n]+)",
        r"^(?:pyspark\.errors\.[\w.]*\.)?((?!py4j\.|org\.|java\.|pyspark\.)[A-Za-z_][\w.]*(?:Error|Exception|Interrupt): [^\n]+)",
        r"Caused by: ([^\n]+)",
    ):
        found = re.findall(pattern, details, flags=re.MULTILINE)
        if found:
            return str(found[-1])
    return details.splitlines()[0]
