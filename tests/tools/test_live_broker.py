"""The parts of a real broker's run that need none: settings, what is scraped, the order of the log's files, the table of scenarios."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from scenarios.table import all_scenarios

from pipeline.faults import BadConfig
from tools.live_broker.figures import _still, evictions
from tools.live_broker.pulsar import cache_folder
from tools.live_broker.run import gather_log
from tools.live_broker.stage import Stage
from tools.live_broker.standalone import Ports, Standalone, checked_collector, overlaid

CONF = "# Pulsar\nnumIOThreads=\nbindAddress=0.0.0.0\nwebServicePort=8080\n"


def a_broker(folder: Path) -> Standalone:
    return Standalone(folder, folder / "c.jar", folder / "work", folder / "events", {"numIOThreads": "2"}, ports=Ports(1, 2, 3, 4))


def test_settings_replace_lines_and_new_ones_are_appended() -> None:
    assert (
        overlaid(CONF, {"numIOThreads": "4", "added": "x=y"})
        == "# Pulsar\nnumIOThreads=4\nbindAddress=0.0.0.0\nwebServicePort=8080\nadded=x=y\n"
    )


def test_a_scenarios_settings_come_before_those_of_all(tmp_path: Path) -> None:
    settings = a_broker(tmp_path).effective_settings()
    assert settings["numIOThreads"] == "2"
    assert settings["backlogQuotaCheckIntervalInSeconds"] == "5"


def test_the_collector_must_have_been_made(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="collector build"):
        checked_collector(tmp_path / "dispatch-collector.jar")


def test_a_broker_without_a_collector_has_no_agent(tmp_path: Path) -> None:
    broker = a_broker(tmp_path)
    assert broker._environment()["PULSAR_EXTRA_OPTS"] == f"-javaagent:{tmp_path}/c.jar=dir={tmp_path}/events,roll_s=1,flush_ms=200"
    assert replace(broker, collector=None)._environment()["PULSAR_EXTRA_OPTS"] == ""


def test_the_cache_follows_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "dispatch-analytics" / "pulsar"


def test_statistics_that_move_by_themselves_are_left_out() -> None:
    stats = {"msgRateOut": 1.5, "backlogSize": 7, "subscriptions": [{"lastAckedTimestamp": 3, "msgBacklog": 2}]}
    assert _still(stats) == {"backlogSize": 7, "subscriptions": [{"msgBacklog": 2}]}


def test_evictions_of_broker_and_topics_are_told_apart() -> None:
    metrics = (
        'pulsar_broker_storage_backlog_quota_exceeded_evictions_total{cluster="c",quota_type="size"} 18\n'
        'pulsar_storage_backlog_quota_exceeded_evictions_total{topic="persistent://a/b/t",quota_type="time"} 9.0\n'
    )
    assert evictions(metrics) == {"(broker)|size": 18, "persistent://a/b/t|time": 9}


def test_a_log_is_gathered_in_its_order_and_without_other_brokers(tmp_path: Path) -> None:
    broker = a_broker(tmp_path)
    broker.events.mkdir()
    for name, epoch, seq in ((broker.name, 5, 10), (broker.name, 5, 9), (broker.name, 40, 1), ("127.0.0.1:9", 1, 1)):
        line = json.dumps({"broker": name, "epoch": epoch, "seq": seq}) + "\n"
        (broker.events / f"{name.replace(':', '_')}-{epoch}-{seq:012}.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    (broker.events / f"_unfinished-{broker.name}-5-11").touch()
    gather_log(broker, tmp_path / "whole.jsonl.gz")
    with gzip.open(tmp_path / "whole.jsonl.gz", "rt") as lines:
        assert [(event["epoch"], event["seq"]) for event in map(json.loads, lines)] == [(5, 9), (5, 10), (40, 1)]


def test_a_cause_holds_back_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    stage = Stage(a_broker(tmp_path), "real/x", None)  # type: ignore[arg-type]  # this test asks the broker for nothing
    with stage.held_back("nothing", "it follows", ("t", "a"), ("t", "b")):
        assert stage.causes == []
    assert [(cause.topic, cause.subscription, cause.cause) for cause in stage.causes] == [("t", "a", "nothing"), ("t", "b", "nothing")]
    assert stage.causes[0].from_us <= stage.causes[0].to_us
    with pytest.raises(ValueError, match="bad weather is no cause"), stage.held_back("bad weather", "", ("t", "a")):
        pass


def test_every_kind_of_trouble_has_a_scenario() -> None:
    """As the issue names them; each has words for people."""
    scenarios = all_scenarios()
    wanted = {
        *("subscription_messages", "subscription_bytes", "topic_messages", "topic_bytes", "broker_messages", "broker_bytes"),
        *("classic_limiter", "slow_consumer", "absent_consumer", "leaving_consumers", "stopped_consumer", "unacknowledged_cap"),
        *("delayed_messages", "size_quota", "age_quota_precise", "age_quota_by_ledger", "producers_cut_off", "unwritable_channel"),
        *("incident", "unload", "restart", "batches", "seeks", "negative_acks", "many_topics"),
        *("failing_compaction", "ended_transactions", "replicator_loses_its_cluster"),
    }
    assert wanted <= scenarios.keys()
    assert [name for name, scenario in scenarios.items() if len(scenario.what.split()) < 8] == []
