"""What is told those who open Google's and Azure's stores, by the environment alone: nothing is asked of a network."""

import json
from pathlib import Path

import pytest
from pyarrow.fs import AzureFileSystem, GcsFileSystem

from console.command_line import main
from pipeline.faults import BadConfig
from pipeline.store import azure, google
from pipeline.store.arrow_places import arrow_place
from pipeline.store.credentials import OF_STORES, delta_options, obstore_options

GOOGLE, AZURE = "gs://lake/wh", "abfss://lake@account.dfs.core.windows.net/wh"
SECRET = "c2VjcmV0"
APPLICATION = {"AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": "client", "AZURE_CLIENT_SECRET": SECRET}


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OF_STORES:
        monkeypatch.delenv(name, raising=False)


def test_googles_credentials_are_a_file_that_everybody_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key.json").write_text(json.dumps({"type": "authorized_user"}))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
    assert delta_options(GOOGLE) == google.spark_options() == {}
    assert obstore_options("gs://lake") == {"client_options": {"allow_http": False}, "config": {}}


@pytest.mark.parametrize("host", ["127.0.0.1:9", "http://127.0.0.1:9/"])
def test_a_server_in_place_of_googles_wants_no_credentials(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", host)
    options = delta_options(GOOGLE)
    account = json.loads(options["google_service_account_key"])
    assert (account["gcs_base_url"], account["disable_oauth"], options["allow_http"]) == ("http://127.0.0.1:9", True, "true")
    assert obstore_options("gs://lake")["client_options"] == {"allow_http": True}
    place, filesystem = arrow_place(GOOGLE)
    assert place == "lake/wh"
    assert isinstance(filesystem, GcsFileSystem)
    assert google.spark_options() == {
        "spark.hadoop.fs.gs.auth.type": "UNAUTHENTICATED", "spark.hadoop.fs.gs.storage.root.url": "http://127.0.0.1:9/",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (None, "cannot be read: No such file"),
        ("{", "has no credentials"),
        ('{"private_key": "c2VjcmV0"}', "has no credentials"),
        ('{"type": "external_account"}', "of a kind that is not known; known are service_account and authorized_user"),
    ],
)
def test_a_file_without_googles_credentials_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str | None, reason: str
) -> None:
    if said is not None:
        (tmp_path / "key.json").write_text(said)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
    assert main(["why", "--all", "--warehouse", GOOGLE]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert line.startswith("error: GOOGLE_APPLICATION_CREDENTIALS: ")
    assert reason in line
    assert SECRET not in line


@pytest.mark.parametrize(
    ("told", "place", "reason"),
    [
        ({"GOOGLE_SERVICE_ACCOUNT": "/k"}, GOOGLE, "^GOOGLE_SERVICE_ACCOUNT is not read by all that open gs://; set GOOGLE_APPLICATION_C"),
        ({"AZURE_STORAGE_KEY": SECRET}, AZURE, "^AZURE_STORAGE_KEY is not read by all that open abfss://; set AZURE_STORAGE_ACCOUNT_KEY"),
        ({"AZURE_CLIENT_SECRET": SECRET}, AZURE, "^AZURE_TENANT_ID is not set, which AZURE_CLIENT_SECRET needs"),
        (
            {"AZURE_FEDERATED_TOKEN_FILE": "/t", "AZURE_TENANT_ID": "t"},
            AZURE,
            "^AZURE_CLIENT_ID is not set, which AZURE_FEDERATED_TOKEN_FILE",
        ),
    ],
)
def test_a_variable_that_is_not_enough_is_named(told: dict[str, str], place: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BadConfig, match=reason) as raised:
        delta_options(place)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    ("told", "spark"),
    [
        ({"AZURE_STORAGE_ACCOUNT_KEY": SECRET}, {"account.key": SECRET}),
        ({"AZURE_STORAGE_SAS_TOKEN": "?sv=1&sig=x"}, {"account.auth.type": "SAS", "sas.fixed.token": "sv=1&sig=x"}),
        (
            APPLICATION,
            {
                "account.auth.type": "OAuth",
                "account.oauth.provider.type": "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider",
                "account.oauth2.client.id": "client",
                "account.oauth2.client.secret": SECRET,
                "account.oauth2.client.endpoint": "https://login.microsoftonline.com/tenant/oauth2/token",
            },
        ),
        ({}, {}),
    ],
)
def test_azures_credential_reaches_arrow_and_spark(told: dict[str, str], spark: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert delta_options(AZURE) == {}
    place, filesystem = arrow_place(AZURE)
    assert place == "lake/wh"
    assert isinstance(filesystem, AzureFileSystem)
    assert azure.spark_options() == {f"spark.hadoop.fs.azure.{name}": value for name, value in spark.items()}


def test_spark_finds_a_server_in_place_of_azures(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its host and port alone: the connector adds the account, and asks the server itself whether it has folders."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", SECRET)
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", "http://127.0.0.1:9/account")
    assert azure.spark_options() == {
        "spark.hadoop.fs.azure.account.key": SECRET, "spark.hadoop.fs.azure.abfs.endpoint": "127.0.0.1:9",
    }  # fmt: skip
