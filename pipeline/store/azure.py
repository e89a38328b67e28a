"""How Azure's containers are opened: by one credential of the environment, the same for obstore, delta-rs, Arrow and Spark.

It is the account's key, else a shared access signature, else an application of Entra ID (with a secret, or with the token file of a
workload), else the identity of the machine. Whoever opens a container renews its tokens itself. The account is in the address.
AZURE_STORAGE_ENDPOINT is a server that is not Azure's, for tests.
"""

import os
from urllib.parse import urlsplit

from pipeline.faults import BadConfig

_KEY, _SIGNATURE, _ENDPOINT = "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_ENDPOINT"
_APPLICATION = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")
#: Variables by which containers are opened.
OF_AZURE = (_KEY, _SIGNATURE, *_APPLICATION, "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST", _ENDPOINT)
#: Others' names for them, which only some of those who open a container would read → ours.
_OF_A_FEW = {
    "AZURE_STORAGE_KEY": _KEY,
    "AZURE_STORAGE_ACCESS_KEY": _KEY,
    "AZURE_STORAGE_CONNECTION_STRING": _KEY,
    "AZURE_STORAGE_SAS_KEY": _SIGNATURE,
    "AZURE_STORAGE_CLIENT_ID": "AZURE_CLIENT_ID",
    "AZURE_STORAGE_CLIENT_SECRET": "AZURE_CLIENT_SECRET",
    "AZURE_STORAGE_TENANT_ID": "AZURE_TENANT_ID",
}


def object_options() -> dict[str, str]:
    """What obstore and delta-rs must be told beside the environment: they read it themselves. Raises BadConfig for half of a credential."""
    _check()
    return {}


def speaks_plain_http() -> bool:
    """Whether the server is one without TLS."""
    return os.environ.get(_ENDPOINT, "").startswith("http://")


def arrow_options(bucket: str) -> dict[str, str]:
    """What Arrow must be told of a container, by its URL. Raises BadConfig as `object_options` does."""
    _check()
    options = {"account_name": bucket.partition("@")[2].partition(".")[0]}
    if os.environ.get(_KEY):
        options["account_key"] = os.environ[_KEY]
    elif os.environ.get(_SIGNATURE):
        options["sas_token"] = f"?{os.environ[_SIGNATURE].removeprefix('?')}"
    elif all(map(os.environ.get, _APPLICATION)):
        options |= {name.removeprefix("AZURE_").lower(): os.environ[name] for name in _APPLICATION}
    if os.environ.get(_ENDPOINT):
        server = urlsplit(os.environ[_ENDPOINT])
        # The path of a server that is not Azure's has the account in it, which Arrow puts there by itself.
        for service in ("blob", "dfs"):
            options |= {f"{service}_storage_authority": server.netloc, f"{service}_storage_scheme": server.scheme}
    return options


def spark_options() -> dict[str, str]:
    """What Hadoop's connector must be told: it reads no variable."""
    return _credential_for_spark() | _server_for_spark()


def _server_for_spark() -> dict[str, str]:
    """A server that is not Azure's. The connector speaks TLS to it: abfss:// says so, whatever the server's URL says."""
    server = urlsplit(os.environ.get(_ENDPOINT, "")).netloc
    return {"spark.hadoop.fs.azure.abfs.endpoint": server} if server else {}


def _credential_for_spark() -> dict[str, str]:
    if os.environ.get(_KEY):
        return {"spark.hadoop.fs.azure.account.key": os.environ[_KEY]}
    if os.environ.get(_SIGNATURE):
        return {
            "spark.hadoop.fs.azure.account.auth.type": "SAS",
            "spark.hadoop.fs.azure.sas.fixed.token": os.environ[_SIGNATURE].removeprefix("?"),
        }
    if all(map(os.environ.get, _APPLICATION)):
        tenant, client, secret = (os.environ[name] for name in _APPLICATION)
        authority = os.environ.get("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.com").rstrip("/")
        oauth = "spark.hadoop.fs.azure.account.oauth2.client"
        return {
            "spark.hadoop.fs.azure.account.auth.type": "OAuth",
            "spark.hadoop.fs.azure.account.oauth.provider.type": "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider",
            f"{oauth}.id": client,
            f"{oauth}.secret": secret,
            f"{oauth}.endpoint": f"{authority}/{tenant}/oauth2/token",
        }
    return {}


def container(bucket: str) -> str:
    """The container of its URL."""
    return bucket.partition("://")[2].partition("@")[0]


def _check() -> None:
    for other, ours in _OF_A_FEW.items():
        if os.environ.get(other) and not os.environ.get(ours):
            raise BadConfig(f"{other} is not read by all that open abfss://; set {ours} instead")
    if os.environ.get(_KEY) or os.environ.get(_SIGNATURE):
        return
    secret, token_file = os.environ.get(_APPLICATION[2]), os.environ.get("AZURE_FEDERATED_TOKEN_FILE")
    missing = [name for name in _APPLICATION[:2] if not os.environ.get(name)]
    if (secret or token_file) and missing:
        raise BadConfig(f"{missing[0]} is not set, which {'AZURE_CLIENT_SECRET' if secret else 'AZURE_FEDERATED_TOKEN_FILE'} needs")
