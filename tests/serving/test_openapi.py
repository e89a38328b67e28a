"""The OpenAPI file of `/v1` beside the answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from broker_scrapes import ALWAYS, loaded_until_scraped
from jsonschema import Draft202012Validator
from served import Served, served

from console.command_line import main
from pipeline.serving import what_if as of_changes
from pipeline.serving.app import DOCUMENTS

Y_INCIDENT = next(scrape for scrape in ALWAYS if scrape.name == "y_incident")
GUIDE = Path(__file__).resolve().parents[2] / "docs/guide/serve.md"
SUBSCRIPTION = {"topic": "persistent://real/y/payments", "subscription": "fraud"}
QUESTIONS = [
    ("/v1/why", {}),
    ("/v1/why", {"all": "true"}),
    ("/v1/why", {"at": "2020-01-01T00:00:00Z"}),
    ("/v1/explain", SUBSCRIPTION),
    ("/v1/explain", {"topic": SUBSCRIPTION["topic"]}),
    ("/v1/scale", SUBSCRIPTION),
    (
        "/v1/what-if",
        {"topic": SUBSCRIPTION["topic"], "subscription": "ledger", "subscription.dispatch_rate.messages": "200", "until": "1m"},
    ),
    ("/v1/what-if", {**SUBSCRIPTION, "consumers": "none"}),
    ("/v1/what-if", {**SUBSCRIPTION, "topic": "none"}),
    ("/v1/right-size", {"topic": "persistent://real/y/emails", "keep_age": "5s"}),
    ("/v1/right-size", {"topic": "persistent://real/y/emails"}),
    ("/v1/openapi.json", {}),
    ("/v1/why", {"at": "soon"}),
    ("/v1/scale", {**SUBSCRIPTION, "subscription": "none"}),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(loaded_until_scraped(Y_INCIDENT, tmp_path_factory)) as made:
        yield made


@pytest.fixture(scope="module")
def described(server: Served) -> Any:
    status, document = server.get("/v1/openapi.json")
    assert status == 200
    return document


@pytest.mark.parametrize(("path", "asked"), QUESTIONS)
def test_an_answer_is_as_described(server: Served, described: Any, path: str, asked: dict[str, str]) -> None:
    status, answer = server.get(path, **asked)
    schema = described["paths"][path]["get"]["responses"][str(status)]["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": described["components"]}).validate(answer)


@pytest.mark.parametrize("path", sorted({path for path, _ in QUESTIONS}))
def test_a_description_says_no_to_another_document(described: Any, path: str) -> None:
    """Otherwise the test above would pass for nothing."""
    schema = described["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert not Draft202012Validator(schema).is_valid({})
    assert not Draft202012Validator(schema).is_valid({"reason": "none"})
    Draft202012Validator.check_schema(schema)


def test_every_path_of_v1_is_described_asked_above_and_in_the_guide(described: Any) -> None:
    paths = {path for path in DOCUMENTS if path.startswith("/v1/")}
    assert set(described["paths"]) == paths == {path for path, _ in QUESTIONS}
    assert [path for path in paths if f"| `{path}` |" not in GUIDE.read_text(encoding="utf-8")] == []


def test_every_name_of_a_query_is_described(described: Any) -> None:
    for path, of_path in described["paths"].items():
        names = {one["name"]: one for one in of_path["get"]["parameters"]}
        assert set(names) == set(DOCUMENTS[path].query)
        assert all(one["description"] for one in names.values())
        assert {name for name, one in names.items() if one["required"]} == DOCUMENTS[path].required


def test_every_subscription_and_topic_is_explained_as_described(server: Served, described: Any) -> None:
    schema = described["paths"]["/v1/explain"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    rows = server.get("/v1/why", all="true")[1]["subscriptions"]
    for row in rows:
        for asked in ({"topic": row["topic"]}, {"topic": row["topic"], "subscription": row["subscription"]}):
            status, answer = server.get("/v1/explain", **asked)
            assert status == 200
            Draft202012Validator(schema).validate(answer)


@pytest.mark.parametrize(
    ("path", "asked", "status", "reason"),
    [
        ("/v1/what-if", {**SUBSCRIPTION, "consumers": "none"}, 400, "consumers=none: expected a whole number from 1 on"),
        ("/v1/what-if", {**SUBSCRIPTION, "subscription": "nobody"}, 400, "nobody: no such subscription; there are ledger, fraud"),
        ("/v1/what-if", {"subscription": "fraud"}, 400, "topic: name one, as topic=persistent://shop/eu/orders"),
        ("/v1/what-if", {"topic": "x"}, 404, "the log has no event of x"),
        ("/v1/what-if", {**SUBSCRIPTION, "until": "soon"}, 400, "until soon: expected a number and its unit, as 90s, 10m, 2h or 1d"),
        ("/v1/right-size", {"topic": "x"}, 400, "keep_age: name one, as keep_age=60s"),
        ("/v1/right-size", {"topic": "x", "keep_age": "5s", "read_budget": "0"}, 400, "read_budget=0: expected a whole number from 1 on"),
    ],
)
def test_a_wrong_question_about_a_change_is_one_clear_line(
    server: Served, path: str, asked: dict[str, str], status: int, reason: str
) -> None:
    assert server.get(f"{path}?{urlencode(asked)}") == (status, {"reason": reason})


def test_an_answer_is_that_of_the_command(server: Served, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"topic": "persistent://real/y/emails", "subscription": "sender"}
    status, answer = server.get(f"/v1/what-if?{urlencode({**asked, 'subscription.dispatch_rate.messages': 25})}")
    warehouse = server.answers.warehouse.root
    words = [*asked.values(), "--set", "subscription.dispatch_rate.messages=25", "--warehouse", warehouse]
    assert main(["what-if", *words, "--format", "json"]) == 0
    assert (status, answer) == (200, json.loads(capsys.readouterr().out))
    status, answer = server.get("/v1/right-size", topic=asked["topic"], keep_age="5s")
    main(["right-size", asked["topic"], "--keep-age", "5s", "--warehouse", warehouse, "--format", "json"])
    assert (status, answer) == (200, json.loads(capsys.readouterr().out))


def test_a_record_that_is_too_long_for_a_server_is_refused(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_changes, "MOST_EVENTS", 10)
    asked = {"topic": "persistent://real/y/orders"}
    for path in ("/v1/what-if?", "/v1/right-size?keep_age=7s&"):
        status, answer = server.get(f"{path}{urlencode(asked)}")
        assert status == 404
        assert answer["reason"].endswith("events, and a server replays 10 at most: ask the command what-if")
