"""What an object store or HDFS refused, in one line. Their clients and delta-rs tell the same fault by exceptions of their own."""

import re

#: delta-rs tells the causes behind a colon, or a line each, indented. A key that is refused has words of its own.
_TOLD = re.compile(
    r"(?:Generic (?P<of>S3|GCS|GoogleCloudStorage|MicrosoftAzure|HdfsObjectStore) error|The operation lacked [\w ]+ for path [^\n:]+)"
    r"(?:: (?P<line>[^\n]+)|\n(?P<causes>.*))",
    re.DOTALL,
)
#: Arrow's words.
_ARROWS = re.compile(r"[^\n]*: AWS Error [^\n]+")
#: Py4J's text of an exception of Java, and where its stack shows that a store was asked.
_JAVAS = re.compile(r"^: (?:[\w$]+\.)+(\w+: [^\n]+)", re.MULTILINE)
_OF_HADOOPS_CLIENTS = re.compile(r"\bat (?:software\.amazon|org\.apache\.hadoop\.fs\.(?:s3a|azurebfs)|com\.google\.cloud\.hadoop)\.")
#: What obstore says before the words of our own that no key could be renewed.
_NO_KEY = re.compile(r"External AWS credential provider: BadConfig: ([^\n]+)")
_CAUSE = re.compile(r"^\s*(?:\x1b\[\d+m)?↳(?:\x1b\[\d+m)? *(.+)$", re.MULTILINE)
_ADVICE = (
    (r"after \d+ retries.*(?:503|SlowDown|429)", "it is busy: repeat this later"),
    (
        r"\b401\b|\b403\b|AccessDenied|Forbidden|InvalidAccessKey|SignatureDoesNotMatch|ExpiredToken"
        r"|ACCESS_DENIED|INVALID_ACCESS_KEY|EXPIRED_TOKEN",
        "see the key, its rights, and whether it expired",
    ),
    # S3 answers so to a key that is over, and to another region's; what it says of it is in no answer to HEAD.
    (r"HEAD .*400 Bad Request", "see AWS_REGION, the key, and whether it expired"),
    (r"NoSuchBucket", "there is no such bucket"),
    (r"Generic (?:GCS|GoogleCloudStorage|MicrosoftAzure) error", "see the address and the network, then repeat this"),
    (r"", "see the address (AWS_ENDPOINT_URL, AWS_REGION) and the network, then repeat this"),
)


def store_fault(fault: BaseException) -> str | None:
    """One sentence with what to do, for a fault of an object store or HDFS; None for any other."""
    return store_fault_in(str(fault))


def store_fault_in(text: str) -> str | None:
    """The same for a text in which such a fault is told."""
    no_key, found, arrows = _NO_KEY.search(text), _TOLD.search(text), _ARROWS.search(text)
    if no_key is not None:
        return no_key[1]
    if found is None:
        return _of_java(text) if arrows is None else _of_object_store(arrows[0], text)
    told = found["line"] or ": ".join(_CAUSE.findall(found["causes"])) or "no cause is known"
    if found["of"] == "HdfsObjectStore":
        return f"HDFS failed: {told}; see the address, HADOOP_CONF_DIR and the network, then repeat this"
    return _of_object_store(told, text)


def _of_java(text: str) -> str | None:
    said = _JAVAS.search(text) if _OF_HADOOPS_CLIENTS.search(text) else None
    return None if said is None else _of_object_store(said[1], said[1])  # numbers of lines in the stack look like answers of a store


def _of_object_store(told: str, text: str) -> str:
    advice = next(advice for pattern, advice in _ADVICE if re.search(pattern, text))
    return f"the object store failed: {told}; {advice}"
