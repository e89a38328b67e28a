"""With which credentials an object store is opened: the one place that says it, for each of those who open one.

A key of S3 that is in the environment is read there by obstore, delta-rs, Arrow and Spark alike. Where there is none, botocore finds one,
as the AWS command line does: a profile (also of a role, of SSO, of a program), a web identity, the role of a container or an instance. It
renews a key that expires. obstore asks for the key before each request, Arrow and delta-rs get it when they open something: what they
open lives for less than the ten minutes that a key has left, or is opened anew (kept_open.py). Spark asks Amazon's own chain in Java
(conf/spark-defaults.conf). Google's and Azure's are in google.py and azure.py.
"""

import os
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from pipeline.faults import BadConfig
from pipeline.store import azure, google
from pipeline.store.azure import OF_AZURE
from pipeline.store.google import OF_GOOGLE

#: Variables by which S3 is opened.
OF_S3 = (
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS", "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_EC2_METADATA_DISABLED",
)  # fmt: skip
#: All by which stores are opened: executors of a cluster get them from the driver. What a host has of its own (the role of a container or
#: an instance) is not here.
OF_STORES = (*OF_S3, *OF_GOOGLE, *OF_AZURE, "HADOOP_CONF_DIR", "HADOOP_USER_NAME")
#: Where neither environment nor profile names one: as obstore and delta-rs have it.
_REGION = "us-east-1"
#: Whoever gets a key with this asks again before the next request: botocore knows how long it is good, and answers at once.
_ASK_AGAIN = datetime(1970, 1, 1, tzinfo=UTC)
_HOW = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE (docs/guide/operations.md, In an object store)"


class Key(NamedTuple):
    """A key of S3 as it is now, and the region of the buckets. `token` is of a key that expires."""

    id: str
    secret: str
    token: str | None
    region: str


def store_environment() -> tuple[str | None, ...]:
    """All that the environment says of stores: whoever keeps a client keeps it for this."""
    return tuple(map(os.environ.get, (*OF_STORES, "HOME")))


def s3_key() -> Key | None:
    """The key that botocore finds; None if the environment has one, and everybody finds it there.

    Raises BadConfig where there is none, or where it cannot be renewed.
    """
    if os.environ.get("AWS_ACCESS_KEY_ID") and os.environ.get("AWS_SECRET_ACCESS_KEY"):
        return None
    return _found_key(_session(store_environment()))


def delta_options(url: str) -> dict[str, str]:
    """What delta-rs must be told of a store beside the environment. They change when a key of S3 is renewed."""
    return _object_options(url) | ({"allow_http": "true"} if _speaks_plain_http(url) else {})


def obstore_options(bucket: str) -> dict[str, Any]:
    """What obstore must be told of a bucket beside the environment: of S3 a function that it asks for the key before each request."""
    options: dict[str, Any] = {"client_options": {"allow_http": _speaks_plain_http(bucket)}}
    if not bucket.startswith("s3:"):
        return options | {"config": _object_options(bucket)}
    key = s3_key()
    if key is not None:
        session = _session(store_environment())
        options |= {"region": key.region, "credential_provider": lambda: _for_obstore(_found_key(session))}
    return options


def _object_options(url: str) -> dict[str, str]:
    if url.startswith("gs:"):
        return google.object_options()
    if url.startswith("abfss:"):
        return azure.object_options()
    key = s3_key() if url.startswith("s3:") else None
    if key is None:
        return {}
    options = {"aws_access_key_id": key.id, "aws_secret_access_key": key.secret, "aws_region": key.region}
    return options | ({"aws_session_token": key.token} if key.token else {})


def _speaks_plain_http(url: str) -> bool:
    """Whether the environment names a server without TLS, which clients take only when they are told so."""
    if url.startswith("gs:"):
        return google.speaks_plain_http()
    if url.startswith("abfss:"):
        return azure.speaks_plain_http()
    return url.startswith("s3") and os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")


def arrow_options() -> dict[str, Any]:
    """What Arrow must be told of S3: it looks into the environment for a key, but not for the endpoint."""
    scheme, _, host = os.environ.get("AWS_ENDPOINT_URL", "").rstrip("/").partition("://")
    options: dict[str, Any] = {"endpoint_override": host, "scheme": scheme} if host else {}
    key = s3_key()
    if key is None:
        return options | {"region": os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or _REGION}
    return options | {"access_key": key.id, "secret_key": key.secret, "session_token": key.token, "region": key.region}


def _for_obstore(key: Key) -> dict[str, Any]:
    return {"access_key_id": key.id, "secret_access_key": key.secret, "token": key.token, "expires_at": _ASK_AGAIN}


@lru_cache(maxsize=8)
def _session(_environment: tuple[str | None, ...]) -> Any:
    """Of botocore, which keeps what it finds. It is imported only here: a tenth of a second that a key in the environment saves."""
    from botocore.session import Session

    session = Session()
    if os.environ.get("AWS_REGION"):  # botocore looks for AWS_DEFAULT_REGION only
        session.set_config_variable("region", os.environ["AWS_REGION"])
    return session


def _found_key(session: Any) -> Key:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        found = session.get_credentials()
        if found is None:
            raise BadConfig(f"S3 has no key: {_HOW}")
        now = found.get_frozen_credentials()
    except (BotoCoreError, ClientError) as fault:
        raise BadConfig(f"S3 has no key: {' '.join(str(fault).split())}; {_HOW}") from fault
    return Key(now.access_key, now.secret_key, now.token, session.get_config_variable("region") or _REGION)
