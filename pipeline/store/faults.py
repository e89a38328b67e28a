"""What an object store or HDFS refused, in one line. Their clients and delta-rs tell the same fault by exceptions of their own."""

import re

_TOLD = re.compile(
    r"Generic (?:S3|GCS|GoogleCloudStorage|MicrosoftAzure|HdfsObjectStore) error: ([^\n]+)"
    r"|([^\n]*: AWS Error [^\n]+)"  # Arrow's words
)
#: What obstore says before the words of our own that no key could be renewed.
_NO_KEY = re.compile(r"External AWS credential provider: BadConfig: ([^\n]+)")
#: delta-rs tells causes a line each, indented.
_HDFS = re.compile(r"Generic HdfsObjectStore error.*", re.DOTALL)
_MARKS_OF_CAUSES = re.compile(r"\x1b\[\d+m|↳")
_ADVICE = (
    (r"after \d+ retries.*(?:503|SlowDown|429)", "it is busy: repeat this later"),
    (
        r"\b401\b|\b403\b|AccessDenied|Forbidden|InvalidAccessKey|SignatureDoesNotMatch|ExpiredToken|ACCESS_DENIED|INVALID_ACCESS_KEY|EXPIRED_TOKEN",
        "see the key, its rights, and whether it expired",
    ),
    (r"NoSuchBucket", "there is no such bucket"),
    (r"", "see the address (AWS_ENDPOINT_URL, AWS_REGION) and the network, then repeat this"),
)


def store_fault(fault: BaseException) -> str | None:
    """One sentence with what to do, for a fault of an object store or HDFS; None for any other."""
    text = str(fault)
    hdfs = _HDFS.search(text)
    if hdfs is not None:
        causes = [_MARKS_OF_CAUSES.sub("", line).strip() for line in hdfs[0].splitlines()[1:]]
        return f"HDFS failed: {': '.join(filter(None, causes))}; see the address, HADOOP_CONF_DIR and the network, then repeat this"
    no_key = _NO_KEY.search(text)
    if no_key is not None:
        return no_key[1]
    found = _TOLD.search(text)
    is_refusal = type(fault).__module__.startswith("obstore") and type(fault).__name__ in ("PermissionDeniedError", "UnauthenticatedError")
    if found is None and not is_refusal:
        return None
    told = found[found.lastindex or 0] if found is not None else text.splitlines()[0]
    advice = next(advice for pattern, advice in _ADVICE if re.search(pattern, text))
    return f"the object store failed: {told}; {advice}"
