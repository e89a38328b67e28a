"""`/admin/v2` over HTTP: statuses, names and numbers as Pulsar's clients expect them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
from broker_scrapes import ALWAYS
from capture_events import capture_events, write_events
from loaded import load_into
from served import Served, served

from generators import admin_page as page
from pipeline.query.room import ReadingRoom
from pipeline.serving.admin import asked_rows
from pipeline.serving.admin.asked_rows import Tables, TooMany
from pipeline.serving.admin.fields import SUBSCRIPTION_FIELDS, TOPIC_FIELDS
from pipeline.serving.admin.paths import PATHS, path_of
from pipeline.serving.admin.queries import THERE
from pipeline.warehouse.layout import Warehouse

(F_LIMIT,) = (scrape for scrape in ALWAYS if scrape.name == "f_limit_above_need")
WITH_PLACES = Path(__file__).parents[1] / "fixtures" / "captures" / "ac_key_shared_blocked"
TOPIC = "/admin/v2/persistent/real/f/t"
#: A name that a URL must encode.
ODD = "persistent://real/f/a b+c%ü?#"
PARTS = ("persistent://real/f/p-partition-0", "persistent://real/f/p-partition-1")


@pytest.fixture(scope="module")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> tuple[Warehouse, Warehouse]:
    """One real topic four times: under its own name, an odd one, and as two partitions; and a log with the places where limits are set.

    Both are loaded before a server has threads: `load` forks.
    """
    folder = tmp_path_factory.mktemp("admin")
    events = F_LIMIT.events()
    copies = [{**event, "topic": name} for event in events if event.get("topic") == "persistent://real/f/t" for name in (ODD, *PARTS)]
    in_order = sorted([*events, *copies], key=lambda event: event["ns"])
    log = write_events([{**event, "seq": seq} for seq, event in enumerate(in_order, 1)], folder / "log" / "events.jsonl.gz").parent
    of_places = capture_events(WITH_PLACES, until_as_of=False)
    running = of_places[: next(number for number, event in enumerate(of_places) if event["type"] == "dispatcher_close")]
    places = write_events(running, folder / "places-log" / "events.jsonl.gz").parent
    return load_into(log, folder / "w"), load_into(places, folder / "places")


@pytest.fixture(scope="module")
def server(warehouses: tuple[Warehouse, Warehouse]) -> Iterator[Served]:
    with served(warehouses[0]) as made:
        yield made


@pytest.fixture(scope="module")
def with_places(warehouses: tuple[Warehouse, Warehouse]) -> Iterator[Served]:
    with served(warehouses[1]) as made:
        yield made


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("clusters", ["standalone"]),
        ("tenants", ["pulsar", "real"]),
        ("namespaces/real", ["real/f"]),
        ("persistent/real/f", sorted([ODD, "persistent://real/f/t", *PARTS])),
        ("namespaces/real/f/topics", sorted([ODD, "persistent://real/f/t", *PARTS])),
        ("persistent/real/f/partitioned", ["persistent://real/f/p"]),
        ("non-persistent/real/f", []),
        ("non-persistent/real/f/partitioned", []),
        ("persistent/real/f/t/subscriptions", ["s"]),
        ("persistent/real/f/p/subscriptions", ["s"]),
        ("brokers/health", "ok"),
        ("brokers/version", "4.0.8"),
    ],
)
def test_lists_and_words(server: Served, path: str, answer: Any) -> None:
    assert server.get(f"/admin/v2/{path}") == (200, answer)


def test_names_are_decoded_as_pulsars_clients_encode_them(server: Served) -> None:
    local = quote_plus(ODD.removeprefix("persistent://real/f/"))
    status, answer = server.get(f"/admin/v2/persistent/real/f/{local}/stats")
    assert (status, list(answer["subscriptions"])) == (200, ["s"])


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        (f"{TOPIC}-none/stats", 404, "Topic persistent://real/f/t-none not found"),
        ("/admin/v2/persistent/real/f/t/partitioned-stats", 404, "Partitioned topic persistent://real/f/t not found"),
        ("/admin/v2/persistent/real/none", 404, "Namespace real/none does not exist"),
        ("/admin/v2/namespaces/none", 404, "Tenant none does not exist"),
        ("/admin/v2/namespaces/real/none/backlogQuotaMap", 404, "Namespace real/none"),
        (f"{TOPIC}/internalStats", 404, "no table has the ledgers"),
        (f"{TOPIC}/partitions", 404, "not how many there are"),
        ("/admin/v2/worker/cluster", 404, "not answered from the tables"),
        ("/admin/v2/persistent/real/f%20g", 412, "Invalid namespace name: f g"),
        ("/admin/v2/namespaces/a'--", 412, "Invalid tenant name: a'--"),
        ("/admin/v2/persistent/real/f/%ff/stats", 412, "no UTF-8"),
        (f"/admin/v2/persistent/real/f/{'t' * 4_000}/stats", 412, "at most 4,000 characters"),
        ("/at/yesterday/admin/v2/tenants", 400, "at yesterday: expected an ISO 8601 time"),
        ("/at/2020-01-01T00:00:00Z/admin/v2/tenants", 404, "the first window of the log is over at"),
        (f"{TOPIC}';%20DROP%20TABLE%20x%20--/stats", 404, "not found"),
        ("/admin/v2/../../etc/passwd", 404, "not answered from the tables"),
    ],
)
def test_what_is_not_there_or_wrong_has_pulsars_status_and_a_reason(server: Served, path: str, status: int, words: str) -> None:
    found, answer = server.get(path)
    assert (found, list(answer)) == (status, ["reason"])
    assert words in answer["reason"]


def test_other_methods_than_get_are_refused(server: Served) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert server.get(f"{TOPIC}/subscription/s/skip_all", method)[0] == 405


def test_what_clients_ask_besides_changes_nothing(server: Served) -> None:
    plain = server.get(f"{TOPIC}/stats")
    asked = {"getPreciseBacklog": "true", "subscriptionBacklogSize": "false", "getEarliestTimeInBacklog": "true", "authoritative": "false"}
    assert server.get(f"{TOPIC}/stats", **asked) == plain
    assert plain[0] == 200


def test_of_an_instant_the_same_paths_answer(server: Served) -> None:
    reached = server.get("/readyz")[1]["brokers"][0]["as_of"]
    at = reached[:16] + ":00Z"
    status, then = server.get(f"/at/{at}{TOPIC}/stats")
    assert status == 200
    assert then["subscriptions"].keys() == {"s"}
    assert server.get(f"/at/{at}/admin/v2/brokers/version") == (200, "4.0.8")


def test_partitions_are_added_as_pulsar_adds_them(server: Served) -> None:
    """Each is the same topic. test_documents has other values; ./test.sh clients has Pulsar's own classes add them."""
    whole = server.get("/admin/v2/persistent/real/f/p/partitioned-stats", perPartition="true")[1]
    each = whole.pop("partitions")
    assert server.get("/admin/v2/persistent/real/f/p/partitioned-stats", perPartition="false") == (200, whole)
    assert list(each) == list(PARTS)
    one = server.get(f"/admin/v2/persistent/real/f/{PARTS[0].rpartition('/')[2]}/stats")[1]
    assert each[PARTS[0]] == one
    subscription, of_one = whole["subscriptions"]["s"], one["subscriptions"]["s"]
    for field in ("msgBacklog", "dispatchThrottledMsgEventsBySubscriptionLimit"):
        assert subscription[field] == 2 * of_one[field]
    assert (subscription["type"], subscription["durable"]) == (of_one["type"], True)
    assert whole["backlogQuotaLimitSize"] == one["backlogQuotaLimitSize"]
    assert whole["oldestBacklogMessageAgeSeconds"] == max(one["oldestBacklogMessageAgeSeconds"], 0)
    assert "ownerBroker" not in whole


def test_quotas_and_rates_are_those_of_the_place_that_is_asked_for(server: Served, with_places: Served) -> None:
    keys = "/admin/v2/persistent/real/ac/keys"
    of_broker = {
        "destination_storage": {"limitSize": 10737418240, "policy": "producer_request_hold"},
        "message_age": {"limitTime": -1, "policy": "producer_request_hold"},
    }
    assert with_places.get(f"{keys}/backlogQuotaMap") == (200, {})
    assert with_places.get("/admin/v2/namespaces/real/ac/backlogQuotaMap") == (200, {})
    assert with_places.get(f"{keys}/backlogQuotaMap", applied="true") == (200, of_broker)
    for rate in ("dispatchRate", "subscriptionDispatchRate"):
        assert status_of(with_places, f"{keys}/{rate}?applied=true") == 204
        assert status_of(with_places, f"{keys}/{rate}") == 204
    assert server.get(f"{TOPIC}/backlogQuotaMap", applied="true") == (200, of_broker)
    status, answer = server.get(f"{TOPIC}/backlogQuotaMap")
    assert status == 404
    assert "who set a limit is not in this log" in answer["reason"]
    status, rate = server.get(f"{TOPIC}/subscriptionDispatchRate", applied="true")
    assert status == 200
    assert rate.keys() == {"dispatchThrottlingRateInMsg", "dispatchThrottlingRateInByte", "relativeToPublishRate", "ratePeriodInSecond"}
    assert rate["dispatchThrottlingRateInMsg"] > 0


def status_of(server: Served, path: str) -> int:
    head = server.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    return int(head.split()[1])


#: What Pulsar's and KEDA's classes take for each field; a fraction or null would stop them.
TYPES: dict[str, type] = {
    **{field.name: int for field in (*TOPIC_FIELDS, *SUBSCRIPTION_FIELDS)},
    "oldestBacklogMessageSubscriptionName": str, "ownerBroker": str, "type": str, "durable": bool, "isDurable": bool,
    "publishers": list, "subscriptions": dict, "earliestMsgPublishTimeInBacklogs": int, "partitions": dict,
}  # fmt: skip


@pytest.mark.parametrize("path", ["t/stats", "p/partitioned-stats?perPartition=true"])
def test_every_value_has_the_type_that_clients_declare(server: Served, path: str) -> None:
    topic = server.get(f"/admin/v2/persistent/real/f/{path}")[1]
    for one in (topic, *topic.get("partitions", {}).values()):
        for fields in (one, *one["subscriptions"].values()):
            assert {name: type(value) for name, value in fields.items()} == {name: TYPES[name] for name in fields}


def test_no_number_is_a_fraction_and_nothing_is_null_in_the_text(server: Served) -> None:
    text = server.raw(f"GET {TOPIC}/stats HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()).decode()
    body = text.partition("\r\n\r\n")[2]
    assert re.search(r'"msgBacklog": ?\d+[,}]', body)
    assert re.search(r":\s*(null|NaN|-?\d+\.\d)", body) is None


def test_an_answer_of_too_many_rows_is_refused(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = Tables(ReadingRoom(server.answers.warehouse), None)
    monkeypatch.setattr(asked_rows, "MOST_ROWS", len(tables.rows(THERE)))
    assert tables.rows(THERE)
    monkeypatch.setattr(asked_rows, "MOST_ROWS", len(tables.rows(THERE)) - 1)
    with pytest.raises(TooMany, match="more than"):
        tables.rows(THERE)
    server.answers._kept.clear()
    status, answer = server.get("/admin/v2/tenants")
    assert (status, "rows" in answer["reason"]) == (422, True)


def test_every_path_is_found_by_its_own_pattern() -> None:
    for path in PATHS:
        assert path_of(re.sub(r"\{\w+\}", "x", path.pattern))[0] is path


def test_the_page_of_the_admin_api_is_what_the_declarations_have() -> None:
    assert page.DOCUMENT.read_text(encoding="utf-8") == page.render(), "run: python -m generators"
