"""How Google's buckets are opened: by the credentials that Google's own programs find, the same for obstore, delta-rs, Arrow and Spark.

They are the file that GOOGLE_APPLICATION_CREDENTIALS names; else that of `gcloud auth application-default login`; else the service
account of the machine. Whoever opens a bucket finds and renews them itself. STORAGE_EMULATOR_HOST is a server for tests, which wants none.
"""

import json
import os
from typing import Any

from pipeline.faults import BadConfig

_FILE, _EMULATOR = "GOOGLE_APPLICATION_CREDENTIALS", "STORAGE_EMULATOR_HOST"
#: Variables by which buckets are opened.
OF_GOOGLE = (_FILE, _EMULATOR)
#: obstore and delta-rs would read these, Arrow and Spark would not.
_OF_A_FEW = ("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_SERVICE_ACCOUNT_KEY", "SERVICE_ACCOUNT")
#: Kinds of credentials in such a file that obstore and delta-rs know.
_KINDS = ("service_account", "authorized_user")

#: The account of whoever needs none. Told only to sign nothing, obstore and delta-rs still ask for a token before they write.
_NOBODY = {"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}


def object_options() -> dict[str, str]:
    """What obstore and delta-rs must be told beside the environment. Raises BadConfig where the environment names no good credentials."""
    emulator = _emulator()
    if emulator is not None:
        return {"google_service_account_key": json.dumps({"gcs_base_url": emulator, **_NOBODY})}
    _check()
    return {}


def speaks_plain_http() -> bool:
    """Whether the server is one without TLS."""
    return (_emulator() or "").startswith("http://")


def arrow_options() -> dict[str, Any]:
    """What Arrow must be told. Raises BadConfig as `object_options` does."""
    emulator = _emulator()
    if emulator is None:
        _check()
        return {}
    scheme, _, host = emulator.partition("://")
    return {"anonymous": True, "scheme": scheme, "endpoint_override": host}


def spark_options() -> dict[str, str]:
    """What Google's connector must be told beside conf/spark-defaults.conf."""
    emulator = _emulator()
    if emulator is None:
        return {}
    return {"spark.hadoop.fs.gs.auth.type": "UNAUTHENTICATED", "spark.hadoop.fs.gs.storage.root.url": f"{emulator}/"}


def _emulator() -> str | None:
    """Its URL; Google's programs take HOST:PORT for one without TLS."""
    host = os.environ.get(_EMULATOR, "").rstrip("/")
    return None if not host else host if "://" in host else f"http://{host}"


def _check() -> None:
    name = os.environ.get(_FILE)
    if not name:
        others = [other for other in _OF_A_FEW if os.environ.get(other)]
        if others:
            raise BadConfig(f"{others[0]} is not read by all that open gs://; set {_FILE} to the path of the file with the key instead")
        return
    try:
        with open(name, encoding="utf-8") as file:
            kind = json.load(file)["type"]
    except OSError as fault:
        raise BadConfig(f"{_FILE}: {name} cannot be read: {fault.strerror}") from fault
    except (ValueError, KeyError, TypeError) as fault:
        # The file may have a key in it: nothing of it is shown.
        raise BadConfig(f"{_FILE}: {name} has no credentials of Google's in it (JSON with a 'type')") from fault
    if kind not in _KINDS:
        raise BadConfig(f"{_FILE}: {name} has credentials of a kind that is not known; known are {' and '.join(_KINDS)}")
