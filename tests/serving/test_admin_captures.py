"""`/admin/v2` beside real brokers: every field that we answer is the broker's, value for value, and what we leave out has a reason."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from broker_scrapes import ALWAYS, EVERY_SCRAPE, LARGE, SHARED, Scrape, loaded_until_scraped

from pipeline.query.room import ReadingRoom
from pipeline.serving.admin import left_out
from pipeline.serving.admin.asked_rows import Tables
from pipeline.serving.admin.fields import SUBSCRIPTION_FIELDS, TOPIC_FIELDS
from pipeline.serving.admin.paths import path_of
from pipeline.serving.answers import KEPT_VIEWS

AGE, SIZE, EARLIEST = "oldestBacklogMessageAgeSeconds", "backlogSize", "earliestMsgPublishTimeInBacklog"
RANGES, NO_DELAYED, UNACKED = "nonContiguousDeletedMessagesRanges", "msgBacklogNoDelayed", "unackedMessages"
#: (capture, topic) → what was acknowledged after the newest check, of which alone bytes and times of entries are known.
ACKNOWLEDGED_SINCE: dict[tuple[str, str], dict[str, Any]] = {
    ("a_sub_msg_limit", "persistent://real/a/limited"): {
        SIZE: 28320, "exclusive": {SIZE: 28320}, "shared": {SIZE: 28320},
    },
    ("c_broker_limit", "persistent://real/c/one"): {
        SIZE: 271408, f"{EARLIEST}s": 1795259986930, "s2": {SIZE: 271408, EARLIEST: 1795259986930},
    },
}  # fmt: skip
#: Subscriptions whose cursors an eviction at the newest check moved: what the check has of them is of the moment before.
MOVED_AT_CHECK = {
    ("y_incident", "persistent://real/y/audit"): {"archive"},
    ("y_incident", "persistent://real/y/clicks"): {"stats"},
    ("i_age_quota_precise", "persistent://real/i/t"): {"idle", "slow"},
    ("t_restart", "persistent://real/t/x"): {"holes", "idle"},
}
_OF_CHECK = {SIZE, EARLIEST, RANGES, UNACKED}
#: By an eviction that went further than the rule.
_SIZE_NOT_KNOWN = {("y_incident", "persistent://real/y/clicks")}


@dataclass(frozen=True)
class Answered:
    """What a broker answered of each of its topics, and what we answer."""

    scrape: Scrape
    room: ReadingRoom
    theirs: dict[str, Any]
    ours: dict[str, Any]


def answer(room: ReadingRoom, path: str, **asked: str) -> Any:
    found, names = path_of(path)
    return json.loads(found.document(Tables(room, None), names, asked))


@pytest.fixture(scope="module", params=EVERY_SCRAPE)
def answered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answered]:
    """The capture's log until its figures were taken, loaded."""
    scrape: Scrape = request.param
    room = ReadingRoom(loaded_until_scraped(scrape, tmp_path_factory), kept=KEPT_VIEWS)
    ours = {topic: answer(room, f"{topic.replace('://', '/')}/stats") for topic in scrape.stats}
    return Answered(scrape, room, scrape.stats, ours)


def test_every_field_is_the_brokers_but_for_ages_and_for_what_moved_since_the_newest_check(answered: Answered) -> None:
    """Ages grow with the clock, and have a test of their own."""
    for topic, ours in answered.ours.items():
        theirs, since = answered.theirs[topic], ACKNOWLEDGED_SINCE.get((answered.scrape.name, topic), {})
        assert set(ours["subscriptions"]) == set(theirs["subscriptions"])
        assert unlike(ours, theirs, "subscriptions", AGE) == {key: value for key, value in since.items() if not isinstance(value, dict)}
        for name, subscription in ours["subscriptions"].items():
            assert unlike(subscription, theirs["subscriptions"][name]) == since.get(name, {})


def unlike(ours: dict[str, Any], theirs: dict[str, Any], *but: str) -> dict[str, Any]:
    """Fields of ours with other values than theirs; a number is another one than the same as a fraction."""
    return {
        name: value
        for name, value in ours.items()
        if name not in but and (theirs.get(name) != value or type(theirs.get(name)) is not type(value))
    }


def test_an_age_is_the_brokers_of_an_instant_before_its_answer(answered: Answered) -> None:
    """Ours is of the newest event, the broker's of the moment in which it was asked: between `as_of_us` and `as_of_end_us`."""
    manifest = answered.scrape.manifest
    newest_us = answered.room.newest_event_times(None)[0]
    assert newest_us is not None
    for topic, ours in answered.ours.items():
        theirs = answered.theirs[topic][AGE]
        assert (ours[AGE] == -1) == (theirs == -1)
        assert 0 <= theirs - ours[AGE] <= (manifest["as_of_end_us"] - newest_us) / 1e6 + 1


def test_what_is_left_out_has_its_reason(answered: Answered) -> None:
    for topic, theirs in answered.theirs.items():
        ours, key = answered.ours[topic], (answered.scrape.name, topic)
        assert {name for name in theirs.keys() - ours.keys() - left_out.OF_TOPICS.keys() if not why_no_field(name, ours, key)} == set()
        for name, subscription in theirs["subscriptions"].items():
            mine = ours["subscriptions"][name]
            lacking = subscription.keys() - mine.keys() - left_out.OF_SUBSCRIPTIONS.keys()
            assert {field for field in lacking if not why_no_value(field, subscription, name in MOVED_AT_CHECK.get(key, ()))} == set()


def why_no_field(field: str, ours: dict[str, Any], key: tuple[str, str]) -> bool:
    """Each is in left_out.VALUES."""
    if field == f"{EARLIEST}s":
        return any(EARLIEST not in subscription for subscription in ours["subscriptions"].values())
    return field == SIZE and key in _SIZE_NOT_KNOWN


def why_no_value(field: str, theirs: dict[str, Any], is_moved: bool) -> bool:
    """Each is in left_out.VALUES."""
    if field == NO_DELAYED:
        return theirs["type"] in ("Shared", "Key_Shared") and theirs["msgBacklog"] > 0
    if field in (RANGES, EARLIEST) and theirs[RANGES] > 0:
        return True
    return is_moved and field in _OF_CHECK


def test_lists_are_those_of_the_brokers_topics(answered: Answered) -> None:
    """The broker was asked about each topic of its namespace."""
    (namespace,) = {topic.split("/", 2)[2].rpartition("/")[0] for topic in answered.theirs}
    assert answer(answered.room, f"persistent/{namespace}") == sorted(answered.theirs)
    assert answer(answered.room, f"namespaces/{namespace}/topics") == sorted(answered.theirs)
    assert namespace in answer(answered.room, f"namespaces/{namespace.partition('/')[0]}")
    assert namespace.partition("/")[0] in answer(answered.room, "tenants")
    for topic, theirs in answered.theirs.items():
        assert answer(answered.room, f"{topic.replace('://', '/')}/subscriptions") == sorted(theirs["subscriptions"])


def test_quotas_that_rule_are_those_of_the_statistics(answered: Answered) -> None:
    for topic, theirs in answered.theirs.items():
        quotas = answer(answered.room, f"{topic.replace('://', '/')}/backlogQuotaMap", applied="true")
        assert quotas["destination_storage"]["limitSize"] == theirs["backlogQuotaLimitSize"]
        assert quotas["message_age"]["limitTime"] == theirs["backlogQuotaLimitTime"]


@pytest.mark.parametrize("scrape", [*ALWAYS, *SHARED, *LARGE], ids=lambda one: one.name)
def test_every_field_of_a_broker_is_answered_or_left_out_for_a_reason(scrape: Scrape) -> None:
    of_topics = {field for theirs in scrape.stats.values() for field in theirs}
    of_subscriptions = {field for theirs in scrape.stats.values() for one in theirs["subscriptions"].values() for field in one}
    answered_of_topics = {field.name for field in TOPIC_FIELDS} | {"publishers", "subscriptions", f"{EARLIEST}s"}
    answered_of_subscriptions = {field.name for field in SUBSCRIPTION_FIELDS}
    assert {field for field in of_topics if (field in answered_of_topics) == (field in left_out.OF_TOPICS)} == set()
    assert {field for field in of_subscriptions if (field in answered_of_subscriptions) == (field in left_out.OF_SUBSCRIPTIONS)} == set()


# The few captures in tests/ do not have all that is left out.
@pytest.mark.captures
@pytest.mark.skipif(not SHARED, reason="no captures beside the project")  # those in tests/ do not have all that is left out
def test_whatever_is_left_out_is_what_some_broker_answers() -> None:
    topics = [theirs for scrape in (*ALWAYS, *SHARED) for theirs in scrape.stats.values()]
    assert left_out.OF_TOPICS.keys() <= {field for topic in topics for field in topic}
    assert left_out.OF_SUBSCRIPTIONS.keys() <= {field for topic in topics for one in topic["subscriptions"].values() for field in one}
