"""`--set` of what-if: every key is read; a bad one is one line that names it."""

import pytest

from pipeline.faults import BadConfig
from pipeline.what_if.changes import KEYS, NO_LIMIT, Changes, changes_of

#: A value that each kind of key takes.
GOOD = {"relative": "true", "policy": "consumer_backlog_eviction", "limiter": "classic", "dispatch_rate": "none"}


def good_value(key: str) -> str:
    return GOOD.get(key.rpartition(".")[2], "7")


@pytest.mark.parametrize("key", KEYS)
def test_every_key_changes_something(key: str) -> None:
    assert changes_of([f"{key}={good_value(key)}"]).any


def test_several_together() -> None:
    changes = changes_of(["topic.dispatch_rate.messages=200", "topic.dispatch_rate.bytes=none", "quota.size=none", "consumers=3"])
    assert changes == Changes(
        rates={"topic": {"msg_rate": 200, "byte_rate": NO_LIMIT}}, quotas={"destination_storage": {"limit": NO_LIMIT}}, consumers=3
    )


def test_a_level_without_any_limit() -> None:
    assert changes_of(["broker.dispatch_rate=none"]).rates == {"broker": {"msg_rate": NO_LIMIT, "byte_rate": NO_LIMIT}}


def test_nothing_is_no_change() -> None:
    assert not changes_of([]).any


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("topic.dispatch_rate.messages", "expected KEY=VALUE"),
        ("topic.dispatch_rate.messages=", "expected KEY=VALUE"),
        ("topic.dispatch_rate.messages=fast", "topic.dispatch_rate.messages=fast: expected a whole number from 1 on"),
        ("topic.dispatch_rate.messages=0", "from 1 on"),
        ("topic.dispatch_rate.messages=-1", "from 1 on"),
        ("topic.dispatch_rate.period_s=none", "from 1 on"),
        ("topic.dispatch_rate=5", "expected none"),
        ("topic.dispatch_rate.relative=1", "topic.dispatch_rate.relative=1: expected true or false"),
        ("broker.dispatch_rate.relative=true", "broker.dispatch_rate.relative: no such key"),
        ("limiter=bucket", "expected token_bucket or classic"),
        ("quota.size.policy=evict", "consumer_backlog_eviction"),
        ("consumers=0", "from 1 on"),
        ("consumers.speed=0", "expected a factor from 0.001 to 1000"),
        ("publish_rate=nan", "expected a factor"),
        ("cluster.dispatch_rate.messages=5", "cluster.dispatch_rate.messages: no such key; there are broker.dispatch_rate"),
    ],
)
def test_a_bad_one_is_named(text: str, named: str) -> None:
    with pytest.raises(BadConfig, match=r"^--set ") as refused:
        changes_of([text])
    assert named in str(refused.value)


def test_a_key_that_comes_twice_is_refused() -> None:
    with pytest.raises(BadConfig, match="consumers: it is there twice"):
        changes_of(["consumers=2", "consumers=3"])
