"""What an object store refused, in one line. obstore and delta-rs tell the same fault by exceptions of their own."""

import re

_TOLD = re.compile(r"Generic (?:S3|GCS|GoogleCloudStorage|MicrosoftAzure) error: ([^\n]+)")
_ADVICE = (
    (r"after \d+ retries.*(?:503|SlowDown|429)", "it is busy: repeat this later"),
    (
        r"\b401\b|\b403\b|AccessDenied|Forbidden|InvalidAccessKey|SignatureDoesNotMatch|ExpiredToken",
        "see the key, its rights, and whether it expired",
    ),
    (r"NoSuchBucket", "there is no such bucket"),
    (r"", "see the address (AWS_ENDPOINT_URL, AWS_REGION) and the network, then repeat this"),
)


def store_fault(fault: BaseException) -> str | None:
    """One sentence with what to do, for a fault of an object store; None for any other."""
    text = str(fault)
    found = _TOLD.search(text)
    is_refusal = type(fault).__module__.startswith("obstore") and type(fault).__name__ in ("PermissionDeniedError", "UnauthenticatedError")
    if found is None and not is_refusal:
        return None
    told = found[1] if found is not None else text.splitlines()[0]
    advice = next(advice for pattern, advice in _ADVICE if re.search(pattern, text))
    return f"the object store failed: {told}; {advice}"
