"""Limits of the right size: the search, and a real broker's topic whose limit is half of what is asked for."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.what_if_pairs.run import pair_of
from bench.what_if_real import side
from console.command_line import main
from driver.loading import load_log
from driver.session import ROOT
from pipeline.settings import load_settings
from pipeline.what_if.quotas_due import room_for_a_day
from pipeline.what_if.right_size import MOST_DOUBLINGS, PRECISION, largest, set_to, smallest
from sim.run import EVENTS, simulate

PROMISED = (Path(__file__).parents[2] / "docs/reference/json.md").read_text(encoding="utf-8").partition("## right-size")[2]
KEYS, OF_QUOTAS, OF_REST = (
    set(re.findall(rf"^\| `{name}\[\]\.([a-z_]+)` \|", PROMISED.partition("\n## ")[0], re.MULTILINE))
    for name in ("limits", "quotas", "without_answer")
)


@given(st.integers(1, 10**6), st.integers(1, 10**9))
def test_the_smallest_that_keeps_is_found_to_one_in_a_hundred(now: int, least: int) -> None:
    found = smallest(lambda limit: limit >= least, now)
    if least > now * 2 ** (MOST_DOUBLINGS - 1):
        assert found is None
    else:
        assert found is not None
        assert least <= found <= least + max(1, PRECISION * found)


def test_none_is_found_where_none_keeps() -> None:
    assert smallest(lambda _: False, 10) is None


@given(st.integers(1, 10**6), st.integers(1, 10**9))
def test_the_largest_that_keeps_is_found_to_one_in_a_hundred(now: int, most: int) -> None:
    found = largest(lambda limit: limit <= most, now)
    if most >= now * 2**MOST_DOUBLINGS:
        assert found is None
    else:
        assert found is not None
        assert most - max(1, PRECISION * most) <= found <= most


def test_no_largest_is_found_where_none_keeps() -> None:
    assert largest(lambda _: False, 10) is None


@given(st.integers(1, 10**6), st.one_of(st.none(), st.integers(1, 10**6)), st.one_of(st.none(), st.integers(1, 10**6)))
def test_no_command_sets_a_limit_below_the_need_or_above_the_budget(now: int, needed: int | None, most: int | None) -> None:
    found = set_to(now, needed, most)
    if found is not None:
        assert needed is not None
        assert found >= needed
        assert most is None or found <= most
        assert found != now
    if needed is not None and needed > now and (most is None or needed <= most):
        assert found == needed


@given(st.integers(0, 10**15), st.floats(-1e9, 1e9), st.integers(1, 10**12), st.sampled_from(["size", "time"]))
def test_a_quota_is_raised_to_the_room_of_a_day(used: int, per_s: float, limit: int, quota_type: str) -> None:
    found = room_for_a_day({"used": used, "rate_mean": per_s, "quota_limit": limit, "quota_type": quota_type})
    assert found > limit
    assert found * (1000 if quota_type == "time" else 1) >= used + max(0.0, per_s) * 86_400


def test_a_topic_of_a_real_broker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two subscriptions that get 100 messages/s each share 50/s: they need 200/s, a little less where 5 s may pass."""
    a = side("topic_rate_50_to_200", "a", tmp_path)
    warehouse = a.room.warehouse.root
    assert main(["right-size", "--keep-age", "5s", "--format", "json", "--warehouse", warehouse]) == 1
    (row,) = json.loads(capsys.readouterr().out)["limits"]
    assert set(row) == KEYS
    assert (row["level"], row["dimension"], row["limit"], row["verdict"]) == ("topic", "messages", 50, "too_low")
    assert 150 < row["needed"] < 210
    assert row["oldest_with_needed_s"] <= 5 < row["oldest_s"]
    assert row["set_to"] == row["needed"]
    assert row["effect"].startswith("the oldest entry would be ")
    assert (row["budget"], row["most"]) == (None, None)
    assert f"-md {row['needed']} -bd -1 -dt 1 {row['topic']}" in row["command"]
    words = ["right-size", "--keep-age", "5s", "--format", "json", "--warehouse", warehouse]
    assert main([*words, "--read-budget", str(round(row["reads_per_s"] / 2))]) == 1
    (held,) = json.loads(capsys.readouterr().out)["limits"]
    assert held["budget"] == "up_to"
    assert held["most"] == pytest.approx(25, rel=0.2)
    assert (held["set_to"], held["command"], held["effect"]) == (None, None, "the need is above the budget of reads")
    assert main([*words, "--read-budget", "1000000000"]) == 1
    assert json.loads(capsys.readouterr().out)["limits"][0]["budget"] == "always"
    assert main([*words, "--read-budget", "much"]) == 2
    assert "--read-budget=much: expected a whole number from 1 on" in capsys.readouterr().err
    assert main(["right-size", "--keep-age", "60s", "--warehouse", warehouse]) == 1
    assert "its record lasts 74 s, so it shows limits for ages up to 7 s." in capsys.readouterr().out
    assert main(["right-size", "--keep-age", "5s", "--namespace", "no/such", "--warehouse", warehouse]) == 2


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The bundled log of a real broker, whose limiter has no rate in the end."""
    warehouse = f"file:{tmp_path_factory.mktemp('right-size')}/warehouse"
    load_log(str(ROOT / "demo/y_incident/events.jsonl.gz"), warehouse, load_settings(None, [], {}), 1, lambda _: None)
    return warehouse


def test_limits_far_above_the_need_and_quotas_that_trip(demo: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["right-size", "--keep-age", "5s", "--warehouse", demo]
    assert main([*words, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    verdicts = {(one["topic"].rpartition("/")[2], one["subscription"]): one for one in document["limits"]}
    assert [one["verdict"] for one in document["limits"]] == ["too_low", "not_this_limit", "above_need"]
    above = verdicts["emails", "sender"]
    assert 2 * above["needed"] <= above["set_to"] < above["limit"]
    assert f"--subscription sender -md {above['set_to']} " in above["command"]
    assert verdicts["orders", None]["held_by"] == "broker.dispatch_rate.messages"
    assert {(one["topic"].rpartition("/")[2], one["quota"], one["loses_first"]) for one in document["quotas"]} == {
        ("audit", "size", "archive"),
        ("clicks", "age_s", "stats"),
    }
    assert all(set(one) == OF_QUOTAS for one in document["quotas"])
    assert all(set(one) == OF_REST for one in document["without_answer"])
    assert main([*words, "--sort", "age"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[0].rpartition("/")[2] for line in out[2:5]] == ["orders", "payments", "emails"]
    assert "Quotas that will trip within a day:" in out


def test_the_limiter_of_a_broker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A simulated broker whose limiter holds its topics."""
    pair = pair_of("broker rate, messages", 7)
    simulate(pair.before, 7, tmp_path / "before")
    warehouse = f"file:{tmp_path / 'warehouse'}"
    load_log(str(tmp_path / "before" / EVENTS), warehouse, load_settings(None, [], {}), 1, lambda _: None)
    main(["right-size", "--keep-age", "2s", "--format", "json", "--warehouse", warehouse])
    document = json.loads(capsys.readouterr().out)
    (row,) = [one for one in document["limits"] if one["level"] == "broker"]
    assert (row["topic"], row["subscription"], row["dimension"]) == (None, None, "messages")
    assert row["needed"] is None or (row["needed"] > row["limit"]) == (row["verdict"] == "too_low")
    if row["command"]:
        assert row["command"].endswith(f"brokers update-dynamic-config --config dispatchThrottlingRateInMsg --value {row['set_to']}")
    assert main(["right-size", "--keep-age", "2s", "--namespace", "no/such", "--warehouse", warehouse]) == 2
